//go:build !unix

package tracker

import "sync"

var mu sync.Mutex

// lock holds within this process only: without flock, one process alone may serve a state file.
func lock(string) (unlock func(), err error) {
	mu.Lock()
	return mu.Unlock, nil
}
