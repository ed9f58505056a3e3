package daemon

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
)

// activityInterval is the interval between changes of demo records.
const activityInterval = 8 * time.Second

// demoActivity changes demo records at intervals, as the users of an ERP would. It writes to
// the file as another program does, so that capture has to find the changes.
type demoActivity struct {
	config config.Config
	log    *slog.Logger
}

// start starts the changes, until the daemon stops.
func (a demoActivity) start(l *lifecycle) {
	n := 0
	l.repeat("demo activity", activityInterval, func(context.Context) bool {
		if err := a.change(n); err != nil {
			a.log.Warn("cannot change a demo record", "err", err)
		}
		n++
		return false
	})
}

// change makes the change with number n.
func (a demoActivity) change(n int) error {
	conn, err := sqlite.Open(filepath.Join(a.config.DataDir, storage.RecordsFile), sqlite.Options{
		Existing:    true,
		BusyTimeout: time.Second,
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	s := demo.Activity(n, time.Now().In(a.config.Query.TimeZone))
	return conn.Query(s.SQL, nil, s.Args...)
}
