//go:build amd64 || arm64

package harden

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// OwnBinary is what this process runs, even when another has taken its place in the file system.
func OwnBinary() (string, error) { return "/proc/self/exe", nil }

// Start starts a child that dies with its worker, with namespaces of its own where asked.
func Start(cmd *exec.Cmd, namespaces bool) error {
	setAttributes(cmd, namespaces)
	done := make(chan error)
	starts() <- func() { done <- cmd.Start() }
	if err := <-done; err != nil || !namespaces {
		return err
	}
	if err := mapIDs(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	return nil
}

func setAttributes(cmd *exec.Cmd, namespaces bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if !namespaces {
		return
	}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID |
		unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	// Until its user has a name there, the child would lose these when it starts to run its program.
	cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
}

// mapIDs gives a child's user a name in its namespace. The standard library would do so between fork and exec, when the
// child still is a copy of this process, whose files in /proc nobody may open if it is Private.
func mapIDs(pid int) error {
	for _, file := range [][2]string{
		{"setgroups", "deny"},
		{"gid_map", fmt.Sprintf("0 %d 1", os.Getgid())},
		{"uid_map", fmt.Sprintf("0 %d 1", os.Getuid())},
	} {
		path := fmt.Sprintf("/proc/%d/%s", pid, file[0])
		if err := os.WriteFile(path, []byte(file[1]), 0); err != nil {
			return fmt.Errorf("map the child's user: %w", err)
		}
	}
	return nil
}

const mappedWithin = 5 * time.Second

// awaitIDs waits in a child until mapIDs is done, which it is a moment after the child has begun.
func awaitIDs() error {
	for began := time.Now(); ; time.Sleep(50 * time.Microsecond) {
		switch text, err := os.ReadFile("/proc/self/uid_map"); {
		case err != nil:
			return err
		case len(text) > 0:
			return nil
		case time.Since(began) > mappedWithin:
			return errors.New("the child's user has no name in its namespace")
		}
	}
}

// Private keeps the memory and environment of this process from other processes of its user, such as the servers that
// it starts, and descriptors that it was started with from those servers.
func Private() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		eachInherited(unix.CloseOnExec)
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// eachInherited visits the descriptors that the process was started with, beside the standard ones. Those that Go opens
// are closed on exec.
func eachInherited(visit func(fd int)) {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range list {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			visit(fd)
		}
	}
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
	parent = os.Getppid()
	eachInherited(func(fd int) { _ = unix.Close(fd) })
	layers := []Layer{
		layer("namespaces", namespaces, "refused by the host", func() (string, error) {
			return "user, net, pid, mount, ipc, uts", emptyRoot()
		}),
		layer("rlimits", true, "", func() (string, error) { return "", setLimits(memory) }),
		layer("no_new_privs", true, "", func() (string, error) {
			return "", errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), dropCapabilities())
		}),
		layer("landlock", true, "", restrictFiles),
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return append(layers, layer("seccomp", true, "", func() (string, error) { return "", filterCalls() }))
}

// dropCapabilities takes those away from all threads that come with being root, of the host or of a namespace.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return fmt.Errorf("drop capabilities: %w", errno)
	}
	return nil
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
	if err := awaitIDs(); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	dir := "/tmp"
	if _, err := os.Stat(dir); err != nil { // as in images that hold nothing but a program
		dir = "/sys"
	}
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

// CPUTime is what a process has used of the processor; 0 if that cannot be told.
func CPUTime(pid int) time.Duration {
	const schedulerClock = 2 // of the clocks that each process has
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|schedulerClock), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// restrictFiles takes away every path, TCP and, where the kernel knows them, signals and abstract sockets.
func restrictFiles() (string, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
	if errno != 0 {
		return "", fmt.Errorf("not in this kernel: %w", errno)
	}
	return fmt.Sprintf("ABI %d", abi), landlock.V6.BestEffort().Restrict()
}

func ProcessCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
