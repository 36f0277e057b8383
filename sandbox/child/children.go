package child

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// defaultChildren is twice the processors, since programs mostly wait, and at least 4; but no more than half of the
// machine's memory has room for, were each to use its whole budget.
func defaultChildren(budget int64) int {
	children := max(4, 2*runtime.NumCPU())
	if total := machineMemory(); total > 0 {
		children = min(children, max(2, int(total/2/budget)))
	}
	return children
}

// machineMemory is what this process and its children may use together, by its control group or the machine; 0 where
// that is not known.
func machineMemory() int64 {
	total := int64(0)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		total = memTotal(string(text))
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, _ := os.ReadFile(path)
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && limit > 0 && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
}

// memTotal reads the first line of /proc/meminfo, as in "MemTotal:       16384 kB".
func memTotal(meminfo string) int64 {
	fields := strings.Fields(meminfo)
	if len(fields) < 3 || fields[0] != "MemTotal:" || fields[2] != "kB" {
		return 0
	}
	kb, _ := strconv.ParseInt(fields[1], 10, 64)
	return kb << 10
}
