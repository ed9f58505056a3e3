package rest

import (
	"net/http"

	"github.com/bizhook/whd/daemon/fault"
)

// health says that the process answers.
func (s *Server) health(x *exchange) error { return x.plain("ok\n") }

// ready says whether the service can do its work: 503 with the reason
// otherwise.
func (s *Server) ready(x *exchange) error {
	if s.admission.stopping.Load() {
		return errStopping()
	}
	if err := s.Store.Ready(x.r.Context()); err != nil {
		return err
	}
	return x.plain("ready\n")
}

func (s *Server) metricsPage(x *exchange) error {
	if !s.MetricsHere {
		return fault.New(fault.NotFound, "/metrics is served on another address")
	}
	s.metrics.page.ServeHTTP(x.w, x.r)
	return nil
}

func (x *exchange) plain(text string) error {
	x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return x.write(http.StatusOK, []byte(text))
}
