package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// webhooks is what delivers events, without parts where it is turned off.
type webhooks struct {
	config   config.Config
	settings *liveSettings
	store    *storage.Store
	log      *slog.Logger
	address  net.Addr // of the service, once it listens

	engine    *delivery.Engine
	registrar *admin.Service
	sender    *sender.Sender
	streams   *live.Hub
}

// open makes the engine. It begins to deliver when the daemon starts.
func (w *webhooks) open(traces *trace.Tracer) error {
	c := w.config.Webhooks
	if err := c.Check(); err != nil {
		return err
	}
	for _, warning := range w.config.Warnings() {
		w.log.Warn(warning)
	}
	self := c.TestTarget()
	guard := webhook.Guard{Allow: c.AllowTargets, IsSelf: w.listensOn}
	w.sender = sender.New(sender.Config{
		Guard: guard, UserAgent: "whd/" + w.config.Start.Version, ConnectTimeout: c.ConnectTimeout, AttemptTimeout: w.settings.attemptTimeout, MaxIdlePerHost: idlePerHost, TestTarget: self,
	})
	w.streams = live.New(live.Config{Shared: w.config.Store != config.Embedded})
	w.engine = delivery.New(w.engineConfig(traces))
	throughput := w.engine.Throughput()
	w.streams.SetStatsSource(func() (any, bool) { return throughput() })
	w.registrar = admin.New(w.store.Webhooks.Admin, w.engine, func() webhook.Rules {
		return webhook.Rules{Events: w.settings.state.Load().events, Guard: guard, TestTarget: self}
	}, w.log)
	return nil
}

// idlePerHost is how many connections to an endpoint are kept for the next
// messages.
const idlePerHost = 64

func (w *webhooks) engineConfig(traces *trace.Tracer) delivery.Config {
	c := w.config.Webhooks
	e := delivery.Config{Store: w.store.Webhooks.Engine, Sender: w.sender, Log: w.log, Attempts: c.MaxAttempts, Memory: int(c.Memory),
		Policy:    func() webhook.Policy { return w.settings.current().Webhooks.Policy() },
		Retention: func() webhook.Retention { return w.settings.current().Webhooks.Retention() },
		OnChanges: w.streams.Publish, Watched: w.streams.Watched, PeersJoined: w.streams.PeersJoined}
	if traces != nil {
		e.Sender = tracedSender{w.sender, traces}
	}
	if w.config.Store != config.Embedded { // other daemons may share the store
		e.LeaseTerm, e.PeerInterval, e.OutboxInterval = c.Lease, peerInterval, c.OutboxPoll
		e.EventName = func(name string) (string, error) { return w.registrar.Rules().Event(name) }
	}
	return e
}

// peerInterval is how often other daemons are asked what they have done. Events
// are matched with subscriptions as they are at once; this is about what is
// pending.
const peerInterval = time.Second

// start begins to deliver. The service must listen by then, since the engine does
// not send to the service's own addresses.
func (w *webhooks) start(ctx context.Context, life *lifecycle) error {
	if w.engine == nil {
		return nil
	}
	life.onStop("webhooks", func(ctx context.Context) error {
		defer w.sender.Close()
		return w.engine.Stop(ctx)
	})
	if err := w.store.AppDB.Ready(ctx); errors.Is(err, appdb.ErrOutdated) {
		w.log.Warn("no webhook is delivered yet", "reason", fault.From(err).Message)
		life.repeat("start of webhooks", tablesInterval, func(ctx context.Context) bool { return w.begin(ctx) == nil })
		return nil
	}
	return w.begin(ctx)
}

func (w *webhooks) begin(ctx context.Context) error {
	if err := w.noteRetries(ctx); err != nil {
		return err
	}
	if err := w.engine.Start(ctx); err != nil {
		return fmt.Errorf("starting the delivery of webhooks: %w", err)
	}
	return nil
}

// noteRetries stores how many retries are shown of messages.
func (w *webhooks) noteRetries(ctx context.Context) error {
	return w.store.Webhooks.SetDefaultRetries(ctx, len(w.settings.current().Webhooks.RetrySchedule))
}

// noteLimit is how long it may take to note something that is only shown.
const noteLimit = 5 * time.Second

// settingsChanged follows a reload.
func (w *webhooks) settingsChanged() {
	if w.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	if err := w.noteRetries(ctx); err != nil {
		w.log.Warn("the number of retries that is shown of messages is that of before", "error", err.Error())
	}
}

// listensOn reports whether an address is one of the service's own.
func (w *webhooks) listensOn(to netip.AddrPort) bool {
	own, is := w.address.(*net.TCPAddr)
	if !is || own.Port != int(to.Port()) {
		return false
	}
	at := own.AddrPort().Addr().Unmap()
	return at == to.Addr() || at.IsUnspecified() && isLocal(to.Addr())
}

// isLocal reports whether an address is one of this host's.
func isLocal(at netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // better to refuse too much
	}
	for _, one := range all {
		if network, is := one.(*net.IPNet); is && network.IP.Equal(net.IP(at.AsSlice())) {
			return true
		}
	}
	return false
}

// tracedSender makes a span of each attempt.
type tracedSender struct {
	delivery.Sender
	traces *trace.Tracer
}

// Send is webhook.Sender's.
func (s tracedSender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome {
	a := trace.Attempt{Event: m.Event.Name, Message: m.GUID, Number: m.Attempts + 1}
	if to, err := url.Parse(m.URL); err == nil {
		a.Host = to.Hostname()
	}
	ctx, end := s.traces.Begin(ctx, a)
	o := s.Sender.Send(ctx, m, sub, at)
	failure := string(o.Cause)
	if failure == "" && !o.Success() {
		failure = "refused"
	}
	end(o.Code, failure)
	return o
}
