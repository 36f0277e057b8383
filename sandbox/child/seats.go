package child

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// seats are the places for passes, one for each child. Who waits for one is served in this order: passes that can go
// on, then those that have not begun, each by age; but nobody is overtaken by one that came much later. While somebody
// waits, passes whose programs can only wait are asked to leave, the longest waiting first. While nobody does, they
// stay where they stand.
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
	// slowCall is what a call takes of which the next one is worth leaving for, as soon as it is made.
	slowCall = 5 * time.Millisecond
	// idleFor is how long a child has to be idle while calls are made, before its pass is asked to leave: to go on
	// elsewhere takes about as long. silentFor is the same where no call tells that the program waits.
	idleFor   = 3 * time.Millisecond
	silentFor = 20 * time.Millisecond
	// replayCost is what each entry adds to that.
	replayCost = 20 * time.Microsecond
	// patient is how long a pass waits for the one that is in the child in which its runtime stands, before it replays
	// in another.
	patient = 30 * time.Millisecond
	// overtaking is by how much a pass may overtake one that came before it.
	overtaking = 300 * time.Millisecond
	// lookEvery is how often passes to ask are looked for.
	lookEvery = 2 * time.Millisecond
)

// apply takes a free seat, or else returns an applicant that waits for one.
func (x *seats) apply(s *session) *applicant {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &applicant{seated: make(chan struct{}), since: time.Now(), stands: s.away.stands}
	if x.free > 0 && x.suits(a, nil) {
		x.free--
		x.used++
		return nil
	}
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

// pass hands a seat to the next that waits.
func (x *seats) pass(p *process) {
	if !x.hand(p) {
		x.used--
		x.free++
	}
}

// hand gives a seat to the next that waits, if one may have it: first to one whose runtime stands in the child that is
// idle now, unless another has waited for much longer.
func (x *seats) hand(p *process) bool {
	at := slices.IndexFunc(x.goOn, func(a *applicant) bool { return x.suits(a, p) })
	own := slices.IndexFunc(x.goOn, func(a *applicant) bool { return p != nil && a.stands == p })
	if own >= 0 && x.goOn[own].since.Sub(x.goOn[at].since) < overtaking {
		at = own
	}
	switch {
	case at >= 0 && (len(x.begin) == 0 || x.goOn[at].since.Sub(x.begin[0].since) < overtaking):
		close(x.goOn[at].seated)
		x.goOn = slices.Delete(x.goOn, at, at+1)
	case len(x.begin) > 0:
		close(x.begin[0].seated)
		x.begin = x.begin[1:]
	default:
		return false
	}
	return true
}

// suits reports whether a pass takes any seat: it does unless its runtime stands in a child that will soon be idle.
func (x *seats) suits(a *applicant, idle *process) bool {
	if a.stands == nil || a.stands == idle {
		return true
	}
	for st := range x.stints {
		if st.p == a.stands {
			return time.Since(st.entered) > patient && time.Since(a.since) > patient
		}
	}
	return true
}

// Usage tells how busy a pool is. That passes wait all the time calls for more processors, or workers.
type Usage struct {
	// Children is how many there may be, Busy how many run a pass, Awaited how many passes wait for one.
	Children, Busy, Awaited int
}

// Usage tells how busy the pool is now.
func (x *Pool) Usage() Usage {
	x.seats.mu.Lock()
	defer x.seats.mu.Unlock()
	return Usage{Children: x.options.Children, Busy: x.seats.used, Awaited: len(x.seats.begin) + len(x.seats.goOn)}
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
	st.asked.Store(st.slow.Load() && len(x.goOn)+len(x.begin) > x.free)
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
		for x.free > 0 && x.hand(nil) {
			x.free--
			x.used++
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
	wanted := len(x.goOn) + len(x.begin) - x.free
	for i, st := range idle {
		own := slices.ContainsFunc(x.goOn, func(a *applicant) bool { return a.stands == st.p })
		if i < wanted || own {
			st.asked.Store(true)
			go st.askToLeave() // the pipe of a child that does not read may be full
		}
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
