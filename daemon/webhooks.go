package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
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

// webhooks delivers events. It exists if webhooks are enabled.
type webhooks struct {
	settings *liveSettings
	store    *storage.Store
	log      *slog.Logger
	roles    *webhook.EventRoles

	sender  *sender.Sender
	streams *live.Hub
	engine  *delivery.Engine
	admin   *admin.Service
}

// openWebhooks prepares the delivery of webhooks, which Start starts.
func (d *Daemon) openWebhooks(context.Context) error {
	c := d.config.Webhooks
	if !c.Enabled {
		return nil
	}
	if err := c.Check(); err != nil {
		return err
	}
	for _, warning := range d.config.Warnings() {
		d.log.Warn(warning)
	}

	guard := webhook.Guard{Allow: c.AllowTargets, IsSelf: d.listeners.isMainAddress}
	roles := webhook.NewEventRoles(d.store.Webhooks.Engine, d.settings.eventRoles())
	rules := subscriptionRules{
		settings: d.settings,
		roles:    roles,
		fixed: webhook.Rules{
			Guard:      guard,
			TestTarget: c.TestTarget(),
			MayRead:    d.accounts.OwnerMayRead,
			Wide:       d.source.WideFields,
			KeptFrom:   d.store.Changes.KeptFrom,
		},
	}
	outbound, err := d.openOutbound()
	if err != nil {
		return err
	}
	attempts, connections := d.descriptors.Attempts(c.MaxAttempts)
	httpSender := sender.New(sender.Config{
		Guard:          guard,
		Outbound:       outbound,
		UserAgent:      "whd/" + d.config.Start.Version,
		ConnectTimeout: c.ConnectTimeout,
		AttemptTimeout: d.settings.attemptTimeout,
		MaxIdlePerHost: idlePerHost,
		MaxConnections: connections,
		TestTarget:     c.TestTarget(),
	})

	// Streams and engine need each other: changes go to the streams, and their readers get
	// statistics of the engine. There are no readers before the start.
	var throughput func() (wire.Throughput, bool)
	streams := live.New(live.Config{
		Shared: d.config.Store.OnServer(),
		Stats:  func() (any, bool) { return throughput() },
	})
	engine := delivery.New(d.engineConfig(rules, attempts, httpSender, streams))
	throughput = engine.Throughput()

	d.webhooks = &webhooks{
		settings: d.settings,
		store:    d.store,
		log:      d.log,
		roles:    roles,
		sender:   httpSender,
		streams:  streams,
		engine:   engine,
		admin:    admin.New(d.store.Webhooks.Admin, engine, rules.current, d.log),
	}
	return nil
}

// openOutbound returns the way to receivers.
func (d *Daemon) openOutbound() (webhook.Outbound, error) {
	return d.config.Webhooks.Way.Outbound(func(files config.TLSConfig) (webhook.ClientCertificate, error) {
		pair, err := newCertificate(files, d.log)
		if err != nil {
			return nil, err
		}
		return func() (*tls.Certificate, error) { return pair.get(nil) }, nil
	})
}

// subscriptionRules has the rules of subscriptions.
type subscriptionRules struct {
	fixed    webhook.Rules // the part that no reload changes
	settings *liveSettings
	roles    *webhook.EventRoles
}

// current returns the rules by the current settings, record kinds and accounts.
func (s subscriptionRules) current() webhook.Rules {
	r := s.fixed
	state := s.settings.state.Load()
	r.Roles = s.roles.Required()
	r.MaxSubscriptions = state.config.Webhooks.MaxSubscriptions
	r.MaxPerMinute = state.config.Webhooks.MaxPerMinute
	r.Events = state.events
	r.Captured = state.captured
	r.Zone = cmp.Or(state.config.Query.TimeZone, time.Local)
	return r
}

// idlePerHost is the number of idle connections kept open to each host. An event with
// many subscriptions to one host needs as many at once.
const idlePerHost = 250

