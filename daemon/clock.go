package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/config"
)

// clock is the server's, which is the same for all daemons on it: this host's,
// moved, since that may be wrong. Logins end by it.
type clock struct{ ahead atomic.Int64 } // of this host's, in nanoseconds

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// clockEvery is how often the server is asked for its time. Clocks that are set
// differ at once, others by a second in days.
const clockEvery = time.Minute

// openClock asks a server for its time. The embedded store has this host's.
func (d *Daemon) openClock(ctx context.Context) error {
	if d.config.Store == config.Embedded {
		return nil
	}
	d.setClock(ctx)
	d.repeat("clock", clockEvery, func(ctx context.Context) bool {
		d.setClock(ctx)
		return false
	})
	return nil
}

// setClock leaves the clock as it is where the server does not answer.
func (d *Daemon) setClock(ctx context.Context) {
	began := time.Now()
	at, err := d.store.Webhooks().Now(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn("the server's time could not be read; trying again in a minute", "err", err)
		}
		return
	}
	d.clock.ahead.Store(int64(at.Sub(began.Add(time.Since(began) / 2))))
}
