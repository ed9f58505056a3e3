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
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Daemon is the whole service: New wires it, Start serves, Stop tears down.
type Daemon struct {
	lifecycle
	config     config.Config
	settings   *liveSettings
	registry   *record.Registry
	log        *slog.Logger
	directory  *datadir.Lock
	store      *storage.Store
	clock      clock
	first      firstStart
	accounts   *account.Service
	requestLog *requestlog.Recorder // nil for none
	webhooks   webhooks
	traces     *trace.Tracer // nil for none
	rest       *rest.Server
	listeners  listeners
	address    net.Addr
}

// New opens the store and wires the service. What it opened is closed again
// when it fails.
func New(ctx context.Context, c config.Config, out io.Writer, log *slog.Logger) (*Daemon, error) {
	d := &Daemon{config: c, settings: newLiveSettings(c), registry: record.Builtin()}
	d.log = slog.New(leveled{log.Handler(), func() slog.Level { return d.settings.state.Load().level }})
	d.first = firstStart{config: c, out: out, log: d.log}
	d.listeners = listeners{config: c, log: d.log, life: &d.lifecycle, failed: make(chan error, 4)}
	for _, step := range []func(context.Context) error{
		d.lockDirectory, d.openStore, d.openClock, d.first.fillDemo, d.openAccounts, d.first.makeDemoKey,
		d.openRequestLog, d.openTraces, d.openWebhooks, d.wire, d.watchStore,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.Stop(ctx))
		}
	}
	return d, nil
}

// lockDirectory makes this process the only daemon of its data directory.
func (d *Daemon) lockDirectory(context.Context) error {
	err := os.MkdirAll(d.config.DataDir, 0o700)
	if err == nil {
		d.directory, err = datadir.Serve(d.config.DataDir, describe(d.config.Listen))
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the data directory cannot be used")
	}
	d.onStop("data directory", func(context.Context) error { return d.directory.Release() })
	return nil
}

// describe names this process to others that find its data directory in use.
func describe(address string) string {
	return fmt.Sprintf("pid %d, listening on %s, started %s", os.Getpid(), address, time.Now().Format(time.RFC3339))
}

func (d *Daemon) openStore(ctx context.Context) (err error) {
	c := StoreConfig(d.config, d.registry, d.config.HTTP.MaxRequests+1) // so that /readyz has a connection when the service is full
	c.Limits = d.settings.limits
	c.SaveSettings = func(all []appdb.StoredSetting) error {
		path, err := d.config.KeepStored(all)
		if err == nil {
			d.log.Warn("settings that were stored in the database are no longer in force; move those that you want into the settings file", "settings", len(all), "file", path)
		}
		return err
	}
	if d.store, err = storage.Open(ctx, c); err != nil {
		return err
	}
	d.first.store = d.store
	d.onStop("store", func(context.Context) error { return d.store.Close() })
	return nil
}

// openClock asks a server for its time. The embedded store has this host's.
func (d *Daemon) openClock(ctx context.Context) error {
	if d.config.Store == config.Embedded {
		return nil
	}
	set := func(ctx context.Context) bool {
		if err := d.clock.set(ctx, d.store.Webhooks.Now); err != nil && ctx.Err() == nil {
			d.log.Warn("the server's time could not be read; trying again in a minute", "err", err)
		}
		return false
	}
	set(ctx)
	d.repeat("clock", clockInterval, set)
	return nil
}

// timesGrace is how long it may take to write when logins were used last.
const timesGrace = 3 * time.Second

// openAccounts starts the accounts and makes sure that there is a first user.
// Where our own tables on a server are behind, that waits until they are not:
// the daemon serves meanwhile, and says at /readyz and at every login what has
// to be done.
func (d *Daemon) openAccounts(ctx context.Context) (err error) {
	d.accounts, err = account.New(account.Config{Store: d.store.AppDB.Accounts(), Clock: d.clock.now, Log: d.log, Lifetimes: d.settings.lifetimes})
	if err != nil {
		return err
	}
	d.first.accounts = d.accounts
	d.accounts.Start(context.WithoutCancel(ctx))
	d.onStopWithin(timesGrace, "accounts", d.accounts.Stop)
	err = d.store.AppDB.Ready(ctx)
	if errors.Is(err, appdb.ErrOutdated) {
		d.log.Warn("nobody can sign in yet", "reason", fault.From(err).Message)
		d.repeat("first user", tablesInterval, d.tablesCame)
		return nil
	}
	if err != nil {
		return err
	}
	d.first.password, err = d.first.ensureAdmin(ctx)
	return err
}

