package child

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// seats are the places for passes, one for each child. Who waits for one is served in this order: passes that can go
// on, then those that have not begun, each by age. While somebody waits, passes whose programs can only wait are asked
// to leave, the longest waiting first. While nobody does, they stay where they stand.
type seats struct {
	mu      sync.Mutex
	free    int
	used    int
	goOn    []*applicant
	begin   []*applicant
	stints  map[*stint]struct{}
	looking bool // a goroutine looks for passes to ask
}

// applicant is a pass that waits for a seat.
type applicant struct {
	seated chan struct{} // closed when it has one
	since  time.Time
	stands *process // the child that keeps the pass's runtime
}

const (
	// idleFor is how long a child has to be idle while calls are made, before its pass is asked to leave: to go on
	// elsewhere takes about as long. silentFor is the same where no call tells that the program waits.
	idleFor   = 3 * time.Millisecond
	silentFor = 20 * time.Millisecond
	// replayCost is what each entry adds to that.
	replayCost = 20 * time.Microsecond
	// overtaking is by how much a pass may overtake one that came before it.
	overtaking = 300 * time.Millisecond
	// lookEvery is how often passes to ask are looked for.
	lookEvery = 2 * time.Millisecond
)

// apply takes a free seat, or else returns an applicant that waits for one.
func (x *seats) apply(s *session) *applicant {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.free > 0 {
		x.free--
		x.used++
		return nil
	}
	a := &applicant{seated: make(chan struct{}), since: time.Now(), stands: s.away.stands}
	if s.away.state != nil {
		x.goOn = append(x.goOn, a)
	} else {
		x.begin = append(x.begin, a)
	}
	if x.ask(); !x.looking {
		x.looking = true
		go x.look()
	}
	return a
}

// withdraw ends an application, and gives back a seat that it was given meanwhile.
func (x *seats) withdraw(a *applicant) {
	x.mu.Lock()
	defer x.mu.Unlock()
	is := func(other *applicant) bool { return other == a }
	if at := slices.IndexFunc(x.goOn, is); at >= 0 {
		x.goOn = slices.Delete(x.goOn, at, at+1)
	} else if at := slices.IndexFunc(x.begin, is); at >= 0 {
		x.begin = slices.Delete(x.begin, at, at+1)
	} else {
		x.pass(nil)
	}
}

// leave gives a seat back, and tells which child is idle now.
func (x *seats) leave(p *process) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pass(p)
}

// pass hands a seat to the next that waits: first to one whose runtime stands in the child that is idle now, unless
// another has waited for much longer.
func (x *seats) pass(p *process) {
	switch {
	case len(x.goOn) > 0:
		at := slices.IndexFunc(x.goOn, func(a *applicant) bool { return p != nil && a.stands == p })
		if at < 0 || x.goOn[at].since.Sub(x.goOn[0].since) > overtaking {
			at = 0
		}
		close(x.goOn[at].seated)
		x.goOn = slices.Delete(x.goOn, at, at+1)
	case len(x.begin) > 0:
		close(x.begin[0].seated)
		x.begin = x.begin[1:]
	default:
		x.used--
		x.free++
	}
}

// taken is how many seats are in use.
func (x *seats) taken() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.used
}

// enter and exit tell which passes are in children.
func (x *seats) enter(st *stint) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stints == nil {
		x.stints = map[*stint]struct{}{}
	}
	x.stints[st] = struct{}{}
}

func (x *seats) exit(st *stint) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.stints, st)
}

// look asks passes to leave for as long as somebody waits for a seat.
func (x *seats) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for range ticker.C {
		x.mu.Lock()
		if x.looking = len(x.goOn)+len(x.begin) > 0; !x.looking {
			x.mu.Unlock()
			return
		}
		x.ask()
		x.mu.Unlock()
	}
}

// ask asks as many passes to leave as wait for seats, those first that have waited longest.
func (x *seats) ask() {
	var idle []*stint
	now := time.Now()
	for st := range x.stints {
		if !st.asked.Load() && st.idle(now) {
			idle = append(idle, st)
		}
	}
	slices.SortFunc(idle, func(a, b *stint) int { return cmp.Compare(a.active.Load(), b.active.Load()) })
	for _, st := range idle[:min(len(idle), len(x.goOn)+len(x.begin))] {
		st.asked.Store(true)
		go st.askToLeave() // the pipe of a child that does not read may be full
	}
}

// idle reports whether the program seems to wait, and has for longer than it costs to go on elsewhere.
func (s *stint) idle(now time.Time) bool {
	least := silentFor
	if s.making.Load() > 0 {
		least = idleFor
	}
	least += time.Duration(s.replays) * replayCost
	return now.Sub(time.Unix(0, s.active.Load())) > least
}

// askToLeave tells the child that others want it; one whose pass has ended meanwhile is not told.
func (s *stint) askToLeave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == s {
		_ = s.p.link.send(frameLeave, struct{}{})
	}
}
