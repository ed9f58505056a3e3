package daemon

import (
	"context"
	"os"
	"runtime"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
)

func serveOptions() []config.Option {
	return []config.Option{{Name: "new-store", Help: "make a new store where the files of the one before are missing"}}
}

// serve runs the daemon until the context or a service manager ends it.
func serve(ctx context.Context, c *call) (err error) {
	supervisor, err := service.Find(c.Env)
	if err != nil {
		return err
	}
	defer func() { supervisor.End(exitOf(err).status, err) }()
	conf, _, err := c.config()
	if err != nil {
		return err
	}
	conf.NewStore = c.own["new-store"] == "true"
	var reloads <-chan os.Signal
	if c.Reloads != nil {
		reloads = c.Reloads()
	}
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	log := supervisor.Log(newLogger(c.Stderr, conf.Log.Format).Handler())
	return life{config: conf, out: c.Stdout, log: log, supervisor: supervisor, reloads: reloads, again: c.settings}.run(ctx)
}

// ballastSize is memory that is never touched, and so takes none. The collector
// runs when the heap has doubled: with a few megabytes in use that would be
// hundreds of times a second, a sixth of the cost of a small query.
const ballastSize = 16 << 20
