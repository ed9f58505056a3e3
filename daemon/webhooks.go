package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// webhooks wires the delivery of events. Its last four fields are nil if webhooks are
// disabled.
type webhooks struct {
	config      config.Config
	settings    *liveSettings
	store       *storage.Store
	source      *source.Source // source of changes
	accounts    *account.Service
	log         *slog.Logger
	descriptors int                               // maximum number of descriptors for deliveries; 0 for no limit
	address     net.Addr                          // address of the service's listener, set by Start
	fixed       webhook.Rules                     // the part of the rules that no reload changes
	roles       sync.Map                          // the last known roles of owners of subscriptions, by owner
	required    atomic.Pointer[map[string]string] // the roles that events require: webhook.Rules.Roles

	engine  *delivery.Engine
	admin   *admin.Service
	sender  *sender.Sender
	streams *live.Hub
}

// open creates the engine, which delivers after start.
func (w *webhooks) open(traces *trace.Tracer) error {
	c := w.config.Webhooks
	if err := c.Check(); err != nil {
		return err
	}
	for _, warning := range w.config.Warnings() {
		w.log.Warn(warning)
	}
	testTarget := c.TestTarget()
	guard := webhook.Guard{Allow: c.AllowTargets, IsSelf: w.listensOn}
	w.fixed = webhook.Rules{
		Guard:      guard,
		TestTarget: testTarget,
		MayRead:    w.mayRead,
		Wide:       w.wide,
		KeptFrom:   w.keptFrom,
	}
	roles := w.eventRoles()
	w.required.Store(&roles)
	_, connections := w.limits()
	w.sender = sender.New(sender.Config{
		Guard:          guard,
		UserAgent:      "whd/" + w.config.Start.Version,
		ConnectTimeout: c.ConnectTimeout,
		AttemptTimeout: w.settings.attemptTimeout,
		MaxIdlePerHost: idlePerHost,
		MaxConnections: connections,
		TestTarget:     testTarget,
	})
	w.streams = live.New(live.Config{Shared: w.config.Store.OnServer()})
	w.engine = delivery.New(w.engineConfig(traces))
	throughput := w.engine.Throughput()
	w.streams.SetStatsSource(func() (any, bool) { return throughput() })
	w.admin = admin.New(w.store.Webhooks.Admin, w.engine, w.rules, w.log)
	return nil
}

// limits returns the limits of attempts and, unless it is 0, of open connections. An attempt that
// connects may need two more descriptors for a moment: to look up a name, or for two addresses.
func (w *webhooks) limits() (attempts, connections int) {
	attempts = w.config.Webhooks.MaxAttempts
	if w.descriptors == 0 {
		return attempts, 0
	}
	attempts = max(1, min(attempts, w.descriptors/3))
	return attempts, w.descriptors - 2*attempts
}

// rules returns the rules of subscriptions by the current settings, record kinds and
// accounts.
func (w *webhooks) rules() webhook.Rules {
	r := w.fixed
	s := w.settings.state.Load()
	r.Roles = *w.required.Load()
	r.MaxSubscriptions = s.config.Webhooks.MaxSubscriptions
	r.Events = s.events
	r.Captured = s.captured
	r.Zone = cmp.Or(s.config.Query.TimeZone, time.Local)
	return r
}

// Limits of look-ups for the rules of subscriptions, in the store and in the ERP's catalogue.
const (
	storeTimeout     = 5 * time.Second
	catalogueTimeout = 30 * time.Second
)

// wide returns the fields of a kind that conditions cannot name, by the columns of its table.
func (w *webhooks) wide(kind *record.Kind) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), catalogueTimeout)
	defer cancel()
	table, err := w.source.Table(ctx, kind)
	return table.Wide, err
}

