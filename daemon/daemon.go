package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/descriptors"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
)

// Daemon is the whole service. New wires it, Start serves, Stop shuts it down. The steps of
// New build one part after the other: each part gets all that it needs from earlier ones.
type Daemon struct {
	*lifecycle
	config      config.Config
	settings    *liveSettings
	descriptors descriptors.Budget
	out         io.Writer // for the user at the terminal
	log         *slog.Logger
	listeners   *listeners
	directory   *datadir.Lock
	store       *storage.Store
	source      *source.Source // source of changes; nil without webhooks
	kinds       recordKinds
	tables      *tableWatch
	clock       *clock
	accounts    *account.Service
	first       *firstStart
	requestLog  *requestlog.Recorder // nil if disabled
	traces      *trace.Tracer        // nil if disabled
	webhooks    *webhooks            // nil if disabled
	capture     *capture             // nil without webhooks
	rest        *rest.Server
}

// New opens the store and wires the service. out is for messages to the user at the
// terminal. If New fails, everything that it opened is closed.
func New(ctx context.Context, c config.Config, out io.Writer, log *slog.Logger) (*Daemon, error) {
	readers := c.HTTP.MaxRequests + 1 // /readyz has a connection even under full load
	budget := descriptors.Divide(descriptors.Limit(), readers)
	settings := newLiveSettings(c)
	log = slog.New(levelHandler{log.Handler(), settings.level})
	stops := new(lifecycle)
	d := &Daemon{
		lifecycle:   stops,
		config:      c,
		settings:    settings,
		descriptors: budget,
		out:         out,
		log:         log,
		clock:       new(clock),
		listeners: &listeners{
			config:    c,
			log:       log,
			lifecycle: stops,
			failed:    make(chan error, 4),
			clients:   edge.NewClients(budget.Clients, log),
			heads:     edge.NewHeads(int(c.HTTP.MaxHead)),
		},
	}
	d.logRisks()
	d.logAdvice()

	for _, step := range []func(context.Context) error{
		d.lockDirectory,
		d.openStore,
		d.openSource,
		d.useKinds,
		d.watchTables,
		d.confirmDemo,
		d.checkServerData,
		d.openClock,
		d.loadDemo,
		d.openAccounts,
		d.ensureFirstUser,
		d.replaceDemoKey,
		d.openRequestLog,
		d.openTraces,
		d.openWebhooks,
		d.openCapture,
		d.wire,
		d.watchStore,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.Stop(ctx))
		}
	}
	return d, nil
}

// logAdvice logs the changes that an administrator should make on this machine and in the settings.
func (d *Daemon) logAdvice() {
	if d.descriptors.Low() {
		d.log.Warn("the limit of file descriptors is low; fewer connections are kept open",
			"limit", d.descriptors.Limit, "recommended", descriptors.Recommended)
	}
	for _, f := range d.config.Start.Former {
		d.log.Warn("a setting of an earlier version still has its effect, for one release",
			"setting", f.Setting, "advice", f.Advice)
	}
}

// logRisks logs the risks of the defaults that the setting compat changed.
func (d *Daemon) logRisks() {
	for _, r := range d.settings.current().Risks() {
		d.log.Warn("compat changes a default", "setting", r.Setting, "value", r.Value, "risk", r.Text)
	}
}

// Start opens the listeners and returns; the daemon serves until Stop. Delivery of
// webhooks starts before the first request is read.
func (d *Daemon) Start(ctx context.Context) error {
	listener, err := d.listeners.openMain()
	if err != nil {
		return err
	}
	_ = d.directory.Describe(describe(d.Address().String())) // see datadir.LockServing
	if d.webhooks != nil {
		if err := d.webhooks.start(ctx, d.lifecycle); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if d.capture != nil {
		if err := d.capture.start(ctx, d.lifecycle); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if d.config.ERP.DemoActivity {
		demoActivity{d.config, d.log}.start(d.lifecycle)
	}

	d.serve("http", listener, d.traces.Handler(d.rest, d.rest.Route))
	if d.config.Admin.Listen != "" {
		if err := d.serveProfiles(); err != nil {
			return err
		}
	}
	if d.config.Metrics.Listen == "" {
		return nil
	}
	listener, err = d.listeners.open("metrics.listen", d.config.Metrics.Listen)
	if err != nil {
		return err
	}
	d.serve("metrics", listener, d.rest.MetricsHandler())
	return nil
}

// serve serves on a listener until the daemon stops.
func (d *Daemon) serve(name string, listener net.Listener, handler http.Handler) {
	d.listeners.serve(name, listener, handler, d.rest.CloseStreams)
}

// serveProfiles serves profiles of the process, without TLS, to this host.
func (d *Daemon) serveProfiles() error {
	listener, err := net.Listen("tcp", d.config.Admin.Listen)
	if err != nil {
		return listenError("admin.listen", err)
	}
	listener = d.listeners.clients.Listener(listener)
	ending, end := context.WithCancel(context.Background())
	d.serve("admin", listener, localOnly(cancelWith(ending, profiles())))
	d.onStop("profiles", func(context.Context) error {
		end()
		return nil
	})
	return nil
}

// Address returns the address of the main listener, nil before Start.
func (d *Daemon) Address() net.Addr { return d.listeners.main }

// URL returns the service's base URL for clients on this host.
func (d *Daemon) URL() string {
	scheme, host := "http", d.Address().String()
	if d.config.TLS.Cert != "" {
		scheme = "https"
	}
	address, err := netip.ParseAddrPort(host)
	if err == nil && address.Addr().IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", address.Port())
	}
	return scheme + "://" + host + d.config.HTTP.BasePath
}

// Reload applies the live settings of next. It returns the names of the settings
// that changed and of those that need a restart. If it fails, no setting has changed.
func (d *Daemon) Reload(next config.Config) (changed, needRestart []string, err error) {
	before := d.settings.readKinds()
	changed, needRestart, err = d.settings.reload(next)
	if err == nil {
		d.kinds.changed(before, next.ERP.Kinds)
		if d.webhooks != nil {
			d.webhooks.settingsChanged()
		}
		d.tables.look(context.Background(), promptTimeout)
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
		n = strings.ToLower(strings.TrimSuffix(n, "."))
		if n != "" {
			names = append(names, n)
		}
	}
	return names
})
