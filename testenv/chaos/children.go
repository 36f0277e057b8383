package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// procInfo is a process as /proc tells of it. Elsewhere than on Linux there is none: children are then not killed, and
// memory is not measured.
type procInfo struct {
	pid, parent int
	args, env   string
}

func isSandboxChild(p procInfo) bool { return strings.HasPrefix(p.args, "codemode-sandbox-child") }

func isDepot(p procInfo) bool { return strings.Contains(p.env, roleVariable+"="+roleDepot) }

// descendants are the processes below one that are of a kind.
func descendants(root int, kind func(procInfo) bool) []procInfo {
	entries, err := os.ReadDir("/proc")
	if err != nil || root == 0 {
		return nil
	}
	all := map[int]procInfo{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := readProc(pid); ok {
				all[pid] = p
			}
		}
	}
	var found []procInfo
	for _, p := range all {
		if p.pid != root && below(all, p, root) && kind(p) {
			found = append(found, p)
		}
	}
	return found
}

func below(all map[int]procInfo, p procInfo, root int) bool {
	for range 10 {
		if p.parent == root {
			return true
		}
		var ok bool
		if p, ok = all[p.parent]; !ok {
			return false
		}
	}
	return false
}

func readProc(pid int) (procInfo, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procInfo{}, false
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return procInfo{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return procInfo{pid: pid, parent: parent, args: string(args), env: string(env)}, true
}

func killPID(pid int) int {
	p, err := os.FindProcess(pid)
	if err != nil || p.Kill() != nil {
		return 0
	}
	return 1
}

// memory is what a process holds, in bytes.
func memory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
