//go:build amd64 || arm64

package harden

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// allowed are the system calls that the Go runtime and a pipe need; all others fail.
var allowed = []int{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK,
	unix.SYS_PPOLL, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP,
	unix.SYS_BRK, unix.SYS_MINCORE, unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP,
	unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_RT_SIGACTION,
	unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_GETTID,
	unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL, unix.SYS_GETRANDOM,
	unix.SYS_GETRUSAGE, unix.SYS_SCHED_GETAFFINITY, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_SET_ROBUST_LIST,
	unix.SYS_RSEQ, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_MEMBARRIER, unix.SYS_UNAME,
}

// restricted are those that are allowed with certain arguments only: others of them reach other processes of the same
// user, where no namespace hides these.
func restricted() [][]bpf.Instruction {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return [][]bpf.Instruction{
		oneOf(unix.SYS_PRLIMIT64, 0, 0), // its own limits
		oneOf(unix.SYS_TGKILL, 0, uint32(os.Getpid())),
		oneOf(unix.SYS_FCNTL, 1, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC),
		{ // threads only
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 5},
			argument(0),
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.CLONE_THREAD, SkipTrue: 1},
			bpf.RetConstant{Val: seccompAllow},
			refuse(unix.EPERM),
		},
	}
}

// argument loads the low half of an argument, which is all that counts of a number of a process or command.
func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: 16 + 8*n, Size: 4} }

func refuse(errno syscall.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: seccompErrno | uint32(errno)}
}

// oneOf allows a system call where its argument has one of these values.
func oneOf(nr uint32, n uint32, values ...uint32) []bpf.Instruction {
	program := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(2*len(values) + 2)},
		argument(n),
	}
	for _, v := range values {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, bpf.RetConstant{Val: seccompAllow})
	}
	return append(program, refuse(unix.EPERM))
}

// filterCalls installs the allow-list on all threads. clone3, whose arguments no filter sees, says that it does not
// exist, so that the C library falls back to clone.
func filterCalls() error {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // architecture
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: seccompKill},
		bpf.LoadAbsolute{Off: 0, Size: 4}, // system call
	}
	for _, nr := range append(allowed, archAllowed...) {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(nr), SkipFalse: 1}, bpf.RetConstant{Val: seccompAllow})
	}
	for _, part := range restricted() {
		program = append(program, part...)
	}
	program = append(program,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1}, refuse(unix.ENOSYS), refuse(unix.EPERM))
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	filters := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filters[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	const setModeFilter, flagTsync = 1, 1
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flagTsync, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno != 0:
		return fmt.Errorf("install the system call filter: %w", errno)
	case thread != 0:
		return fmt.Errorf("install the system call filter: thread %d does not take it", thread)
	}
	return nil
}

const (
	seccompAllow = 0x7fff0000
	seccompErrno = 0x00050000
	seccompKill  = 0x80000000
)
