package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
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
	"github.com/bizhook/whd/daemon/demo"
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
	config     config.Config
	settings   *liveSettings
	registry   *record.Registry
	log        *slog.Logger
	out        io.Writer // for what a person at the terminal should see
	directory  *datadir.Lock
	store      *storage.Store
	clock      clock
	accounts   *account.Service
	requestLog *requestlog.Recorder // nil for none
	webhooks   webhooks
	traces     *trace.Tracer // nil for none
	rest       *rest.Server
	address    net.Addr
	greeting   greeting
	demoFilled bool       // at this start
	failed     chan error // a server that ended by itself
	stops      []stop     // in the order of their starts

	certificates []*certificate // of the listeners
}

// stop is one named step of tearing down.
type stop struct {
	name string
	run  func(context.Context) error
}

func (d *Daemon) onStop(name string, run func(context.Context) error) {
	d.stops = append(d.stops, stop{name, run})
}

// New opens the store and wires the service. What it opened is closed again
// when it fails.
func New(ctx context.Context, c config.Config, out io.Writer, log *slog.Logger) (*Daemon, error) {
	d := &Daemon{config: c, settings: newLiveSettings(c), registry: record.Builtin(), out: out, failed: make(chan error, 4)}
	d.log = slog.New(leveled{log.Handler(), func() slog.Level { return d.settings.state.Load().level }})
	for _, step := range []func(context.Context) error{d.lockDirectory, d.openStore, d.openClock, d.fillDemo, d.openAccounts, d.makeDemoKey, d.openRequestLog, d.openTraces, d.openWebhooks, d.wire, d.watchStore} {
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
		return fault.Because(err, fault.Unavailable, "the data directory cannot be used")
	}
	d.onStop("data directory", func(context.Context) error { return d.directory.Release() })
	return nil
}

// describe names this process to others that find its data directory in use.
func describe(address string) string {
	return fmt.Sprintf("pid %d, listening on %s, started %s", os.Getpid(), address, time.Now().Format(time.RFC3339))
}

func (d *Daemon) openStore(ctx context.Context) error {
	connections := d.config.HTTP.MaxRequests + 1 // so that /readyz has one when the service is full
	c := StoreConfig(d.config, d.registry, connections)
	c.Limits = d.statementLimits
	c.KeepSettings = func(all []appdb.StoredSetting) error {
		path, err := d.config.KeepStored(all)
		if err == nil {
			d.log.Warn("settings that were stored in the database are no longer in force; move those that you want into the settings file", "settings", len(all), "file", path)
		}
		return err
	}
	s, err := storage.Open(ctx, c)
	if err != nil {
		return err
	}
	d.store = s
	d.onStop("store", func(context.Context) error { return s.Close() })
	return nil
}

// storeWatch is how often the daemon looks whether the store is still its own.
const storeWatch = time.Second

// watchStore ends the daemon once files of its store were deleted or replaced,
// or another process has taken the store over.
func (d *Daemon) watchStore(context.Context) error {
	if d.config.Store != config.Embedded {
		return nil
	}
	d.repeat("store watch", storeWatch, func(context.Context) bool {
		err := d.store.Lost()
		if engine := d.webhooks.engine; err == nil && engine != nil {
			err = engine.Ready()
		}
		lost := errors.Is(err, delivery.ErrFenced) || errors.Is(err, appdb.ErrReplaced)
		if lost {
			d.failed <- fmt.Errorf("the store in %s was lost: %w", d.config.DataDir, err)
		}
		return lost
	})
	return nil
}

func (d *Daemon) fillDemo(ctx context.Context) error {
	if !d.config.Demo {
		return nil
	}
	empty, err := d.store.Empty(ctx)
	if err != nil {
		return err
	}
	if !empty {
		return d.fillDemoBills(ctx)
	}
	n, err := d.store.Load(ctx, DemoTables(d.registry), demo.Rows)
	if err != nil {
		return fmt.Errorf("filling the store with demo records: %w", err)
	}
	d.demoFilled = true
	d.log.Info("demo records loaded", "rows", n)
	return nil
}

// openRequestLog begins to remember requests, until the last has ended.
func (d *Daemon) openRequestLog(context.Context) error {
	if !d.config.RequestLog.Enabled {
		return nil
	}
	d.requestLog = requestlog.New(requestlog.Config{Store: d.store.RequestLog(), Log: d.log, Keep: d.keptRequests})
	d.requestLog.Start()
	d.onStop("request log", func(ctx context.Context) error {
		ctx, cancel := atLeast(ctx, logGrace)
		defer cancel()
		return d.requestLog.Stop(ctx)
	})
	return nil
}

// logGrace is how long the last entries of the request log may take to be
// written.
const logGrace = 3 * time.Second

