package console

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// inbox is the newest known state of all runtimes, and who wants to hear of changes.
type inbox struct {
	mu          sync.Mutex
	runtimes    map[string]*runtimeInbox
	version     int64
	subscribers map[chan struct{}]bool
}

type runtimeInbox struct {
	items []codemode.InboxItem
	known bool   // it was refreshed at least once
	err   string // why it may be out of date
	hash  uint64
	nudge chan struct{}
}

func newInbox() *inbox {
	return &inbox{runtimes: map[string]*runtimeInbox{}, subscribers: map[chan struct{}]bool{}}
}

func (i *inbox) of(runtime string) *runtimeInbox {
	if i.runtimes[runtime] == nil {
		i.runtimes[runtime] = &runtimeInbox{nudge: make(chan struct{}, 1)}
	}
	return i.runtimes[runtime]
}

// nudges is where requests to refresh a runtime at once arrive.
func (i *inbox) nudges(runtime string) <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.of(runtime).nudge
}

func (i *inbox) nudge(runtime string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case i.of(runtime).nudge <- struct{}{}:
	default: // one is waiting already
	}
}

// set takes a refreshed list and reports whether anything is new, the error included.
func (i *inbox) set(runtime string, items []codemode.InboxItem, err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	r, text, hash := i.of(runtime), "", hashOf(items)
	if err != nil {
		text = err.Error()
	}
	if r.known && r.err == text && r.hash == hash {
		return false
	}
	r.items, r.err, r.hash, r.known = items, text, hash, true
	i.version++
	for s := range i.subscribers {
		select {
		case s <- struct{}{}:
		default: // it will look anyway
		}
	}
	return true
}

// hashOf changes with what people see.
func hashOf(items []codemode.InboxItem) uint64 {
	h := fnv.New64a()
	for _, i := range items {
		fmt.Fprintf(h, "%s %s %s %v\n", keyOf(i), i.Refused, i.Reason, i.ApprovedBy)
	}
	return h.Sum64()
}

// subscribe tells of changes until the function it returns is called. Changes that come fast arrive as one.
func (i *inbox) subscribe() (<-chan struct{}, func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := make(chan struct{}, 1)
	i.subscribers[s] = true
	return s, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.subscribers, s)
	}
}

// snapshot is the state of all runtimes at one moment. Its items are shared: copy before changing them.
type snapshot struct {
	Items    []codemode.InboxItem
	Problems []problem
	Known    bool // all runtimes were refreshed
	Version  int64
}

type problem struct{ Runtime, Error string }

// find gives one call that waits, if it is known.
func (i *inbox) find(k key) (codemode.InboxItem, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	items := i.of(k.Runtime).items
	at := slices.IndexFunc(items, func(item codemode.InboxItem) bool { return keyOf(item) == k })
	if at < 0 {
		return codemode.InboxItem{}, false
	}
	return items[at], true
}

func (i *inbox) snapshot(runtimes []string) snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := snapshot{Items: []codemode.InboxItem{}, Known: true, Version: i.version}
	for _, name := range runtimes {
		r := i.of(name)
		s.Known = s.Known && r.known
		s.Items = append(s.Items, r.items...)
		if r.err != "" {
			s.Problems = append(s.Problems, problem{name, r.err})
		}
	}
	return s
}

// drop takes decided calls off the list, so that nobody sees them until the next refresh.
func (i *inbox) drop(k key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.of(k.Runtime)
	r.items = slices.DeleteFunc(slices.Clone(r.items), func(item codemode.InboxItem) bool { return keyOf(item) == k })
	r.hash = 0 // what the next refresh finds is news
	i.version++
}

// key names a pending call and the arguments it was shown with.
type key struct {
	Runtime, Execution string
	Seq                int
	Digest             string
}

func keyOf(i codemode.InboxItem) key { return key{i.Runtime, i.ExecutionID, i.Seq, i.ArgsDigest} }

func (k key) String() string {
	return fmt.Sprintf("%s/%s/%d/%s", k.Runtime, k.Execution, k.Seq, k.Digest)
}

func parseKey(text string) (key, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return key{}, badRequest("%q names no pending call", signals.Cut(text, 100))
	}
	seq, err := strconv.Atoi(parts[2])
	if err != nil || seq < 0 {
		return key{}, badRequest("%q names no pending call", signals.Cut(text, 100))
	}
	return key{parts[0], parts[1], seq, parts[3]}, nil
}
