package webhook

import "time"

// Lane is how deliveries to one subscription stand.
type Lane struct {
	Subscription *Subscription
	FailingSince time.Time // since when every attempt has failed, the zero time for one that succeeds
	Underway     int       // attempts
	Limit        int       // of these, at present
	InMemory     int       // messages
	Failures     int       // in a row that speak of the endpoint
	Open         bool      // the breaker: only probes are sent
	Probe        time.Time // when the next one may go out
	Next         time.Time // when something is to be done for the lane, the zero time for nothing or at once
	NotSent      int64
	RetryPending int64
	Oldest       time.Time // of the open messages
	Traffic      Traffic   // within the last minutes
	P99          time.Duration
	Last         Failure
}

// tells reports whether there is anything to say of the lane.
func (l *Lane) tells() bool {
	return l.Traffic != Traffic{} || l.NotSent+l.RetryPending > 0 || l.Underway > 0 || l.severity() > 0
}

// severity says how bad a lane is off: 3 where its endpoint is only probed, 2
// where it was disabled by the service or something waits in vain, 1 where it
// has failed since the last success.
func (l *Lane) severity() int {
	switch sub := l.Subscription; {
	case l.Open && sub.Enabled:
		return 3
	case !sub.Enabled && l.NotSent+l.RetryPending > 0:
		return 2
	case !l.FailingSince.IsZero() && sub.Enabled:
		return 1
	}
	return 0
}
