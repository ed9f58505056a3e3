package daemon

import (
	"context"
	"runtime"
)

// serve runs the daemon until the context ends.
func serve(ctx context.Context, c *call) error {
	config, _, err := c.config()
	if err != nil {
		return err
	}
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	return Run(ctx, config, c.Stdout, newLogger(c.Stderr, config.Log.Format))
}

// ballastSize is memory that is never touched, and so takes none. The collector
// runs when the heap has doubled: with a few megabytes in use that would be
// hundreds of times a second, a sixth of the cost of a small query.
const ballastSize = 16 << 20
