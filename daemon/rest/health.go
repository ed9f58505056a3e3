package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// health says that the process answers.
func (s *Server) health(x *edge.Context) error { return plain(x, "ok\n") }

// readyTimeout is how long the store may take to show that it is there. Those
// who ask do so every few seconds.
const readyTimeout = 2 * time.Second

// ready says whether the service can do its work: 503 with the reason
// otherwise. Warnings do not keep it from its work.
func (s *Server) ready(x *edge.Context) error {
	if s.leaving.Load() || s.admission.Stopping() {
		return edge.StoppingError()
	}
	ctx, cancel := context.WithTimeout(x.Request.Context(), readyTimeout)
	defer cancel()
	if err := s.config.Store.Ready(ctx); err != nil {
		return err
	}
	if s.config.Engine != nil {
		if err := s.config.Engine.Ready(); err != nil {
			return fault.Because(err, fault.Unavailable, "no webhook is delivered: %s", fault.Of(err).Message)
		}
	}
	text := "ready\n"
	for _, warning := range s.config.Warnings {
		text += "warning: " + warning + "\n"
	}
	return plain(x, text)
}

func (s *Server) metricsPage(x *edge.Context) error {
	if !s.config.MetricsHere {
		return fault.New(fault.NotFound, "/metrics is served on another address")
	}
	s.metrics.Handler().ServeHTTP(x.Response, x.Request)
	return nil
}

func plain(x *edge.Context, text string) error {
	x.Response.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return x.Write(http.StatusOK, []byte(text))
}
