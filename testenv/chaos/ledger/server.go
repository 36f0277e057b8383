package ledger

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Server keeps the entries in memory and in a file.
type Server struct {
	seed    uint64
	mu      sync.Mutex
	file    *bufio.Writer
	entries map[string][]Entry // by execution
	arrived map[string]int
	traps   map[string]Trap
}

// Serve answers on the listener until it is closed. Seed decides how long each call takes. Every entry is a line of the
// file.
func Serve(l net.Listener, path string, seed uint64) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	s := &Server{seed: seed, file: bufio.NewWriter(f), entries: map[string][]Entry{}, arrived: map[string]int{},
		traps: map[string]Trap{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /calls", s.call)
	mux.HandleFunc("GET /calls", s.list)
	mux.HandleFunc("POST /traps", s.trap)
	return http.Serve(l, mux)
}

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	var e Entry
	var args Args
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(e.Args, &args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	before, after := s.delays(e)
	trap := s.arrive(e.Execution)
	time.Sleep(before)
	if trap != nil && !trap.After {
		kill(e.Caller)
		return
	}
	e = s.write(e, args)
	if trap != nil {
		kill(e.Caller)
		return
	}
	time.Sleep(after)
	_ = json.NewEncoder(w).Encode(e)
}

// arrive counts the execution's calls and gives the trap that is set on this one.
func (s *Server) arrive(execution string) *Trap {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.arrived[execution]
	s.arrived[execution]++
	if t, set := s.traps[execution]; set && t.At == at {
		delete(s.traps, execution)
		return &t
	}
	return nil
}

// kill ends the caller before it learns what happened.
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// write carries the call out.
func (s *Server) write(e Entry, args Args) Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.At = time.Now().UnixMilli()
	seen := s.entries[e.Execution]
	switch {
	case args.Broken:
		e.Refusal = Broken
	case refused(seen, e) < args.Fails:
		e.Refusal = TryAgain
	default:
		e.Result = result(seen, e, args)
	}
	s.entries[e.Execution] = append(seen, e)
	line, _ := json.Marshal(e)
	_, _ = s.file.Write(append(line, '\n'))
	_ = s.file.Flush()
	return e
}

// refused counts the attempts of this call that were refused.
func refused(seen []Entry, e Entry) int {
	n := 0
	for _, other := range seen {
		if other.Method == e.Method && string(other.Args) == string(e.Args) && other.Refusal == TryAgain {
			n++
		}
	}
	return n
}

// result is new for every effect, but the same for the repeats of an idempotent call.
func result(seen []Entry, e Entry, args Args) json.RawMessage {
	if e.Class == "idempotent" {
		for _, other := range seen {
			if other.Key == e.Key && other.Refusal == "" {
				return other.Result
			}
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"tag":%q,"entry":%d}`, args.Tag, len(seen)))
}

// delays are short mostly, and now and then long enough that a kill falls into the call.
func (s *Server) delays(e Entry) (before, after time.Duration) {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.seed, e.Execution, e.Method, string(e.Args))
	n := h.Sum64()
	before, after = time.Duration(n%15)*time.Millisecond, time.Duration(n>>8%15)*time.Millisecond
	if n>>16%12 == 0 {
		before *= 25
	}
	if n>>24%12 == 0 {
		after *= 25
	}
	return before, after
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s.entries[r.URL.Query().Get("execution")])
}

func (s *Server) trap(w http.ResponseWriter, r *http.Request) {
	var t Trap
	if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traps[t.Execution] = t
}