func (d *Daemon) wire(context.Context) error {
	c := d.config
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
		Trace:       d.traceParts(),
		Version:     Version(),
		Warnings:    d.config.Warnings(),
		Options:     d.restOptions,
		Settings:    func() []wire.Setting { return d.current().Live() },
		StreamStall: streamStall,
		MetricsHere: c.Metrics.Listen == "",
		Edge: edge.Config{
			BasePath: c.HTTP.BasePath, HostURL: c.Webhooks.HostURL, Hosts: c.HTTP.Hosts, HostNames: hostNames,
			TrustedProxies: c.HTTP.TrustedProxies, CORSOrigins: c.HTTP.CORSOrigins,
			MaxRequests: c.HTTP.MaxRequests, MaxBody: int64(c.HTTP.MaxBody), MaxHead: int(c.HTTP.MaxHead),
			BodyMemory: int64(c.HTTP.BodyMemory), BodyTimeout: bodyTimeout, WriteStall: c.HTTP.WriteStall,
		},
	})
	d.onStop("requests", d.awaitRequests)
	return nil
}

// bodyTimeout is how long a client may send a body more slowly than the least rate.
const bodyTimeout = 5 * time.Second

// streamStall is how long who reads a live stream may take no byte of it.
const streamStall = 10 * time.Second

// cutGrace is how long requests that were cut off may take to notice.
const cutGrace = 5 * time.Second

// awaitRequests keeps what requests work with until the last of them has ended,
// also those that were cut off because ctx is done.
func (d *Daemon) awaitRequests(ctx context.Context) error {
	ctx, cancel := atLeast(ctx, cutGrace)
	defer cancel()
	return d.rest.Drain(ctx)
}

// atLeast is a context that ends with the grace period of ctx, but not within d: what
// stops last has its time also where the others have taken all of it.
func atLeast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if graceEnd, limited := ctx.Deadline(); limited && graceEnd.After(end) {
		end = graceEnd
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// Start opens the listeners and serves until Stop. Events can be delivered
// before the first request is read.
func (d *Daemon) Start(ctx context.Context) error {
	listener, err := d.listen(d.config.Listen)
	if err != nil {
		return err
	}
	d.address = listener.Addr()
	_ = d.directory.Describe(describe(d.address.String())) // see datadir.Serve
	if err := d.startWebhooks(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	d.serve("http", listener, d.traces.Handler(d.rest, d.rest.Route))
	if err := d.serveAdmin(); err != nil {
		return err
	}
	if d.config.Metrics.Listen == "" {
		return nil
	}
	if listener, err = d.listen(d.config.Metrics.Listen); err == nil {
		d.serve("metrics", listener, d.rest.MetricsHandler())
	}
	return err
}

func (d *Daemon) listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	return d.secure(listener)
}

func (d *Daemon) serve(name string, listener net.Listener, handler http.Handler) {
	server := d.server(handler)
	server.RegisterOnShutdown(d.rest.CloseStreams)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(edge.Framed(listener, server.ErrorLog)); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- fmt.Errorf("serving %s: %w", name, err)
		}
	}()
	d.onStop(name, func(ctx context.Context) error {
		defer func() { <-ended }()
		return shutdown(ctx, server)
	})
	d.log.Info("listening", "for", name, "address", listener.Addr().String())
}

func (d *Daemon) server(handler http.Handler) *http.Server {
	c := d.config.HTTP
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like any other path

		ReadHeaderTimeout: c.ReadHeaderTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    headFactor * int(c.MaxHead),
		ConnContext:       edge.ConnContext,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelWarn),
	}
}

// headFactor is how far above the largest head allowed net/http gives up
// reading one. Up to there the reply that refuses it is ours.
const headFactor = 4

// shutdown lets requests in work finish while ctx allows, then cuts them.
func shutdown(ctx context.Context, server *http.Server) error {
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

func (d *Daemon) secure(plain net.Listener) (net.Listener, error) {
	if d.config.TLS.Cert == "" {
		return plain, nil
	}
	pair, err := newCertificate(d.config.TLS, d.log)
	if err != nil {
		plain.Close()
		return nil, fmt.Errorf("tls.cert and tls.key: %w", err)
	}
	d.certificates = append(d.certificates, pair)
	return tls.NewListener(plain, &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
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

// Failed delivers the error of a listener that ended by itself.
func (d *Daemon) Failed() <-chan error { return d.failed }

// Stop tears down in the reverse order of the starts. Connections are refused at
// once. What has come on those that are open may finish until ctx is done: a
// client sees either a whole answer or the end of a connection without any.
func (d *Daemon) Stop(ctx context.Context) error {
	var errs []error
	if d.rest != nil {
		d.rest.Leave()
	}
	for i := len(d.stops) - 1; i >= 0; i-- {
		if err := d.stops[i].run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", d.stops[i].name, err))
		}
	}
	d.stops = nil
	return errors.Join(errs...)
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