// engineConfig returns the configuration of the delivery engine.
func (d *Daemon) engineConfig(
	rules subscriptionRules, attempts int, httpSender *sender.Sender, streams *live.Hub,
) delivery.Config {
	e := delivery.Config{
		Store:          d.store.Webhooks.Engine,
		Sender:         httpSender,
		Log:            d.log,
		Attempts:       attempts,
		Memory:         int(d.config.Webhooks.Memory),
		Overdue:        httpSender.Overdue,
		AttemptTimeout: d.settings.attemptTimeout,
		Rules:          rules.current,
		Policy:         func() webhook.Policy { return d.settings.current().Webhooks.Policy() },
		MaxPerMinute:   func() int { return d.settings.current().Webhooks.MaxPerMinute },
		Retention:      func() webhook.Retention { return d.settings.current().Webhooks.Retention() },
		OnChanges:      streams.Publish,
		Watched:        streams.Watched,
		PeersJoined:    streams.PeersJoined,
	}
	if d.traces != nil {
		e.Sender = tracedSender{httpSender, d.traces}
	}
	if d.config.Store.OnServer() { // other daemons may share the store
		e.LeaseTerm = d.config.Webhooks.Lease
		e.PeerInterval = peerInterval
	}
	if d.store.Outbox != nil {
		e.Outbox = erpOutbox{d.store.Outbox}
	}
	if e.Outbox != nil || ownOutbox(d.config) {
		e.OutboxInterval = d.config.Webhooks.OutboxPoll
		mayReadAll := func(*record.Kind) bool { return true }
		e.EventName = func(name string) (string, error) { return rules.current().Posted(name, mayReadAll) }
	}
	return e
}

// peerInterval is the interval between polls for changes by other daemons on the
// store. It affects pending messages only: publishing an event always matches the
// current subscriptions.
const peerInterval = time.Second

// start starts the delivery, or schedules the start if the daemon's tables are out of
// date. The main listener must be open: the engine does not send to its address.
func (w *webhooks) start(ctx context.Context, l *lifecycle) error {
	l.onStop("webhooks", func(ctx context.Context) error {
		defer w.sender.Close()
		return w.engine.Stop(ctx)
	})
	err := w.store.AppDB.Ready(ctx)
	if errors.Is(err, appdb.ErrOutdated) {
		w.log.Warn("webhook delivery has not started", "reason", fault.From(err).Message)
		l.repeat("start of webhooks", tablesInterval, func(ctx context.Context) bool {
			return w.startEngine(ctx) == nil
		})
		return nil
	}
	return w.startEngine(ctx)
}

// startEngine starts the delivery. The daemon's tables must be up to date.
func (w *webhooks) startEngine(ctx context.Context) error {
	if err := w.storeRetryCount(ctx); err != nil {
		return err
	}
	if err := w.roles.Keep(ctx, w.settings.eventRoles()); err != nil {
		return err
	}
	if err := w.store.Webhooks.Engine.PrepareFile(ctx); err != nil {
		return err
	}
	if err := w.engine.Start(ctx); err != nil {
		return fmt.Errorf("starting webhook delivery: %w", err)
	}
	return nil
}

// storeRetryCount stores the length of the retry schedule, which messages show as
// their maximum number of retries.
func (w *webhooks) storeRetryCount(ctx context.Context) error {
	return w.store.Webhooks.Engine.SetDefaultRetries(ctx, len(w.settings.current().Webhooks.RetrySchedule))
}

// storeTimeout limits the changes of the store after a reload.
const storeTimeout = 5 * time.Second

// settingsChanged is called after a reload.
func (w *webhooks) settingsChanged() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := w.storeRetryCount(ctx); err != nil {
		w.log.Warn("cannot store the new number of retries; messages show the previous one", "error", err.Error())
	}
	if err := w.roles.Keep(ctx, w.settings.eventRoles()); err != nil {
		w.log.Warn("cannot store the roles that events require; they are kept until the service is restarted",
			"error", err.Error())
	}
}

// tracedSender records a span for each attempt.
type tracedSender struct {
	delivery.Sender
	traces *trace.Tracer
}

// Send makes an attempt within a span.
func (s tracedSender) Send(
	ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time,
) webhook.Outcome {
	attempt := trace.Attempt{Event: m.Event.Name, Message: m.GUID, Number: m.Attempts + 1}
	if target, err := url.Parse(m.URL); err == nil {
		attempt.Host = target.Hostname()
	}
	ctx, end := s.traces.Begin(ctx, attempt)
	outcome := s.Sender.Send(ctx, m, sub, at)
	failure := string(outcome.Cause)
	if failure == "" && !outcome.Success() {
		failure = "refused"
	}
	end(outcome.Code, failure)
	return outcome
}
