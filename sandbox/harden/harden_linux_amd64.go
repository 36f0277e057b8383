package harden

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var archAllowed = []int{unix.SYS_ARCH_PRCTL, unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_TIME}
