package child

import (
	"slices"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// The limits of a pass end with it. A child that was taken over could answer as any other, and use the processor
// between its passes; so idle children are looked at now and then.
const (
	lookAtIdleEvery = 10 * time.Second
	// idleCPU is what a child may use before it counts, to prepare its next pass and to collect garbage; beyond that
	// it may use one part in idleShare of its time.
	idleCPU   = time.Second
	idleShare = 10
)

// rest notes when a child became idle.
type rest struct {
	since time.Time
	cpu   time.Duration
}

func (p *process) rests() { p.rest = rest{time.Now(), harden.CPUTime(p.pid())} }

// restless reports whether an idle child does what nobody asked it for.
func (p *process) restless() bool {
	used := harden.CPUTime(p.pid()) - p.rest.cpu
	return used > idleCPU+time.Since(p.rest.since)/idleShare
}

func (p *process) pid() int {
	if p.cmd == nil || p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// watchIdle ends restless children, until the pool is closed.
func (x *Pool) watchIdle() {
	if x.endRestless() {
		time.AfterFunc(lookAtIdleEvery, x.watchIdle)
	}
}

// endRestless returns false when the pool is closed.
func (x *Pool) endRestless() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.idle = slices.DeleteFunc(x.idle, func(p *process) bool {
		if !p.restless() {
			return false
		}
		p.kill()
		return true
	})
	return !x.closed
}
