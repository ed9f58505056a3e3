package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

const (
	// watchInterval is the interval between looks for tables of the ERP.
	watchInterval = time.Minute
	// watchTimeout limits a look.
	watchTimeout = 30 * time.Second
	// promptTimeout limits a look at the start or at a reload, which must not wait long for the
	// ERP's server.
	promptTimeout = 2 * time.Second
	// firstTimeout limits the very first look. If it fails, all kinds are served at first.
	firstTimeout = 15 * time.Second
)

// tableWatch looks for the tables of the record kinds and of bills on the ERP's server. Kinds
// with tables that are absent are not served. A table that has been served and is no longer seen
// is a problem until an administrator accepts it with whd kinds accept; requests for it get 503.
type tableWatch struct {
	log      *slog.Logger
	store    *storage.Store
	settings *liveSettings
	looking  sync.Mutex // held during a look

	mu       sync.Mutex
	presence erp.Presence // at the last look
	problem  string       // problem of the last look
}

// start starts to look for the tables.
func (w *tableWatch) start(ctx context.Context, l *lifecycle) {
	w.lookFirst(ctx)
	l.repeat("tables of the ERP", watchInterval, func(ctx context.Context) bool {
		w.look(ctx, watchTimeout)
		return false
	})
}

// lookFirst looks for the tables at the start. If the ERP's server does not answer, the tables
// that were served before are served.
func (w *tableWatch) lookFirst(ctx context.Context) {
	served, err := w.store.Served(ctx)
	if err != nil {
		return // the service's own tables are outdated or away, which other checks report
	}
	timeout := promptTimeout
	if len(served.Tables)+len(served.Gone) == 0 {
		timeout = firstTimeout
	}
	if w.look(ctx, timeout) {
		return
	}
	tracked := w.settings.configured().ERP.Tracked()
	w.settings.leaveOut(erp.LastPresence(tracked, served).Absent)
}

// look looks for the tables, and puts the result into effect. It reports whether it could.
func (w *tableWatch) look(ctx context.Context, timeout time.Duration) bool {
	w.looking.Lock()
	defer w.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	presence, err := w.read(ctx)
	w.noteProblem(err)
	if err != nil {
		return false
	}
	w.note(ctx, presence)
	return true
}

// read returns the presence of the tables.
func (w *tableWatch) read(ctx context.Context) (erp.Presence, error) {
	tracked := w.settings.configured().ERP.Tracked()
	if len(tracked) == 0 {
		return erp.Presence{}, nil
	}
	served, err := w.store.Served(ctx)
	if err != nil {
		return erp.Presence{}, err
	}
	return w.store.Presence(ctx, tracked, served)
}

// note stores which tables are new, leaves out the kinds with absent ones, and logs changes.
func (w *tableWatch) note(ctx context.Context, now erp.Presence) {
	for _, name := range now.New {
		err := w.store.AppDB.PutServedTable(ctx, appdb.ServedTable{Name: name})
		if err != nil {
			w.log.Warn("cannot store that a table is served", "table", name, "err", fault.From(err).Message)
		}
	}
	w.settings.leaveOut(now.Absent)

	w.mu.Lock()
	before := w.presence
	w.presence = now
	w.mu.Unlock()
	if len(now.Absent) > 0 && !slices.Equal(before.Absent, now.Absent) {
		w.log.Info("tables that are not seen in the ERP's database are not served; whd check lists the remedies",
			"tables", strings.Join(now.Absent, ", "))
	}
	if len(now.Missing) > 0 && !slices.Equal(before.Missing, now.Missing) {
		w.log.Error(missingTables+"; whd check lists the remedies", "tables", strings.Join(now.Missing, ", "))
	}
}

// missingTables is the start of the message about tables that are no longer seen.
const missingTables = "tables that were served are missing in the ERP's database"

// noteProblem logs why the tables cannot be looked for, once for each reason.
func (w *tableWatch) noteProblem(err error) {
	problem := ""
	if err != nil {
		problem = fault.From(err).Message
	}
	w.mu.Lock()
	before := w.problem
	w.problem = problem
	w.mu.Unlock()
	if problem != "" && problem != before {
		w.log.Warn("cannot look for the tables in the ERP's database; retrying", "err", problem)
	}
}

// problems returns the problems for the details of /readyz.
func (w *tableWatch) problems() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.presence.Missing) == 0 {
		return nil
	}
	return []string{missingTables + ": " + strings.Join(w.presence.Missing, ", ") + "; whd check lists the remedies"}
}
