package rest

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/feeds"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// health has the handlers for monitoring.
type health struct {
	store    Store
	engine   *delivery.Engine // nil if webhooks are disabled
	warnings func() []string  // nil for none
	metrics  *metrics.Metrics // nil if /metrics has its own listener
	shutdown *shutdown
}

func newHealth(c Config, m *metrics.Metrics, s *shutdown) health {
	h := health{store: c.Store, engine: c.Engine, warnings: c.Warnings, shutdown: s}
	if c.ServeMetrics {
		h.metrics = m
	}
	return h
}

// alive reports that the process is running.
func (h *health) alive(x *edge.Context) error { return plain(x, "ok\n") }

// readyTimeout limits the check of the store, since monitors poll every few seconds.
const readyTimeout = 2 * time.Second

// erpTimeout limits the wait for the ERP's database, which may be unreachable. It is short, since
// some monitors wait for only a second.
const erpTimeout = 200 * time.Millisecond

// ready reports whether the service is ready: it returns status 503 with the reason if not.
// Warnings do not make it unready, and neither does an unreachable database of the ERP: events are
// accepted and delivered without it.
func (h *health) ready(x *edge.Context) error {
	if err := h.checkReady(x.Request.Context()); err != nil {
		return err
	}

	text := "ready\n"
	if err := h.checkERP(x.Request.Context()); err != nil {
		text += "erp: away: " + fault.From(err).Message + "\n"
	}
	if h.engine != nil {
		for _, problem := range h.engine.Problems() {
			text += "warning: " + problem + "\n"
		}
	}
	if h.warnings != nil {
		for _, warning := range h.warnings() {
			text += "warning: " + warning + "\n"
		}
	}
	return plain(x, text)
}

// checkReady returns an error if the service cannot serve requests or deliver webhooks.
func (h *health) checkReady(ctx context.Context) error {
	if h.shutdown.isAnnounced() {
		return edge.StoppingError()
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := h.store.Ready(ctx); err != nil {
		return err
	}
	if h.engine == nil {
		return nil
	}
	if err := h.engine.Ready(); err != nil {
		return fault.Wrap(err, fault.Unavailable, "webhooks are not delivered: %s", fault.From(err).Message)
	}
	return nil
}

// checkERP returns an error if the ERP's records cannot be read.
func (h *health) checkERP(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, erpTimeout)
	defer cancel()
	return h.store.ERPReady(ctx)
}

// metricsPage returns the metrics, unless they have a listener of their own.
func (h *health) metricsPage(x *edge.Context) error {
	if h.metrics == nil {
		return fault.New(fault.NotFound, "/metrics is served at metrics.listen")
	}
	h.metrics.Handler().ServeHTTP(x.Response, x.Request)
	return nil
}

// plain sends a text.
func plain(x *edge.Context, text string) error {
	return x.Send("text/plain; charset=utf-8", []byte(text), nil)
}

// Store runs the queries.
type Store interface {
	queries.Store
	feeds.Store

	// ERPVersion returns the version of the ERP, empty if it is not known.
	ERPVersion(ctx context.Context) (string, error)
	// Ready returns an error if the service's own data cannot be used.
	Ready(ctx context.Context) error
	// ERPReady returns an error if the ERP's records cannot be read.
	ERPReady(ctx context.Context) error
}
