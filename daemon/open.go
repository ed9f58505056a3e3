package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/manual"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/spill"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// lockDirectory takes the lock that makes this process the only daemon using the
// data directory.
func (d *Daemon) lockDirectory(context.Context) error {
	const cannotUse = "cannot use the data directory"
	if err := datadir.Make(d.config.DataDir); err != nil {
		return fault.Wrap(err, fault.Unavailable, cannotUse)
	}
	directory, err := datadir.LockServing(d.config.DataDir, describe(d.config.Listen))
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, cannotUse)
	}
	d.directory = directory
	d.onStop("data directory", func(context.Context) error { return directory.Release() })
	return nil
}

// describe identifies this process to others that find its data directory locked.
func describe(address string) string {
	return fmt.Sprintf("pid %d, listening on %s, started %s", os.Getpid(), address, time.Now().Format(time.RFC3339))
}

// openStore opens the store.
func (d *Daemon) openStore(ctx context.Context) error {
	c := StoreConfig(d.config, d.descriptors.Readers)
	c.Limits = d.settings.limits
	c.SaveSettings = saveSettings(d.config, d.log)
	c.Serving = true
	store, err := storage.Open(ctx, c)
	if err != nil {
		return err
	}
	d.store = store
	d.onStop("store", func(context.Context) error { return store.Close() })
	return nil
}

// openSource opens the source of changes.
func (d *Daemon) openSource(context.Context) error {
	if !d.config.Webhooks.Enabled {
		return nil
	}
	opened, err := source.New(d.store.Records, d.config.Query.TimeZone)
	if err != nil {
		return err
	}
	d.source = opened
	d.onStop("source of changes", func(context.Context) error { return opened.Close() })
	return nil
}

// useKinds puts the record kinds of files into effect.
func (d *Daemon) useKinds(context.Context) error {
	d.kinds = recordKinds{
		log:     d.log,
		store:   d.store,
		source:  d.source,
		current: d.settings.readKinds,
	}
	d.kinds.changed(nil, d.config.ERP.Kinds)
	return nil
}

// watchTables looks for the tables of the ERP, now and at intervals, if they are on a server.
func (d *Daemon) watchTables(ctx context.Context) error {
	d.tables = &tableWatch{
		log:      d.log,
		store:    d.store,
		settings: d.settings,
	}
	if d.config.ERP.DSN.OnServer() {
		d.tables.start(ctx, d.lifecycle)
	}
	return nil
}

// saveSettings returns the function that copies settings which an earlier version kept in the
// database to a file.
func saveSettings(c config.Config, log *slog.Logger) func([]appdb.StoredSetting) error {
	return func(stored []appdb.StoredSetting) error {
		path, err := c.SaveStored(stored)
		if err != nil {
			return err
		}
		log.Warn(
			"settings stored in the database are no longer used; copy those that you need into the settings file",
			"settings", len(stored),
			"file", path,
		)
		return nil
	}
}

// openClock starts to follow the database server's clock. The embedded store uses
// the local clock.
func (d *Daemon) openClock(ctx context.Context) error {
	if !d.config.Store.OnServer() {
		return nil
	}
	set := func(ctx context.Context) bool {
		err := d.clock.set(ctx, d.store.Webhooks.Engine.Now)
		if err != nil && ctx.Err() == nil {
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

// openAccounts starts the accounts.
func (d *Daemon) openAccounts(ctx context.Context) error {
	accounts, err := account.New(account.Config{
		Store:       d.store.AppDB.Accounts(),
		Clock:       d.clock.now,
		Log:         d.log,
		Lifetimes:   d.settings.lifetimes,
		CheapHashes: d.config.Start.CheapHashes,
	})
	if err != nil {
		return err
	}
	d.accounts = accounts
	accounts.Start(context.WithoutCancel(ctx))
	d.onStopWithin(timesGrace, "accounts", accounts.Stop)
	return nil
}

// loadDemo loads demo records into a new store.
func (d *Daemon) loadDemo(ctx context.Context) error {
	return demoRecords{config: d.config, log: d.log, store: d.store}.load(ctx)
}

// ensureFirstUser ensures that there is a first user. If the daemon's tables on a server
// are out of date, the first user is created once they are migrated; until then the daemon
// serves, and /readyz and every login report that a migration is required.
func (d *Daemon) ensureFirstUser(ctx context.Context) error {
	d.first = &firstStart{config: d.config, out: d.out, log: d.log, accounts: d.accounts}
	err := d.store.AppDB.Ready(ctx)
	if errors.Is(err, appdb.ErrOutdated) {
		d.log.Warn("sign-in is not possible yet", "reason", fault.From(err).Message)
		d.repeat("first user", tablesInterval, d.tablesReady)
		return nil
	}
	if err != nil {
		return err
	}
	return d.first.createUser(ctx)
}

// replaceDemoKey replaces the API key of a demo.
func (d *Daemon) replaceDemoKey(ctx context.Context) error { return d.first.replaceDemoKey(ctx) }

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
	if !d.config.RequestLog.Enabled {
		return nil
	}
	d.requestLog = requestlog.New(requestlog.Config{
		Store:     d.store.RequestLog(),
		Log:       d.log,
		Retention: d.settings.requestRetention,
	})
	d.requestLog.Start()
	d.onStopWithin(logGrace, "request log", d.requestLog.Stop)
	return nil
}

// traceGrace limits the time to send the last spans at shutdown.
const traceGrace = 3 * time.Second

// traceLimit returns the time limit for the last spans: traceGrace, but at most half
// of the remaining grace period.
func traceLimit(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return traceGrace
	}
	return min(traceGrace, time.Until(end)/2)
}

// openTraces starts to send spans of requests and deliveries to a collector if an
// endpoint is configured.
func (d *Daemon) openTraces(ctx context.Context) error {
	traces, err := trace.Open(ctx, trace.Config{
		Endpoint: d.config.Trace.Endpoint,
		Version:  d.config.Start.Version,
		Log:      d.log,
	})
	if err != nil || traces == nil {
		return err
	}
	d.traces = traces
	d.onStop("traces", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, traceLimit(ctx))
		defer cancel()
		if err := traces.Close(ctx); err != nil {
			d.log.Warn(err.Error()) // an unreachable collector is no failure to stop
		}
		return nil
	})
	return nil
}

