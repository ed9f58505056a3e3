package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// liveSettings holds the settings in effect.
type liveSettings struct {
	state     atomic.Pointer[liveState]
	reloading sync.Mutex
	unseen    []string // kinds that are not served, since their tables are not seen; protected by reloading
}

// liveState is one immutable state of the settings and values derived from it.
type liveState struct {
	config   config.Config
	read     *kinds.Set // the record kinds of config, with those that are not served
	level    slog.Level
	events   []record.Event          // the published events
	captured map[string]*record.Kind // kinds of events, by the event's name in lower case
	rest     edge.Options
}

// newLiveSettings puts the settings of the start into effect.
func newLiveSettings(c config.Config) *liveSettings {
	l := new(liveSettings)
	l.put(c)
	return l
}

// put puts settings into effect, without the kinds that are not served.
func (l *liveSettings) put(c config.Config) {
	read := c.ERP.Kinds
	isUnseen := func(k *record.Kind) bool { return slices.Contains(l.unseen, k.Name) }
	c.ERP.Kinds = read.Without(isUnseen)
	s := &liveState{
		config: c,
		read:   read,
		level:  c.Log.SlogLevel(),
		rest:   restOptionsOf(&c),
	}
	s.rest.Unseen = read.Registry().Filter(isUnseen)
	s.events, s.captured = c.Webhooks.PublishedEvents(c.ERP.Kinds.Registry())
	if c.Webhooks.Enabled {
		s.rest.Events = slices.Concat(s.events, record.ServiceEvents())
	}
	l.state.Store(s)
}

// restOptionsOf returns the options of the HTTP edge.
func restOptionsOf(c *config.Config) edge.Options {
	return edge.Options{
		Registry:         c.ERP.Kinds.Registry(),
		Mistaken:         c.ERP.Kinds.Mistaken(),
		Query:            query.Options{Zone: c.Query.TimeZone, MaxTake: int64(c.Query.MaxTake)},
		FeedPage:         int64(c.Query.FeedPage),
		CountPages:       c.CountsPages(),
		AnonymousQueries: c.Auth.AnonymousQueries(),
		AnonymousPublish: c.Webhooks.AnonymousPublish(),
		PublishFrom:      c.Webhooks.PublishFrom,
		KeyInURL:         c.Auth.KeyInURL,
		LogToday:         c.RequestLog.Today,
		FormulaGuard:     c.Query.FormulaGuard,
		LogBodies:        c.RequestLog.Bodies,
		LogLines:         c.LogsRequests(),
		Rate:             edge.Rate(c.HTTP.Rate),
		ISODates:         c.Webhooks.Dates == config.ISODates,
		Debug:            c.HTTP.Debug,
		MCP:              c.HTTP.MCP,
		Portal:           c.Webhooks.Enabled && c.Webhooks.Portal,
		PublicURL:        strings.TrimRight(c.HTTP.PublicURL, "/"),
	}
}

// current returns the settings in effect. Callers must not modify or keep them.
func (l *liveSettings) current() *config.Config { return &l.state.Load().config }

// level returns the level of the log.
func (l *liveSettings) level() slog.Level { return l.state.Load().level }

// rest returns the options of the HTTP edge.
func (l *liveSettings) rest() *edge.Options { return &l.state.Load().rest }

// limits returns the limits of queries.
func (l *liveSettings) limits() executor.Limits {
	c := l.current()
	return executor.Limits{
		Row:       c.Query.Timeout,
		Count:     c.Query.CountTimeout,
		PageSteps: c.PageCountSteps(),
		TotalAge:  c.Query.TotalCache,
	}
}

// lifetimes returns how long sessions last.
func (l *liveSettings) lifetimes() account.Lifetimes {
	c := l.current().Auth
	return account.Lifetimes{Session: c.Session, Remember: c.Remember}
}

// eventRoles returns the roles that the events of captured kinds require now, by name.
func (l *liveSettings) eventRoles() map[string]string {
	s := l.state.Load()
	return webhook.RequiredRoles(s.events, s.captured)
}

// attemptTimeout returns the time limit of an attempt to deliver a message.
func (l *liveSettings) attemptTimeout() time.Duration { return l.current().Webhooks.AttemptTimeout }

// requestRetention returns how much of the request log is kept.
func (l *liveSettings) requestRetention() requestlog.Retention {
	c := l.current().RequestLog
	return requestlog.Retention{MaxAge: c.Retention(), MaxSize: int64(c.MaxSize)}
}

// reload applies the live settings of read. It returns the names of the settings that
// changed and of those that need a restart.
func (l *liveSettings) reload(read config.Config) (changed, needRestart []string, err error) {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	next, changed, needRestart, err := l.configured().Reloaded(read)
	if err != nil {
		return changed, needRestart, err
	}
	l.put(next)
	return changed, needRestart, nil
}

// readKinds returns the record kinds with those that are not served because their tables are
// not seen.
func (l *liveSettings) readKinds() *kinds.Set { return l.state.Load().read }

// configured returns a copy of the settings in effect, with all kinds of readKinds.
func (l *liveSettings) configured() *config.Config {
	state := l.state.Load()
	c := state.config
	c.ERP.Kinds = state.read
	return &c
}

// leaveOut leaves out the kinds with tables that are not seen.
func (l *liveSettings) leaveOut(unseen []string) {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	if slices.Equal(l.unseen, unseen) {
		return
	}
	l.unseen = unseen
	l.put(*l.configured())
}

// levelHandler drops log records below a level that may change.
type levelHandler struct {
	slog.Handler
	level func() slog.Level // called for each record
}

// Enabled reports whether the handler has records of a level.
func (h levelHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level() && h.Handler.Enabled(ctx, level)
}

// WithAttrs returns a handler that adds attributes to its records.
func (h levelHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(attributes), h.level}
}

// WithGroup returns a handler that puts the attributes of its records into a group.
func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.level}
}
