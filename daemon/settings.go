package daemon

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// liveSettings are the settings that are in force.
type liveSettings struct {
	state     atomic.Pointer[liveState]
	reloading sync.Mutex
}

// liveState is one state of the settings. It never changes.
type liveState struct {
	config config.Config
	level  slog.Level
	events []record.Event // that are published
	rest   edge.Options
}

func newLiveSettings(c config.Config) *liveSettings {
	l := new(liveSettings)
	l.put(c)
	return l
}

func (l *liveSettings) put(c config.Config) {
	l.state.Store(&liveState{config: c, level: c.Log.SlogLevel(), events: c.Webhooks.PublishedEvents(), rest: restOptionsOf(&c)})
}

// restOptions are what the settings say to the HTTP edge.
func restOptionsOf(c *config.Config) edge.Options {
	return edge.Options{
		Query:            query.Options{Zone: c.Query.TimeZone, MaxTake: int64(c.Query.MaxTake)},
		CountPages:       c.CountAlways(),
		AnonymousQueries: c.Auth.AnonymousQueries(),
		AnonymousPublish: c.Webhooks.AnonymousPublish(),
		PublishFrom:      c.Webhooks.PublishFrom,
		LogBodies:        c.RequestLog.Bodies,
		Rate:             edge.Rate(c.HTTP.Rate),
		Debug:            c.HTTP.Debug,
	}
}

// current is the settings in force, which are never modified. A caller asks again
// each time.
func (d *Daemon) current() *config.Config { return &d.settings.state.Load().config }

func (d *Daemon) restOptions() *edge.Options { return &d.settings.state.Load().rest }

func (d *Daemon) statementLimits() executor.Limits {
	c := d.current().Query
	return executor.Limits{Row: c.Timeout, Count: c.CountTimeout}
}

func (d *Daemon) lifetimes() account.Lifetimes {
	c := d.current().Auth
	return account.Lifetimes{Session: c.Session, Remember: c.Remember}
}

func (d *Daemon) attemptLimit() time.Duration { return d.current().Webhooks.AttemptTimeout }

func (d *Daemon) keptRequests() requestlog.Keep {
	c := d.current().RequestLog
	return requestlog.Keep{For: c.Kept(), Size: int64(c.MaxSize)}
}

// Reload goes over to settings that were read again, as far as they may change
// while the daemon runs. It names those that have changed and those that wait for
// a restart. Where it fails nothing has changed.
func (d *Daemon) Reload(again config.Config) (changed, waiting []string, err error) {
	d.settings.reloading.Lock()
	defer d.settings.reloading.Unlock()
	next, changed, waiting, err := d.current().Reloaded(again)
	if err != nil {
		return nil, nil, err
	}
	d.settings.put(next)
	if len(changed) > 0 {
		d.noteRetries()
	}
	return changed, waiting, nil
}

// noteRetries stores how many retries are shown of messages.
func (d *Daemon) noteRetries() {
	if d.webhooks.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	if err := d.store.Webhooks().SetDefaultRetries(ctx, len(d.current().Webhooks.RetrySchedule)); err != nil {
		d.log.Warn("the number of retries that is shown of messages is that of before", "error", err.Error())
	}
}

// noteLimit is how long it may take to note something that is only shown.
const noteLimit = 5 * time.Second
