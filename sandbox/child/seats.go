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
	goesOn bool
}

const (
	// idleFor is how long a child has to be idle while calls are made, before its pass is asked to leave: to go on
	// elsewhere takes about as long. silentFor is the same where no call tells that the program waits.
	idleFor   = 3 * time.Millisecond
	silentFor = 20 * time.Millisecond
	// replayCost is what each entry adds to that.
	replayCost = 20 * time.Microsecond
	// lookEvery is how often passes to ask are looked for.
	lookEvery = 2 * time.Millisecond
)

// apply takes a free seat, or else returns an applicant that waits for one.
func (x *seats) apply(goesOn bool) *applicant {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.free > 0 {
		x.free--
		x.used++
		return nil
	}
	a := &applicant{seated: make(chan struct{}), goesOn: goesOn}
	if goesOn {
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
		x.pass()
	}
}

// leave gives a seat back.
func (x *seats) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pass()
}

// pass hands a seat to the next that waits.
func (x *seats) pass() {
	for _, queue := range []*[]*applicant{&x.goOn, &x.begin} {
		if len(*queue) > 0 {
			close((*queue)[0].seated)
			*queue = (*queue)[1:]
			return
		}
	}
	x.used--
	x.free++
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
