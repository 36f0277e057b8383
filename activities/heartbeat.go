package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// progress is what heartbeats carry.
type progress struct {
	// Starts counts the attempts that got as far as running, refused ones left out.
	Starts int `json:"starts"`
}

const beatEvery = 3 * time.Second

// beat shows that the worker lives until done is called. starts counts this attempt and those before it that ran.
func beat(ctx context.Context) (starts int, done func()) {
	p := progress{}
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &p)
	}
	p.Starts++
	if activity.GetInfo(ctx).Attempt > 1 {
		activity.RecordHeartbeat(ctx, p) // now: this attempt may end the worker before the first beat
	}
	ticker := time.NewTicker(beatEvery)
	stop := make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, p)
			case <-stop:
				return
			}
		}
	}()
	return p.Starts, func() { close(stop) }
}
