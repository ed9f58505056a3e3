package daemon

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/store"
)

// byService is the origin of what was changed while the daemon ran. It ranks
// between the file and the variables.
const byService Origin = "the service"

// outranks reports whether what comes from there counts more than what the
// service holds.
func (o Origin) outranks() bool {
	return strings.HasPrefix(string(o), "variable ") || strings.HasPrefix(string(o), "flag ")
}

// liveSettings are the settings as they are now: those of the file, variables
// and flags, with what the service itself holds in its store.
type liveSettings struct {
	book *store.Settings
	log  *slog.Logger
	news func(*Config) // called with settings that have changed

	state  atomic.Pointer[liveState]
	taking sync.Mutex      // held by whoever takes another state over
	warned map[string]bool // of what stored settings; guarded by taking
}

// liveState is one state of the settings. It never changes.
type liveState struct {
	told    Config // by file, variables and flags
	version int64
	saved   map[string]store.SavedSetting
	counts  map[string]bool // the saved settings that are in force
	config  Config
	level   slog.Level
	events  []record.Event // that are published
	rest    rest.Options
}

func newLiveSettings(told Config) *liveSettings {
	l := &liveSettings{warned: make(map[string]bool), news: func(*Config) {}}
	l.state.Store(newState(told, told))
	return l
}

// newState is that of settings that were told, with what the service holds put
// over them.
func newState(told, c Config) *liveState {
	return &liveState{told: told, config: c, level: c.Log.level(), events: c.Webhooks.PublishedEvents(), rest: c.restOptions()}
}

// restOptions are what the settings say to the HTTP edge.
func (c *Config) restOptions() rest.Options {
	return rest.Options{
		Query:            query.Options{Zone: c.Query.TimeZone, MaxTake: int64(c.Query.MaxTake)},
		CountPages:       c.CountAlways(),
		AnonymousQueries: c.Auth.AnonymousQueries(),
		AnonymousPublish: c.Webhooks.AnonymousPublish(),
		PublishFrom:      c.Webhooks.PublishFrom,
		LogBodies:        c.RequestLog.Bodies,
		Rate:             c.HTTP.Rate,
		Debug:            c.Debug,
	}
}

// current is the settings as they are now, which nobody changes. Whoever goes by
// them asks again each time.
func (d *Daemon) current() *Config { return &d.settings.state.Load().config }

func (d *Daemon) restOptions() *rest.Options { return &d.settings.state.Load().rest }

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
	return requestlog.Keep{For: time.Duration(c.Days) * 24 * time.Hour, Size: int64(c.MaxSize)}
}

// take goes over to what the service holds, if that is newer than what is known.
func (l *liveSettings) take(version int64, saved map[string]store.SavedSetting) {
	l.taking.Lock()
	defer l.taking.Unlock()
	was := l.state.Load()
	if version <= was.version {
		return
	}
	if names := l.enter(was.told, version, saved); len(names) > 0 {
		l.log.Info("settings of the service are in force", "changed", strings.Join(names, ", "))
	}
}

// enter makes a state the present one and names the settings that it changed. The
// caller holds taking.
func (l *liveSettings) enter(told Config, version int64, saved map[string]store.SavedSetting) []string {
	was := l.state.Load()
	is, problems := told.with(saved)
	is.version = version
	for _, p := range problems {
		if !l.warned[p] {
			l.warned[p] = true
			l.log.Warn("a setting that the service holds is ignored", "reason", p)
		}
	}
	l.state.Store(is)
	names := differing(&was.config, &is.config)
	if len(names) > 0 {
		l.news(&is.config)
	}
	return names
}

// differing names the settings whose values differ.
func differing(a, b *Config) (names []string) {
	for _, s := range liveTable() {
		if s.value(a).text() != s.value(b).text() {
			names = append(names, s.name)
		}
	}
	return names
}

// liveTable are the rows of the settings that may change while the daemon runs.
func liveTable() (live []setting) {
	for _, s := range settings() {
		if s.live {
			live = append(live, s)
		}
	}
	return live
}

// with is the state of the settings with what the service holds, and what of
// that this program does not take: it may be an older or a newer one's. Where
// they do not go together, those are left out that clash with what is told.
func (c Config) with(saved map[string]store.SavedSetting) (*liveState, []string) {
	config, counts, problems := c.overlaid(saved, false)
	if config.check() != nil {
		config, counts, problems = c.overlaid(saved, true)
	}
	is := newState(c, config)
	is.saved, is.counts = saved, counts
	return is, problems
}

// overlaid puts the saved settings over those of the file. If each is checked,
// one is left out that does not go together with those before it.
func (c Config) overlaid(saved map[string]store.SavedSetting, each bool) (Config, map[string]bool, []string) {
	counts := make(map[string]bool)
	problems := strangers(saved)
	for _, s := range liveTable() {
		one, is := saved[s.name]
		if !is || c.origins.Of(s.name).outranks() {
			continue
		}
		next := c
		err := s.put(&next, one.Value)
		if err == nil && each {
			err = next.check()
		}
		if err != nil {
			problems = append(problems, problem(s.name, byService, err))
			continue
		}
		c, counts[s.name] = next, true
	}
	return c, counts, problems
}

// strangers are what is saved of settings that may not change while this program
// runs.
func strangers(saved map[string]store.SavedSetting) (problems []string) {
	table := liveTable()
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if !slices.ContainsFunc(table, func(s setting) bool { return s.name == name }) {
			problems = append(problems, problem(name, byService, errors.New("is none that this version changes while it runs")))
		}
	}
	return problems
}

// check holds the rules between settings of which one may change.
func (c *Config) check() error {
	if !c.Webhooks.Enabled {
		return nil
	}
	return c.Webhooks.check()
}