// keptFrom returns since when the values before changes of a kind's fields are known.
func (w *webhooks) keptFrom(kind *record.Kind) (map[string]time.Time, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	stored, err := w.store.Changes.Captures(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range stored {
		if s.Kind == kind.Name {
			return s.State.KeptFrom, nil
		}
	}
	return nil, nil
}

// roleTimeout limits the look-up of an owner's role.
const roleTimeout = 5 * time.Second

// mayRead reports whether the owner of a subscription may read a kind now. If the accounts
// cannot be read, the last known role applies.
func (w *webhooks) mayRead(owner string, kind *record.Kind) bool {
	ctx, cancel := context.WithTimeout(context.Background(), roleTimeout)
	defer cancel()
	role, err := w.accounts.OwnerRole(ctx, owner)
	if err == nil {
		w.roles.Store(owner, role)
	} else if lastRole, ok := w.roles.Load(owner); ok {
		role = lastRole.(account.Role)
	}
	return role.Includes(account.Reader) && account.RoleOf(kind).Allows(role)
}

// idlePerHost is the number of idle connections kept open to each host. An event with
// many subscriptions to one host needs as many at once.
const idlePerHost = 250

// engineConfig returns the configuration of the delivery engine. traces is nil if disabled.
func (w *webhooks) engineConfig(traces *trace.Tracer) delivery.Config {
	c := w.config.Webhooks
	attempts, _ := w.limits()
	e := delivery.Config{
		Store:          w.store.Webhooks.Engine,
		Sender:         w.sender,
		Log:            w.log,
		Attempts:       attempts,
		Memory:         int(c.Memory),
		Overdue:        w.sender.Overdue,
		AttemptTimeout: w.settings.attemptTimeout,
		Rules:          w.rules,
		Policy:         func() webhook.Policy { return w.settings.current().Webhooks.Policy() },
		Retention:      func() webhook.Retention { return w.settings.current().Webhooks.Retention() },
		OnChanges:      w.streams.Publish,
		Watched:        w.streams.Watched,
		PeersJoined:    w.streams.PeersJoined,
	}
	if traces != nil {
		e.Sender = tracedSender{w.sender, traces}
	}
	if w.config.Store.OnServer() { // other daemons may share the store
		e.LeaseTerm = c.Lease
		e.PeerInterval = peerInterval
	}
	if w.store.Outbox != nil {
		e.Outbox = erpOutbox{w.store.Outbox}
	}
	if e.Outbox != nil || ownOutbox(w.config) {
		e.OutboxInterval = c.OutboxPoll
		mayReadAll := func(*record.Kind) bool { return true }
		e.EventName = func(name string) (string, error) { return w.rules().Posted(name, mayReadAll) }
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
	if w.engine == nil {
		return nil
	}
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
	if err := w.keepEventRoles(ctx); err != nil {
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

// eventRoles returns the roles that the events of captured kinds require now, by name.
func (w *webhooks) eventRoles() map[string]string {
	s := w.settings.state.Load()
	roles := make(map[string]string)
	for _, e := range s.events {
		if kind := s.captured[strings.ToLower(e.Name)]; kind != nil {
			roles[e.Name] = kind.Role
		}
	}
	return roles
}

// keepEventRoles stores the roles of events, and reads those of earlier kinds. If it fails,
// the known ones stay in effect.
func (w *webhooks) keepEventRoles(ctx context.Context) error {
	current := w.eventRoles()
	roles, err := w.store.Webhooks.Engine.KeepEventRoles(ctx, current)
	if err != nil {
		roles = maps.Clone(*w.required.Load())
		maps.Copy(roles, current)
	}
	w.required.Store(&roles)
	return err
}

// settingsChanged is called after a reload.
func (w *webhooks) settingsChanged() {
	if w.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := w.storeRetryCount(ctx); err != nil {
		w.log.Warn("cannot store the new number of retries; messages show the previous one", "error", err.Error())
	}
	if err := w.keepEventRoles(ctx); err != nil {
		w.log.Warn("cannot store the roles that events require; they are kept until the service is restarted",
			"error", err.Error())
	}
}

// listensOn reports whether the service's main listener accepts connections to an
// address.
func (w *webhooks) listensOn(target netip.AddrPort) bool {
	listening, ok := w.address.(*net.TCPAddr)
	if !ok || listening.Port != int(target.Port()) {
		return false
	}
	address := listening.AddrPort().Addr().Unmap()
	if address.IsUnspecified() {
		return address == target.Addr() || isLocal(target.Addr())
	}
	return address == target.Addr()
}

// isLocal reports whether an address belongs to this host. If the host's addresses
// are unknown, every address counts as local.
func isLocal(address netip.Addr) bool {
	locals, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	ip := net.IP(address.AsSlice())
	return slices.ContainsFunc(locals, func(local net.Addr) bool {
		network, ok := local.(*net.IPNet)
		return ok && network.IP.Equal(ip)
	})
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
