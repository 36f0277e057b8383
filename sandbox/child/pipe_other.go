//go:build !unix

package child

import (
	"io"
	"os"
)

func newPipeReader(f *os.File) (io.Reader, error) { return f, nil }

func nonblocking(pipe *os.File) io.Reader { return pipe }
