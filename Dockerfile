# The stock worker: a static binary, a user without rights, nothing else. It needs no writable file system.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN GOWORK=off go mod download
COPY . .
RUN GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /worker ./worker
RUN mkdir /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /worker /worker
# Sandbox children mount their empty root here, in a namespace of their own, where the host allows that.
COPY --from=build /empty /tmp
USER 65534:65534
ENTRYPOINT ["/worker"]
