package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// progress is what heartbeats carry.
type progress struct {
	// Starts counts the attempts that began to run the program.
	Starts int `json:"starts"`
	// Waiting says what the attempt waits for.
	Waiting string `json:"waiting,omitempty"`
	// Call is what the connector last told of the call it makes.
	Call *connectors.Progress `json:"call,omitempty"`
	// Reads are those that the pass is making, and Issued how many calls its program has issued.
	Reads  []signals.RunningCall `json:"reads,omitempty"`
	Issued int                   `json:"issued,omitempty"`
}

// Heartbeats come often enough that one may be late, and that a cancelled call learns of it soon. Each costs the server
// about a tenth of an activity: where very many wait they come less often, still within half the timeout.
const (
	beatEvery   = 3 * time.Second
	crowdedBeat = 4500 * time.Millisecond
	crowd       = 200
)

// beating is how many activities of this process show that they live.
var beating atomic.Int64

// pulse shows that the worker lives until it is stopped.
type pulse struct {
	ctx    context.Context
	starts atomic.Int64
	idle   atomic.Bool // it waits for a free sandbox
	call   atomic.Pointer[connectors.Progress]
	reads  atomic.Pointer[reads] // of the pass, if it is one
	done   chan struct{}
}

func beat(ctx context.Context) *pulse {
	// A write that runs goes on when the execution no longer wants it, and so do its heartbeats.
	p := &pulse{ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
	beating.Add(1)
	var before progress
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &before) == nil {
		p.starts.Store(int64(before.Starts))
	}
	go p.run()
	return p
}

func (p *pulse) run() {
	defer beating.Add(-1)
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			p.record()
			timer.Reset(nextBeat(beating.Load()))
		case <-p.done:
			return
		}
	}
}

// nextBeat is when to beat again where so many do.
func nextBeat(beating int64) time.Duration {
	if beating > crowd {
		return crowdedBeat
	}
	return beatEvery
}

func (p *pulse) record() {
	details := progress{Starts: int(p.starts.Load()), Call: p.call.Load()}
	if p.idle.Load() {
		details.Waiting = "for a free sandbox"
	}
	if r := p.reads.Load(); r != nil {
		details.Reads, details.Issued = r.list()
	}
	activity.RecordHeartbeat(p.ctx, details)
}

// waiting is told by the next beat.
func (p *pulse) waiting(w bool) { p.idle.Store(w) }

// told takes what a connector says of the call it makes; the SDK keeps heartbeats from becoming too many.
func (p *pulse) told(c connectors.Progress) {
	p.call.Store(&c)
	p.record()
}

func (p *pulse) stop() { close(p.done) }

// ended takes back the count of an attempt that failed in an orderly way: it may be repeated for as long as it takes.
func (p *pulse) ended() {
	p.starts.Add(-1)
	p.record()
}

// start counts this attempt and returns how many began to run. It is recorded at once, since the attempt may end its
// worker before the first beat; the first one does not wait for that.
func (p *pulse) start() int {
	n := int(p.starts.Add(1))
	if activity.GetInfo(p.ctx).Attempt > 1 {
		p.record()
	} else {
		go p.record()
	}
	return n
}