// tablesCame reports whether the tables are up to date and have a first user.
func (d *Daemon) tablesCame(ctx context.Context) bool {
	if d.store.AppDB.Ready(ctx) != nil {
		return false
	}
	if _, err := d.first.ensureAdmin(ctx); err != nil {
		d.log.Error("the first user could not be made; trying again", "err", err)
		return false
	}
	d.log.Info("the daemon's own tables are up to date now")
	return true
}

// logGrace is how long the last entries of the request log may take to be
// written.
const logGrace = 3 * time.Second

// openRequestLog begins to remember requests, until the last has ended.
func (d *Daemon) openRequestLog(context.Context) error {
	if d.config.RequestLog.Enabled {
		d.requestLog = requestlog.New(requestlog.Config{Store: d.store.RequestLog(), Log: d.log, Keep: d.settings.keptRequests})
		d.requestLog.Start()
		d.onStopWithin(logGrace, "request log", d.requestLog.Stop)
	}
	return nil
}

// traceGrace is how long the last spans may take to be sent, and no more than half
// of what is left for all that is to be ended.
const traceGrace = 3 * time.Second

// traceLimit is how long the last spans may take, by what is left of the grace period.
func traceLimit(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(traceGrace, time.Until(end)/2)
	}
	return traceGrace
}

// openTraces begins to send spans of requests and deliveries to a collector, where
// one is named.
func (d *Daemon) openTraces(ctx context.Context) (err error) {
	d.traces, err = trace.Open(ctx, trace.Config{Endpoint: d.config.Trace.Endpoint, Version: d.config.Start.Version, Log: d.log})
	if d.traces != nil {
		d.onStop("traces", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, traceLimit(ctx))
			defer cancel()
			if err := d.traces.Close(ctx); err != nil {
				d.log.Warn(err.Error()) // a collector that is away does not keep the daemon from stopping
			}
			return nil
		})
	}
	return err
}

func (d *Daemon) openWebhooks(context.Context) error {
	d.webhooks = webhooks{config: d.config, settings: d.settings, store: d.store, log: d.log}
	if !d.config.Webhooks.Enabled {
		return nil
	}
	return d.webhooks.open(d.traces)
}

func (d *Daemon) wire(context.Context) error {
	c := d.config
	var parts func(ctx context.Context, part string, from, to time.Time)
	if d.traces != nil {
		parts = d.traces.Part
	}
	d.rest = rest.New(rest.Config{
		Registry:    d.registry,
		Store:       d.store,
		Accounts:    d.accounts,
		Bills:       d.store.Bills(c.Query.TimeZone),
		Log:         d.log,
		RequestLog:  d.requestLog,
		Webhooks:    d.webhooks.registrar,
		Engine:      d.webhooks.engine,
		Streams:     d.webhooks.streams,
		Trace:       parts,
		Version:     c.Start.Version,
		Warnings:    d.config.Warnings(),
		Options:     d.settings.rest,
		Settings:    func() []wire.Setting { return d.settings.current().Live() },
		StreamStall: streamStall,
		MetricsHere: c.Metrics.Listen == "",
		Edge: edge.Config{
			BasePath: c.HTTP.BasePath, HostURL: c.Webhooks.HostURL, Hosts: c.HTTP.Hosts, HostNames: hostNames,
			TrustedProxies: c.HTTP.TrustedProxies, CORSOrigins: c.HTTP.CORSOrigins,
			MaxRequests: c.HTTP.MaxRequests, MaxBody: int64(c.HTTP.MaxBody), MaxHead: int(c.HTTP.MaxHead),
			BodyMemory: int64(c.HTTP.BodyMemory), BodyTimeout: bodyTimeout, WriteStall: c.HTTP.WriteStall,
		},
	})
	d.onStopWithin(cutGrace, "requests", d.rest.Drain) // what requests work with stays until the last has ended, also of those that were cut off
	return nil
}

