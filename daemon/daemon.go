package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/spill"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Daemon is the whole service. New wires it, Start serves, Stop shuts it down.
type Daemon struct {
	lifecycle
	config     config.Config
	settings   *liveSettings
	log        *slog.Logger
	directory  *datadir.Lock
	store      *storage.Store
	kinds      recordKinds
	clock      clock
	first      firstStart
	accounts   *account.Service
	requestLog *requestlog.Recorder // nil if disabled
	webhooks   webhooks
	capture    *capture      // nil without webhooks
	traces     *trace.Tracer // nil if disabled
	rest       *rest.Server
	listeners  listeners
	address    net.Addr
}

// New opens the store and wires the service. out is for messages to the user at the
// terminal. If New fails, everything that it opened is closed.
func New(ctx context.Context, c config.Config, out io.Writer, log *slog.Logger) (*Daemon, error) {
	d := &Daemon{config: c, settings: newLiveSettings(c)}
	d.log = slog.New(levelHandler{log.Handler(), func() slog.Level { return d.settings.state.Load().level }})
	d.logRisks()
	for _, f := range c.Start.Former {
		d.log.Warn("a setting of an earlier version still has its effect, for one release", "setting", f.Setting, "advice", f.Advice)
	}
	d.first = firstStart{config: c, out: out, log: d.log}
	d.listeners = listeners{config: c, log: d.log, lifecycle: &d.lifecycle, failed: make(chan error, 4)}
	for _, step := range []func(context.Context) error{
		d.lockDirectory, d.openStore, d.checkServerData, d.openClock, d.first.loadDemo, d.openAccounts, d.first.replaceDemoKey,
		d.openRequestLog, d.openTraces, d.openWebhooks, d.openCapture, d.wire, d.watchStore,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.Stop(ctx))
		}
	}
	return d, nil
}

// logRisks logs the risks of the defaults that the setting compat changed.
func (d *Daemon) logRisks() {
	for _, r := range d.settings.current().Risks() {
		d.log.Warn("compat changes a default", "setting", r.Setting, "value", r.Value, "risk", r.Text)
	}
}

// lockDirectory takes the lock that makes this process the only daemon using the
// data directory.
func (d *Daemon) lockDirectory(context.Context) error {
	err := os.MkdirAll(d.config.DataDir, 0o700)
	if err == nil {
		d.directory, err = datadir.LockServing(d.config.DataDir, describe(d.config.Listen))
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot use the data directory")
	}
	d.onStop("data directory", func(context.Context) error { return d.directory.Release() })
	return nil
}

// describe identifies this process to others that find its data directory locked.
func describe(address string) string {
	return fmt.Sprintf("pid %d, listening on %s, started %s", os.Getpid(), address, time.Now().Format(time.RFC3339))
}

func (d *Daemon) openStore(ctx context.Context) (err error) {
	c := StoreConfig(d.config, d.config.HTTP.MaxRequests+1) // one more, so that /readyz has a connection under full load
	c.Limits = d.settings.limits
	c.SaveSettings = func(all []appdb.StoredSetting) error {
		path, err := d.config.SaveStored(all)
		if err == nil {
			d.log.Warn("settings stored in the database are no longer used; copy those that you need into the settings file", "settings", len(all), "file", path)
		}
		return err
	}
	if d.store, err = storage.Open(ctx, c); err != nil {
		return err
	}
	d.first.store = d.store
	d.onStop("store", func(context.Context) error { return d.store.Close() })
	d.kinds = recordKinds{log: d.log, store: d.store, current: func() *kinds.Set { return d.settings.current().ERP.Kinds }}
	d.kinds.changed(nil, d.config.ERP.Kinds)
	return d.confirmDemo(ctx)
}

// openClock starts to follow the database server's clock. The embedded store uses
// the local clock.
func (d *Daemon) openClock(ctx context.Context) error {
	if !d.config.Store.OnServer() {
		return nil
	}
	set := func(ctx context.Context) bool {
		if err := d.clock.set(ctx, d.store.Webhooks.Now); err != nil && ctx.Err() == nil {
			d.log.Warn("cannot read the database server's time; retrying in a minute", "err", err)
		}
		return false
	}
	set(ctx)
	d.repeat("clock", clockInterval, set)
	return nil
}

// timesGrace limits the time to write the last-used times of sessions and keys at
// shutdown.
const timesGrace = 3 * time.Second

// openAccounts starts the accounts and ensures that there is a first user. If the
// daemon's tables on a server are out of date, the first user is created once they
// are migrated; until then the daemon serves, and /readyz and every login report
// that a migration is required.
func (d *Daemon) openAccounts(ctx context.Context) (err error) {
	d.accounts, err = account.New(account.Config{Store: d.store.AppDB.Accounts(), Clock: d.clock.now, Log: d.log, Lifetimes: d.settings.lifetimes, CheapHashes: d.config.Start.CheapHashes})
	if err != nil {
		return err
	}
	d.first.accounts = d.accounts
	d.accounts.Start(context.WithoutCancel(ctx))
	d.onStopWithin(timesGrace, "accounts", d.accounts.Stop)
	err = d.store.AppDB.Ready(ctx)
	if errors.Is(err, appdb.ErrOutdated) {
		d.log.Warn("sign-in is not possible yet", "reason", fault.From(err).Message)
		d.repeat("first user", tablesInterval, d.tablesReady)
		return nil
	}
	if err != nil {
		return err
	}
	d.first.password, err = d.first.ensureAdmin(ctx)
	return err
}

