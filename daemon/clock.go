package daemon

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the server's, which is the same for all daemons on it: this host's,
// moved, since that may be wrong. Logins end by it.
type clock struct{ ahead atomic.Int64 } // of this host's, in nanoseconds

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// clockInterval is how often the server is asked for its time. Clocks that are set
// differ at once, others by a second in days.
const clockInterval = time.Minute

// set goes by the time that read gives, and leaves the clock as it is where that
// fails.
func (c *clock) set(ctx context.Context, read func(context.Context) (time.Time, error)) error {
	began := time.Now()
	at, err := read(ctx)
	if err == nil {
		c.ahead.Store(int64(at.Sub(began.Add(time.Since(began) / 2))))
	}
	return err
}
