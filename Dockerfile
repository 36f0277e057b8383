# The stock worker, and the command line with the approval inbox and the MCP server (/codemode): static binaries, a user
# without rights, nothing else. It needs no writable file system.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN GOWORK=off go mod download
COPY . .
RUN GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /worker ./worker && \
    GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /codemode ./starter
RUN mkdir /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /worker /codemode /
# Sandbox children mount their empty root here, in a namespace of their own, where the host allows that.
COPY --from=build /empty /tmp
USER 65534:65534
ENTRYPOINT ["/worker"]
