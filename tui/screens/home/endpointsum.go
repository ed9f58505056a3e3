package home

import "github.com/bizhook/whd/client/wire"

// endpointSum is the sum of endpoints.
type endpointSum struct {
	deliveries
	count    int
	attempts []int64 // by steps of a sparkline
}

// sum returns the sum of the endpoints that are not in trouble.
func (e endpointList) sum() endpointSum {
	totals := e.overview.Stats.Totals
	sum := endpointSum{
		deliveries: deliveries{
			delivered: totals.Delivered,
			retried:   totals.Failed,
			givenUp:   totals.GivenUp,
		},
		count:    e.overview.untroubledCount(e.troubled),
		attempts: make([]int64, sparkCells),
	}
	for _, q := range e.overview.Stats.Queues {
		sum.retrying += q.RetryPending
		sum.addAttempts(q, 1)
	}
	for _, q := range e.troubled {
		sum.subtract(q)
	}
	return sum
}

// subtract removes the deliveries of an endpoint.
func (s *endpointSum) subtract(q wire.Queue) {
	s.delivered -= q.Delivered
	s.retried -= q.Failed
	s.givenUp -= q.GivenUp
	s.retrying -= q.RetryPending
	s.addAttempts(q, -1)
}

// addAttempts adds a multiple of the attempts of an endpoint. The last ones are those of the last
// minutes.
func (s *endpointSum) addAttempts(q wire.Queue, factor int64) {
	for i := range min(len(q.Attempts), sparkCells) {
		s.attempts[sparkCells-1-i] += factor * q.Attempts[len(q.Attempts)-1-i]
	}
}
