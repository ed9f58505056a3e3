package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// webhooks is what delivers events, nil parts where it is turned off.
type webhooks struct {
	engine    *delivery.Engine
	registrar *admin.Service
	sender    *sender.Sender
	streams   *live.Hub
}

// openWebhooks makes the engine. It begins to deliver when the daemon starts.
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
	self := c.TestTarget()
	guard := webhook.Guard{Allow: c.AllowTargets, Own: d.listensOn}
	kept := d.store.Webhooks()
	d.webhooks.sender = sender.New(sender.Config{
		Guard: guard, Agent: "whd/" + Version(), Connect: c.ConnectTimeout, Attempt: d.attemptLimit, Idle: idlePerHost, Self: self,
	})
	d.webhooks.streams = live.New(live.Config{Shared: d.config.Store != config.Embedded})
	d.webhooks.engine = delivery.New(d.engineConfig(kept))
	d.webhooks.streams.Measure(pulses(d.webhooks.engine))
	d.webhooks.registrar = admin.New(kept, d.webhooks.engine, func() webhook.Rules {
		return webhook.Rules{Events: d.settings.state.Load().events, Guard: guard, Self: self}
	}, d.log)
	return nil
}

// pulses gives the figures that live streams show.
func pulses(e *delivery.Engine) func() (any, bool) {
	pulse := e.Throughput()
	return func() (any, bool) {
		p, news := pulse()
		return wire.Pulse{At: wire.Moment(p.At), Events: p.Events, Delivered: p.Delivered, Failed: p.Failed,
			InFlight: p.Underway, MessagesInMemory: p.InMemory, OpenBreakers: p.Troubled}, news
	}
}

// idlePerHost is how many connections to an endpoint are kept for the next
// messages.
const idlePerHost = 64

func (d *Daemon) engineConfig(kept delivery.Store) delivery.Config {
	c := d.config.Webhooks
	e := delivery.Config{Store: kept, Sender: d.sender(), Log: d.log, Policy: func() webhook.Policy { return d.current().Webhooks.Policy() }, Attempts: c.MaxAttempts, Memory: int(c.Memory),
		Retention: func() webhook.Retention { return d.current().Webhooks.Retention() },
		Show:      d.webhooks.streams.Publish, Watched: d.webhooks.streams.Watched, Joined: d.webhooks.streams.Joined}
	if d.config.Store != config.Embedded { // other daemons may share the store
		e.LeaseTerm, e.PeerInterval, e.OutboxInterval = c.Lease, watchEvery, c.OutboxPoll
		e.EventName = func(name string) (string, error) { return d.webhooks.registrar.Rules().Event(name) }
	}
	return e
}

// watchEvery is how often other daemons are asked what they have done. Events
// are matched with subscriptions as they are at once; this is about what is
// pending.
const watchEvery = time.Second

// startWebhooks begins to deliver. The service must listen by then, since the
// engine does not send to the service's own addresses.
func (d *Daemon) startWebhooks(ctx context.Context) error {
	if d.webhooks.engine == nil {
		return nil
	}
	d.onStop("webhooks", func(ctx context.Context) error {
		defer d.webhooks.sender.Close()
		return d.webhooks.engine.Stop(ctx)
	})
	if err := d.store.Current(ctx); errors.Is(err, appdb.ErrBehind) {
		d.log.Warn("no webhook is delivered yet", "reason", fault.Of(err).Message)
		d.awaitTables("start of webhooks", func(ctx context.Context) bool { return d.beginWebhooks(ctx) == nil })
		return nil
	}
	return d.beginWebhooks(ctx)
}

func (d *Daemon) beginWebhooks(ctx context.Context) error {
	if err := d.store.Webhooks().SetDefaultRetries(ctx, len(d.current().Webhooks.RetrySchedule)); err != nil {
		return err
	}
	if err := d.webhooks.engine.Start(ctx); err != nil {
		return fmt.Errorf("starting the delivery of webhooks: %w", err)
	}
	return nil
}

// listensOn reports whether an address is one of the service's own.
func (d *Daemon) listensOn(to netip.AddrPort) bool {
	own, is := d.address.(*net.TCPAddr)
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