// tablesReady reports whether the tables are up to date and contain a user.
func (d *Daemon) tablesReady(ctx context.Context) bool {
	if d.store.AppDB.Ready(ctx) != nil {
		return false
	}
	if _, err := d.first.ensureAdmin(ctx); err != nil {
		d.log.Error("cannot create the first user; retrying", "err", err)
		return false
	}
	d.log.Info("the daemon's tables are now up to date")
	return true
}

// logGrace limits the time to write the last entries of the request log at shutdown.
const logGrace = 3 * time.Second

// openRequestLog starts the request log, which is stopped after the last request.
func (d *Daemon) openRequestLog(context.Context) error {
	if d.config.RequestLog.Enabled {
		d.requestLog = requestlog.New(requestlog.Config{Store: d.store.RequestLog(), Log: d.log, Retention: d.settings.requestRetention})
		d.requestLog.Start()
		d.onStopWithin(logGrace, "request log", d.requestLog.Stop)
	}
	return nil
}

// traceGrace limits the time to send the last spans at shutdown.
const traceGrace = 3 * time.Second

// traceLimit returns the time limit for the last spans: traceGrace, but at most half
// of the remaining grace period.
func traceLimit(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(traceGrace, time.Until(end)/2)
	}
	return traceGrace
}

// openTraces starts to send spans of requests and deliveries to a collector if an
// endpoint is configured.
func (d *Daemon) openTraces(ctx context.Context) (err error) {
	d.traces, err = trace.Open(ctx, trace.Config{Endpoint: d.config.Trace.Endpoint, Version: d.config.Start.Version, Log: d.log})
	if d.traces != nil {
		d.onStop("traces", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, traceLimit(ctx))
			defer cancel()
			if err := d.traces.Close(ctx); err != nil {
				d.log.Warn(err.Error()) // an unreachable collector is no failure to stop
			}
			return nil
		})
	}
	return err
}

func (d *Daemon) openWebhooks(context.Context) error {
	d.webhooks = webhooks{config: d.config, settings: d.settings, store: d.store, accounts: d.accounts, log: d.log}
	if !d.config.Webhooks.Enabled {
		return nil
	}
	return d.webhooks.open(d.traces)
}

// openCapture prepares the capture of changes, which publishes through the engine.
func (d *Daemon) openCapture(context.Context) error {
	if d.webhooks.engine == nil {
		return nil
	}
	from, err := source.New(d.store.Records, d.config.Query.TimeZone)
	if err != nil {
		return err
	}
	d.capture = &capture{settings: d.settings, store: d.store, engine: d.webhooks.engine, log: d.log, source: from}
	d.webhooks.fixed.Wide, d.webhooks.fixed.KeptFrom = d.capture.wide, d.capture.keptFrom
	d.kinds.source = from
	d.onStop("source of changes", func(context.Context) error { return from.Close() })
	return nil
}

func (d *Daemon) wire(context.Context) error {
	c := d.config
	var parts func(ctx context.Context, part string, from, to time.Time)
	if d.traces != nil {
		parts = d.traces.Part
	}
	space, err := spill.Open(filepath.Join(c.DataDir, "spill"), int64(c.ERP.Spill))
	if err != nil {
		return err
	}
	r := rest.Config{
		Store:        d.store,
		Spill:        space,
		Accounts:     d.accounts,
		Bills:        d.store.Bills(c.Query.TimeZone),
		Log:          d.log,
		RequestLog:   d.requestLog,
		LostLines:    c.Start.LostLines,
		Webhooks:     d.webhooks.admin,
		Engine:       d.webhooks.engine,
		Streams:      d.webhooks.streams,
		Trace:        parts,
		Version:      c.Start.Version,
		Warnings:     d.config.Warnings(),
		Options:      d.settings.rest,
		Settings:     func() []wire.Setting { return d.settings.current().Live() },
		StreamStall:  streamStall,
		ServeMetrics: c.Metrics.Listen == "",
		Edge: edge.Config{
			BasePath: c.HTTP.BasePath, HostURL: c.Webhooks.HostURL, Hosts: c.HTTP.Hosts, HostNames: hostNames,
			TrustedProxies: c.HTTP.TrustedProxies, CORSOrigins: c.HTTP.CORSOrigins,
			MaxRequests: c.HTTP.MaxRequests, MaxBody: int64(c.HTTP.MaxBody), MaxHead: int(c.HTTP.MaxHead),
			BodyMemory: int64(c.HTTP.BodyMemory), BodyTimeout: bodyTimeout, WriteStall: c.HTTP.WriteStall,
		},
	}
	if d.capture != nil {
		r.Feed, r.Captures = d.capture.ofQueries, d.capture
	}
	d.rest = rest.New(r)
	d.onStopWithin(abortGrace, "requests", d.rest.Drain) // everything opened before is in use until the last request has ended
	return nil
}

