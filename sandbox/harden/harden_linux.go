//go:build amd64 || arm64

package harden

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// OwnBinary is what this process runs, even when another has taken its place in the file system.
func OwnBinary() (string, error) { return "/proc/self/exe", nil }

// Start starts a child that dies with its worker, with namespaces of its own where asked.
func Start(cmd *exec.Cmd, namespaces bool) error {
	setAttributes(cmd, namespaces)
	done := make(chan error)
	starts() <- func() { done <- cmd.Start() }
	return <-done
}

func setAttributes(cmd *exec.Cmd, namespaces bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if !namespaces {
		return
	}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID |
		unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
}

// starts is served by one goroutine that never leaves its thread: the kernel ties the death signal to the thread that
// forked, not to the process. The first start makes it, so that a program that starts none has no thread less.
var starts = sync.OnceValue(func() chan<- func() {
	functions := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range functions {
			f()
		}
	}()
	return functions
})

// Apply puts the layers on, in the order that works: mounts before landlock, which forbids them, and seccomp last,
// which forbids the rest.
func Apply(memory int64, namespaces bool) []Layer {
	layers := []Layer{
		layer("namespaces", namespaces, "refused by the host", func() (string, error) {
			return "user, net, pid, mount, ipc, uts", emptyRoot()
		}),
		layer("rlimits", true, "", func() (string, error) { return "", setLimits(memory) }),
		layer("no_new_privs", true, "", func() (string, error) {
			return "", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		}),
		layer("landlock", true, "", restrictFiles),
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return append(layers, layer("seccomp", true, "", func() (string, error) { return "", filterCalls() }))
}

func layer(name string, try bool, otherwise string, apply func() (string, error)) Layer {
	if !try {
		return Layer{Name: name, Detail: otherwise}
	}
	detail, err := apply()
	if err != nil {
		return Layer{Name: name, Detail: err.Error()}
	}
	return Layer{Name: name, Active: true, Detail: detail}
}

// emptyRoot makes an empty, read-only file system the child's root.
func emptyRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	const dir = "/tmp"
	const harmless = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("none", dir, "tmpfs", harmless, "size=16k,mode=0555"); err != nil {
		return fmt.Errorf("mount an empty root: %w", err)
	}
	if err := unix.Chdir(dir); err != nil {
		return err
	}
	// landlock's library lists the child's own threads; landlock then leaves nothing else of /proc readable.
	if unix.Mkdir("proc", 0o555) == nil {
		_ = unix.Mount("proc", "proc", "proc", harmless, "")
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot to the empty root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	return unix.Mount("none", "/", "", unix.MS_REMOUNT|unix.MS_RDONLY|harmless, "size=16k,mode=0555")
}

// setLimits bounds the process itself; the watchdog is finer. Address space counts from what the Go runtime has
// reserved by now, which is much more than it uses.
func setLimits(memory int64) error {
	size, err := virtualSize()
	if err != nil {
		size = 2 << 30
	}
	budget := uint64(memory)*3/2 + 192<<20
	limits := []struct {
		what  int
		value uint64
	}{
		{unix.RLIMIT_AS, size + budget}, {unix.RLIMIT_DATA, 128<<20 + budget}, {unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, 16}, {unix.RLIMIT_MEMLOCK, 0}, {unix.RLIMIT_MSGQUEUE, 0},
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("setrlimit %d: %w", l.what, err)
		}
	}
	return nil
}

func virtualSize() (uint64, error) {
	var pages uint64
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(text), &pages)
	return pages * uint64(os.Getpagesize()), err
}

// ResidentBytes is what a process holds in memory; 0 if that cannot be told.
func ResidentBytes(pid int) int64 {
	var size, resident int64
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// restrictFiles takes away every path, TCP and, where the kernel knows them, signals and abstract sockets.
func restrictFiles() (string, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
	if errno != 0 {
		return "", fmt.Errorf("not in this kernel: %w", errno)
	}
	return fmt.Sprintf("ABI %d", abi), landlock.V6.BestEffort().Restrict()
}

// allowed are the system calls that the Go runtime and a pipe need; all others fail.
var allowed = []int{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK,
	unix.SYS_PPOLL, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP,
	unix.SYS_BRK, unix.SYS_MINCORE, unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP,
	unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_RT_SIGACTION,
	unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_TGKILL, unix.SYS_GETTID,
	unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL, unix.SYS_GETRANDOM,
	unix.SYS_GETRUSAGE, unix.SYS_SCHED_GETAFFINITY, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_FCNTL, unix.SYS_PIPE2, unix.SYS_SET_ROBUST_LIST,
	unix.SYS_RSEQ, unix.SYS_PRLIMIT64, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_MEMBARRIER, unix.SYS_UNAME,
}

// filterCalls installs the allow-list on all threads. clone may make threads only; clone3 says that it does not exist,
// so that the C library falls back to clone.
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
	program = append(program,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: seccompErrno | uint32(unix.ENOSYS)},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 3},
		bpf.LoadAbsolute{Off: 16, Size: 4}, // flags, low half
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_THREAD, SkipFalse: 1}, bpf.RetConstant{Val: seccompAllow},
		bpf.RetConstant{Val: seccompErrno | uint32(unix.EPERM)},
	)
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
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flagTsync, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("install the system call filter: %w", errno)
	}
	return nil
}

const (
	seccompAllow = 0x7fff0000
	seccompErrno = 0x00050000
	seccompKill  = 0x80000000
)

func ProcessCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TryToEscape tries what a program that has taken over its child would try.
func TryToEscape() Probe {
	var p Probe
	if b, err := os.ReadFile("/etc/passwd"); err == nil {
		p.File = fmt.Sprintf("read %d bytes of /etc/passwd", len(b))
	}
	if list, err := os.ReadDir("/"); err == nil && len(list) > 0 {
		p.Directory = fmt.Sprintf("%d entries in /", len(list))
	}
	if f, err := os.OpenFile("/tmp/codemode-probe", os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
		p.Write = "wrote into /tmp"
	}
	c, err := net.DialTimeout("tcp", "127.0.0.1:1", time.Second)
	if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
		p.Connect = fmt.Sprint("reached the network: ", c, err)
	}
	if err := syscall.Kill(os.Getppid(), 0); err == nil && os.Getppid() > 0 {
		p.Signal = "could signal its parent"
	}
	if cmd := exec.Command("/bin/true"); cmd.Run() == nil {
		p.Spawn = "ran a program"
	}
	p.Environment = strings.Join(os.Environ(), " ")
	if list, err := os.ReadDir("/proc"); err == nil && len(list) > 0 {
		p.Processes = fmt.Sprintf("%d entries in /proc", len(list))
	}
	return p
}
