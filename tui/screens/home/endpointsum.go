package home

import "github.com/bizhook/whd/client/wire"

// endpointSum is the traffic of several endpoints.
type endpointSum struct {
	deliveries
	attempts []int64 // by steps of a sparkline
}

// sumOf adds up the traffic of endpoints. If the service has left out some, their traffic is added.
func sumOf(stats *wire.Stats, queues []wire.Queue) endpointSum {
	sum := endpointSum{attempts: make([]int64, sparkCells)}
	for _, q := range queues {
		sum.deliveries.add(deliveriesOf(q))
		sum.addAttempts(q)
	}
	if stats.OtherQueues > 0 {
		sum.deliveries.add(omitted(stats))
	}
	return sum
}

// addAttempts adds the attempts of an endpoint. The last ones are those of the last minutes.
func (s *endpointSum) addAttempts(q wire.Queue) {
	for i := range min(len(q.Attempts), sparkCells) {
		s.attempts[sparkCells-1-i] += q.Attempts[len(q.Attempts)-1-i]
	}
}

// omitted returns the deliveries of the endpoints that the service has left out: the totals without
// those that it lists. They include deliveries of removed subscriptions, which are in the totals
// only. Deliveries that ended after the totals were read, and before the endpoints, are left out.
func omitted(stats *wire.Stats) deliveries {
	d := deliveries{
		delivered: stats.Totals.Delivered,
		retried:   stats.Totals.Failed,
		givenUp:   stats.Totals.GivenUp,
	}
	for _, q := range stats.Queues {
		d.delivered -= q.Delivered
		d.retried -= q.Failed
		d.givenUp -= q.GivenUp
	}
	return deliveries{
		delivered: max(0, d.delivered),
		retried:   max(0, d.retried),
		givenUp:   max(0, d.givenUp),
	}
}
