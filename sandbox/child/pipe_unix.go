//go:build unix

package child

import (
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// pipeReader reads the end of a pipe whose other end mostly answers within microseconds. To sleep that long and be
// woken takes longer than the answer, so where answers came soon it may look for a while before it sleeps. That takes a
// processor which others could use: see quiet.
type pipeReader struct {
	file *os.File
	conn syscall.RawConn
	may  atomic.Bool // look
	soon int         // answers that came soon lately
}

const (
	// lookFor is how long a reader looks before it sleeps.
	lookFor = 150 * time.Microsecond
	// lookAfter is how many answers must have come soon; one that did not weighs as much as half of them.
	lookAfter = 4
)

func newPipeReader(f *os.File) (io.Reader, error) {
	conn, err := f.SyscallConn()
	if err != nil || runtime.NumCPU() == 1 {
		return f, err
	}
	return &pipeReader{file: f, conn: conn}, nil
}

func (r *pipeReader) Read(b []byte) (n int, err error) {
	began := time.Now()
	for r.may.Load() && r.soon >= lookAfter && time.Since(began) < lookFor {
		if n, there, err := r.look(b); there {
			return n, err
		}
		runtime.Gosched()
	}
	n, err = r.file.Read(b)
	if time.Since(began) < 4*lookFor { // a sleep and its end take a while by themselves
		r.soon = min(r.soon+1, 2*lookAfter)
	} else {
		r.soon = max(r.soon-lookAfter/2, 0)
	}
	return n, err
}

func (r *pipeReader) mayLook(may bool) { r.may.Store(may) }

// look reads what is there, without waiting.
func (r *pipeReader) look(b []byte) (n int, there bool, err error) {
	failed := r.conn.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return true
	})
	switch {
	case failed != nil:
		return 0, true, failed
	case err == syscall.EAGAIN || err == syscall.EINTR:
		return 0, false, nil
	case n == 0 && err == nil:
		return 0, true, io.EOF
	}
	return max(n, 0), true, err
}

// polled makes reading a pipe wait in the Go scheduler, not in a system call that keeps the only processor for a while.
func polled(pipe *os.File) io.Reader {
	fd := pipe.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return pipe
	}
	r, err := newPipeReader(os.NewFile(fd, pipe.Name()))
	if err != nil {
		return pipe
	}
	return r
}
