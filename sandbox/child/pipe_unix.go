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

// pipeReader reads a pipe whose other end mostly answers within microseconds. Sleeping and being woken takes longer
// than such an answer, so after some quick answers it busy-polls for a while before it sleeps. Busy-polling takes a
// processor that others could use; Pool.quiet decides when it is allowed.
type pipeReader struct {
	file     *os.File
	conn     syscall.RawConn
	busyPoll atomic.Bool
	quick    int // how many of the latest answers were quick
}

const (
	// pollFor is how long a reader busy-polls before it sleeps.
	pollFor = 150 * time.Microsecond
	// pollAfter is how many quick answers it takes before a reader busy-polls; a slow one takes half of them back.
	pollAfter = 4
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
	for r.busyPoll.Load() && r.quick >= pollAfter && time.Since(began) < pollFor {
		if n, there, err := r.poll(b); there {
			return n, err
		}
		runtime.Gosched()
	}
	n, err = r.file.Read(b)
	if time.Since(began) < 4*pollFor { // sleeping and being woken takes a while by itself
		r.quick = min(r.quick+1, 2*pollAfter)
	} else {
		r.quick = max(r.quick-pollAfter/2, 0)
	}
	return n, err
}

func (r *pipeReader) setBusyPoll(on bool) { r.busyPoll.Store(on) }

// poll reads what is there, without waiting.
func (r *pipeReader) poll(b []byte) (n int, there bool, err error) {
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

// nonblocking makes a read wait in the Go scheduler, not in a system call that keeps the only processor for a while.
func nonblocking(pipe *os.File) io.Reader {
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
