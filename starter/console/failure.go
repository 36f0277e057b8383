package console

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/temporal-codemode/codemode"
)

// failure is an error with the status that a browser or a program is answered with.
type failure struct {
	status  int
	message string
}

func (f *failure) Error() string { return f.message }

func failed(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error { return failed(http.StatusNotFound, format, args...) }
func badRequest(format string, args ...any) error {
	return failed(http.StatusBadRequest, format, args...)
}
func forbidden(format string, args ...any) error {
	return failed(http.StatusForbidden, format, args...)
}

// sentence writes an error's text as pages do.
func sentence(text string) string {
	text = strings.TrimSuffix(text, ": "+codemode.ErrNotFound.Error())
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// statusOf is the status for an error, and the text that strangers may read.
func statusOf(err error) (int, string) {
	var f *failure
	var noWorker *codemode.NoWorkerError
	var noServer *codemode.NoServerError
	switch {
	case errors.As(err, &f):
		return f.status, f.message
	case errors.As(err, &noWorker):
		return http.StatusServiceUnavailable, noWorker.Error()
	case errors.As(err, &noServer):
		return http.StatusServiceUnavailable, "Temporal does not answer."
	case errors.Is(err, codemode.ErrNotFound):
		return http.StatusNotFound, sentence(err.Error())
	}
	return http.StatusBadGateway, "Temporal or a worker failed to answer: " + err.Error()
}
