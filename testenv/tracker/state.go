package tracker

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

//go:embed seed.json
var seed []byte

// State is the content of a state file.
type State struct {
	// NextID is the number that the next created issue gets; numbers are never used again.
	NextID   int       `json:"nextId"`
	Issues   []Issue   `json:"issues"`
	Comments []Comment `json:"comments"`
	Effects  []Effect  `json:"effects"`
}

// Issue is one issue; State is "open" or "closed".
type Issue struct {
	ID     int      `json:"id"`
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	State  string   `json:"state"`
	Labels []string `json:"labels"`
}

// Comment is one comment on an issue.
type Comment struct {
	Issue  int    `json:"issue"`
	Author string `json:"author"`
	Body   string `json:"body"`
}

// Effect is one successful call of a writing tool. Key is the idempotency key that the client sent, if it did.
type Effect struct {
	Key  string          `json:"key,omitempty"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// Load reads a state file. A file that is not there yet reads as the state that a server would start it with.
func Load(path string) (State, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = seed, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read the tracker's state: %w", err)
	}
	var state State
	if err := json.Unmarshal(content, &state); err != nil {
		return State{}, fmt.Errorf("tracker state file %s is damaged, delete it to start anew: %w", path, err)
	}
	return state, nil
}

// Count says how many effects the tool of that name had.
func (s State) Count(tool string) int {
	n := 0
	for _, effect := range s.Effects {
		if effect.Tool == tool {
			n++
		}
	}
	return n
}

func (s State) find(id int) (int, error) {
	i := slices.IndexFunc(s.Issues, func(issue Issue) bool { return issue.ID == id })
	if i < 0 {
		return 0, fmt.Errorf("there is no issue %d; list_issues shows the issues there are", id)
	}
	return i, nil
}

// update changes the state file while no other process does. Nothing is written when change fails.
func update(path string, change func(*State) error) error {
	unlock, err := lock(path + ".lock")
	if err != nil {
		return fmt.Errorf("lock the tracker's state: %w", err)
	}
	defer unlock()
	state, err := Load(path)
	if err != nil {
		return err
	}
	if err := change(&state); err != nil {
		return err
	}
	return save(path, state)
}

// save replaces the file in one step, so that a reader, or a process killed here, never leaves half of it.
func save(path string, state State) error {
	content, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the tracker's state: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write the tracker's state: %w", err)
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("write the tracker's state: %w", err)
	}
	return nil
}
