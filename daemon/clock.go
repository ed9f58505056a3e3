package daemon

import (
	"context"
	"sync/atomic"
	"time"
)

// clock follows the database server's clock, which all daemons on that server
// share: the local clock plus an offset. Sessions expire by it.
type clock struct{ offset atomic.Int64 } // nanoseconds ahead of the local clock

// now returns the present time by the server's clock.
func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// clockInterval is the interval between readings of the server's time. Drift is
// slow, about a second in days; only a clock that is set jumps.
const clockInterval = time.Minute

// set adjusts the offset to the time that read returns. The offset is unchanged if
// read fails.
func (c *clock) set(ctx context.Context, read func(context.Context) (time.Time, error)) error {
	start := time.Now()
	serverTime, err := read(ctx)
	if err != nil {
		return err
	}
	middle := start.Add(time.Since(start) / 2) // about when the server read its clock
	c.offset.Store(int64(serverTime.Sub(middle)))
	return nil
}