// bodyTimeout is how long a client may send a body below the minimum rate.
const bodyTimeout = 5 * time.Second

// streamStall is how long the client of a live stream may read nothing before it is
// disconnected.
const streamStall = 10 * time.Second

// abortGrace is how long aborted requests may take to return.
const abortGrace = 5 * time.Second

// storeInterval is the interval between checks that the store still belongs to this
// process.
const storeInterval = time.Second

// watchStore terminates the daemon if files of its embedded store are deleted, replaced or
// cannot be synced, or if another process takes over the store.
func (d *Daemon) watchStore(context.Context) error {
	if d.config.Store.OnServer() {
		return nil
	}
	d.repeat("store watch", storeInterval, func(context.Context) bool {
		err := d.store.AppDB.CheckFiles()
		if engine := d.webhooks.engine; err == nil && engine != nil {
			err = engine.Ready()
		}
		lost := errors.Is(err, delivery.ErrFenced) || errors.Is(err, appdb.ErrReplaced) || errors.Is(err, appdb.ErrUnsynced)
		if lost {
			d.listeners.failed <- fmt.Errorf("the store in %s was lost: %w", d.config.DataDir, err)
		}
		return lost
	})
	return nil
}

// Start opens the listeners and returns; the daemon serves until Stop. Delivery of
// webhooks starts before the first request is read.
func (d *Daemon) Start(ctx context.Context) error {
	listener, err := d.listeners.open(d.config.Listen)
	if err != nil {
		return err
	}
	d.address = listener.Addr()
	d.webhooks.address = d.address
	_ = d.directory.Describe(describe(d.address.String())) // see datadir.LockServing
	if err := d.webhooks.start(ctx, &d.lifecycle); err != nil {
		return errors.Join(err, listener.Close())
	}
	if d.capture != nil {
		if err := d.capture.start(ctx, &d.lifecycle); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if d.config.ERP.DemoActivity {
		demoActivity{d.config, d.log}.start(&d.lifecycle)
	}
	d.listeners.closeStreams = d.rest.CloseStreams
	d.listeners.serve("http", listener, d.traces.Handler(d.rest, d.rest.Route))
	if d.config.Admin.Listen != "" {
		listener, err := net.Listen("tcp", d.config.Admin.Listen)
		if err != nil {
			return fmt.Errorf("cannot listen: %w", err)
		}
		ending, end := context.WithCancel(context.Background())
		d.listeners.serve("admin", listener, localOnly(cancelWith(ending, profiles())))
		d.onStop("profiles", func(context.Context) error { end(); return nil })
	}
	if d.config.Metrics.Listen == "" {
		return nil
	}
	if listener, err = d.listeners.open(d.config.Metrics.Listen); err == nil {
		d.listeners.serve("metrics", listener, d.rest.MetricsHandler())
	}
	return err
}

// Address returns the address of the main listener, nil before Start.
func (d *Daemon) Address() net.Addr { return d.address }

// URL returns the service's base URL for clients on this host.
func (d *Daemon) URL() string {
	scheme, host := "http", d.address.String()
	if d.config.TLS.Cert != "" {
		scheme = "https"
	}
	if at, err := netip.ParseAddrPort(host); err == nil && at.Addr().IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", at.Port())
	}
	return scheme + "://" + host + d.config.HTTP.BasePath
}

// Reload applies the live settings of next. It returns the names of the settings
// that changed and of those that need a restart. If it fails, no setting has changed.
func (d *Daemon) Reload(next config.Config) (changed, needRestart []string, err error) {
	before := d.settings.current().ERP.Kinds
	changed, needRestart, err = d.settings.reload(next)
	if err == nil {
		d.kinds.changed(before, next.ERP.Kinds)
		d.webhooks.settingsChanged()
	}
	if slices.Contains(changed, "compat") {
		d.logRisks()
	}
	return changed, needRestart, err
}

// Stop shuts everything down in reverse order of the start. New connections are
// refused immediately. Requests in flight may finish until ctx is done; a client
// receives either a complete response or none.
func (d *Daemon) Stop(ctx context.Context) error {
	if d.rest != nil {
		d.rest.MarkStopping()
	}
	return d.stop(ctx)
}

// hostNames returns this machine's host name and its fully qualified name, in lower
// case. The latter is resolved once, on first use.
var hostNames = sync.OnceValue(func() (names []string) {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	qualified, _ := net.DefaultResolver.LookupCNAME(ctx, name) // empty on failure
	for _, n := range []string{name, qualified} {
		if n = strings.ToLower(strings.TrimSuffix(n, ".")); n != "" {
			names = append(names, n)
		}
	}
	return names
})
