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
func (l *liveSettings) current() *config.Config { return &l.state.Load().config }

func (l *liveSettings) rest() *edge.Options { return &l.state.Load().rest }

func (l *liveSettings) limits() executor.Limits {
	c := l.current().Query
	return executor.Limits{Row: c.Timeout, Count: c.CountTimeout}
}

func (l *liveSettings) lifetimes() account.Lifetimes {
	c := l.current().Auth
	return account.Lifetimes{Session: c.Session, Remember: c.Remember}
}

func (l *liveSettings) attemptTimeout() time.Duration { return l.current().Webhooks.AttemptTimeout }

func (l *liveSettings) keptRequests() requestlog.Keep {
	c := l.current().RequestLog
	return requestlog.Keep{For: c.Kept(), Size: int64(c.MaxSize)}
}

// reload goes over to settings that were read again, as far as they may change
// while the daemon runs, and names those that have changed and those that wait for
// a restart.
func (l *liveSettings) reload(again config.Config) (changed, waiting []string, err error) {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	next, changed, waiting, err := l.current().Reloaded(again)
	if err == nil {
		l.put(next)
	}
	return changed, waiting, err
}

// leveled leaves out the lines of a log that are below a level.
type leveled struct {
	slog.Handler
	least func() slog.Level // asked for each line
}

// Enabled is slog.Handler's.
func (h leveled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.least() && h.Handler.Enabled(ctx, level)
}

// WithAttrs is slog.Handler's.
func (h leveled) WithAttrs(attributes []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attributes), h.least}
}

// WithGroup is slog.Handler's.
func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.least}
}