// openCapture prepares the capture of changes, which publishes through the engine.
func (d *Daemon) openCapture(context.Context) error {
	if d.webhooks == nil {
		return nil
	}
	d.capture = &capture{
		settings: d.settings,
		store:    d.store,
		engine:   d.webhooks.engine,
		log:      d.log,
		source:   d.source,
	}
	return nil
}

// wire builds the HTTP server with all other parts.
func (d *Daemon) wire(context.Context) error {
	c := d.config
	space, err := spill.Open(filepath.Join(c.DataDir, "spill"), int64(c.ERP.Spill))
	if err != nil {
		return err
	}
	r := rest.Config{
		Store:      d.store,
		Spill:      space,
		Accounts:   d.accounts,
		Bills:      d.store.Bills(c.Query.TimeZone),
		Log:        d.log,
		RequestLog: d.requestLog,
		LostLines:  c.Start.LostLines,
		Version:    c.Start.Version,
		Manual: manual.New(manual.Config{
			Base:    edge.BasePath(c.HTTP.BasePath),
			Version: c.Start.Version,
			Service: c.Start.Manual.Service,
			Client:  c.Start.Manual.Client,
		}),
		EmbeddedRecords: !c.ERP.DSN.OnServer(),
		Warnings:        func() []string { return slices.Concat(c.Warnings(), d.tables.problems()) },
		Options:         d.settings.rest,
		Settings:        func() []wire.Setting { return d.settings.current().Live() },
		StreamStall:     streamStall,
		ServeMetrics:    c.Metrics.Listen == "",
		Edge: edge.Config{
			BasePath:       c.HTTP.BasePath,
			HostURL:        c.Webhooks.HostURL,
			Hosts:          c.HTTP.Hosts,
			HostNames:      hostNames,
			TrustedProxies: c.HTTP.TrustedProxies,
			ForwardedHost:  c.HTTP.ForwardedHost,
			CORSOrigins:    c.HTTP.CORSOrigins,
			MaxRequests:    c.HTTP.MaxRequests,
			MaxBody:        int64(c.HTTP.MaxBody),
			MaxHead:        int(c.HTTP.MaxHead),
			BodyMemory:     int64(c.HTTP.BodyMemory),
			ReplyMemory:    int64(c.HTTP.ReplyMemory),
			BodyTimeout:    bodyTimeout,
			WriteStall:     c.HTTP.WriteStall,
			Clients:        d.listeners.clients,
		},
	}
	if d.traces != nil {
		r.Trace = d.traces.Part
	}
	if d.webhooks != nil {
		r.Webhooks = d.webhooks.admin
		r.Engine = d.webhooks.engine
		r.Portal = admin.NewPortal(d.store.Webhooks.Portal, d.webhooks.engine.Now)
		r.Streams = d.webhooks.streams
	}
	if d.capture != nil {
		r.Feed = d.capture.ofQueries
		r.Captures = d.capture
	}
	d.rest = rest.New(r)
	// Everything opened before is in use until the last request has ended.
	d.onStopWithin(abortGrace, "requests", d.rest.Drain)
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
		err := d.checkStore()
		isLost := errors.Is(err, delivery.ErrFenced) ||
			errors.Is(err, appdb.ErrReplaced) ||
			errors.Is(err, appdb.ErrUnsynced)
		if isLost {
			d.listeners.failed <- fmt.Errorf("the store in %s was lost: %w", d.config.DataDir, err)
		}
		return isLost
	})
	return nil
}

// checkStore returns an error if files of the embedded store are not usable.
func (d *Daemon) checkStore() error {
	err := d.store.AppDB.CheckFiles()
	if err != nil || d.webhooks == nil {
		return err
	}
	return d.webhooks.engine.Ready()
}