// bodyTimeout is how long a client may send a body more slowly than the least rate.
const bodyTimeout = 5 * time.Second

// streamStall is how long who reads a live stream may take no byte of it.
const streamStall = 10 * time.Second

// cutGrace is how long requests that were cut off may take to notice.
const cutGrace = 5 * time.Second

// storeInterval is how often the daemon looks whether the store is still its own.
const storeInterval = time.Second

// watchStore ends the daemon once files of its store were deleted or replaced,
// or another process has taken the store over.
func (d *Daemon) watchStore(context.Context) error {
	if d.config.Store != config.Embedded {
		return nil
	}
	d.repeat("store watch", storeInterval, func(context.Context) bool {
		err := d.store.AppDB.CheckFiles()
		if engine := d.webhooks.engine; err == nil && engine != nil {
			err = engine.Ready()
		}
		lost := errors.Is(err, delivery.ErrFenced) || errors.Is(err, appdb.ErrReplaced)
		if lost {
			d.listeners.failed <- fmt.Errorf("the store in %s was lost: %w", d.config.DataDir, err)
		}
		return lost
	})
	return nil
}

// Start opens the listeners and serves until Stop. Events can be delivered
// before the first request is read.
func (d *Daemon) Start(ctx context.Context) error {
	listener, err := d.listeners.open(d.config.Listen)
	if err != nil {
		return err
	}
	d.address = listener.Addr()
	d.webhooks.address = d.address
	_ = d.directory.Describe(describe(d.address.String())) // see datadir.Serve
	if err := d.webhooks.start(ctx, &d.lifecycle); err != nil {
		return errors.Join(err, listener.Close())
	}
	d.listeners.closeStreams = d.rest.CloseStreams
	d.listeners.serve("http", listener, d.traces.Handler(d.rest, d.rest.Route))
	if d.config.Admin.Listen != "" {
		listener, err := net.Listen("tcp", d.config.Admin.Listen)
		if err != nil {
			return fmt.Errorf("cannot listen: %w", err)
		}
		ending, end := context.WithCancel(context.Background())
		d.listeners.serve("admin", listener, fromHere(until(ending, profiles())))
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

// Address is where the service listens, once it was started.
func (d *Daemon) Address() net.Addr { return d.address }

// URL is the service's address as a client on this host writes it.
func (d *Daemon) URL() string {
	scheme, host := "http", d.address.String()
	if d.config.TLS.Cert != "" {
		scheme = "https"
	}
	if at, err := netip.ParseAddrPort(host); err == nil && at.Addr().IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", at.Port()) // every address means this one too
	}
	return scheme + "://" + host + d.config.HTTP.BasePath
}

// Reload goes over to settings that were read again, as far as they may change
// while the daemon runs. It names those that have changed and those that wait for
// a restart. Where it fails nothing has changed.
func (d *Daemon) Reload(again config.Config) (changed, waiting []string, err error) {
	changed, waiting, err = d.settings.reload(again)
	if len(changed) > 0 {
		d.webhooks.settingsChanged()
	}
	return changed, waiting, err
}

// Stop tears down in the reverse order of the starts. Connections are refused at
// once. What has come on those that are open may finish until ctx is done: a
// client sees either a whole answer or the end of a connection without any.
func (d *Daemon) Stop(ctx context.Context) error {
	if d.rest != nil {
		d.rest.Leave()
	}
	return d.stop(ctx)
}

// hostNames are the names of this machine. The full name is looked up once, when
// it is first needed.
var hostNames = sync.OnceValue(func() (names []string) {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	full, _ := net.DefaultResolver.LookupCNAME(ctx, name) // empty where it is not known
	for _, one := range []string{name, full} {
		if one = strings.ToLower(strings.TrimSuffix(one, ".")); one != "" {
			names = append(names, one)
		}
	}
	return names
})
