package rest

import (
	"context"
	"sync/atomic"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// shutdown is the state of the service as it stops: it is announced, requests end their
// waiting, and no new ones are admitted.
type shutdown struct {
	admission   *edge.Admission
	announced   atomic.Bool
	waiting     context.Context // of requests that wait for changes
	stopWaiting context.CancelFunc
}

func newShutdown(a *edge.Admission) *shutdown {
	s := &shutdown{admission: a}
	s.waiting, s.stopWaiting = context.WithCancel(context.Background())
	return s
}

// isAnnounced reports whether load balancers must stop sending requests.
func (s *shutdown) isAnnounced() bool { return s.announced.Load() || s.admission.Stopping() }
