package rest

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// health are the handlers by which others watch the service.
type health struct {
	store    Store
	engine   *delivery.Engine // nil where webhooks are turned off
	warnings []string
	metrics  *metrics.Metrics // nil where they are served on another address
	stopping func() bool
}

// alive says that the process answers.
func (h *health) alive(x *edge.Context) error { return plain(x, "ok\n") }

// readyTimeout is how long the store may take to show that it is there. Those
// who ask do so every few seconds.
const readyTimeout = 2 * time.Second

// ready says whether the service can do its work: 503 with the reason
// otherwise. Warnings do not keep it from its work.
func (h *health) ready(x *edge.Context) error {
	if h.stopping() {
		return edge.StoppingError()
	}
	ctx, cancel := context.WithTimeout(x.Request.Context(), readyTimeout)
	defer cancel()
	if err := h.store.Ready(ctx); err != nil {
		return err
	}
	if h.engine != nil {
		if err := h.engine.Ready(); err != nil {
			return fault.Wrap(err, fault.Unavailable, "no webhook is delivered: %s", fault.From(err).Message)
		}
	}
	text := "ready\n"
	for _, warning := range h.warnings {
		text += "warning: " + warning + "\n"
	}
	return plain(x, text)
}

func (h *health) metricsPage(x *edge.Context) error {
	if h.metrics == nil {
		return fault.New(fault.NotFound, "/metrics is served on another address")
	}
	h.metrics.Handler().ServeHTTP(x.Response, x.Request)
	return nil
}

func plain(x *edge.Context, text string) error {
	return x.Send("text/plain; charset=utf-8", []byte(text), nil)
}
