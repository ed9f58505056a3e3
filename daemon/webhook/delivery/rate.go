package delivery

import "time"

// rate limits the attempts that start in a minute: retries, probes and tests, too. It is a token
// bucket, in the form of the generic cell rate algorithm. The methods of nil, no limit, allow all.
// Nothing fails because of a rate limit, and a queue that waits for it holds no slots.
type rate struct {
	perMinute int           // of all daemons
	interval  time.Duration // between two attempts of this daemon
	burst     int           // attempts that may start at once after a while without any
	paidAt    time.Time     // when all attempts so far have got their interval
}

// set changes the limit, which is that of all daemons. The attempts so far delay the next one no
// longer than they would have under the new limit.
func (r *rate) set(perMinute, daemons int, now time.Time) {
	r.perMinute = perMinute
	r.interval = time.Minute * time.Duration(daemons) / time.Duration(perMinute)
	r.burst = max(1, perMinute/60/daemons)
	latest := now.Add(time.Duration(r.burst) * r.interval)
	if r.paidAt.After(latest) {
		r.paidAt = latest
	}
}

// useBurst leaves one attempt of the burst, which would otherwise be available after each restart.
func (r *rate) useBurst(now time.Time) {
	r.paidAt = now.Add(time.Duration(r.burst-1) * r.interval)
}

// limit returns the attempts a minute of all daemons, 0 for no limit.
func (r *rate) limit() int {
	if r == nil {
		return 0
	}
	return r.perMinute
}

// next returns when the next attempt may start, zero if one may start now.
func (r *rate) next(now time.Time) time.Time {
	if r == nil {
		return time.Time{}
	}
	free := r.paidAt.Add(-time.Duration(r.burst-1) * r.interval)
	if free.After(now) {
		return free
	}
	return time.Time{}
}

// allows reports whether an attempt may start.
func (r *rate) allows(now time.Time) bool { return r == nil || r.next(now).IsZero() }

// take counts the start of an attempt.
func (r *rate) take(now time.Time) {
	if r == nil {
		return
	}
	if r.paidAt.Before(now) {
		r.paidAt = now
	}
	r.paidAt = r.paidAt.Add(r.interval)
}

// putBack reverses take for an attempt that sent no request.
func (r *rate) putBack() {
	if r != nil {
		r.paidAt = r.paidAt.Add(-r.interval)
	}
}

// rateInterval is the time between two readings of the default limit, which a reload changes.
const rateInterval = 2 * time.Second

// limitRate sets the rate limit of a queue: that of its subscription, or the default. All messages
// of a subscription with an order are sent by one daemon. The lock is held.
func (s *queueSet) limitRate(q *queue) {
	perMinute := s.defaultRate
	daemons := s.daemons
	if q.sub != nil {
		if q.sub.MaxPerMinute > 0 {
			perMinute = q.sub.MaxPerMinute
		}
		if q.inOrder() {
			daemons = 1
		}
	}
	if perMinute <= 0 {
		q.rate = nil
		return
	}
	now := s.clock.Now()
	isNew := q.rate == nil
	if isNew {
		q.rate = new(rate)
	}
	q.rate.set(perMinute, daemons, now)
	if isNew {
		q.rate.useBurst(now)
	}
}

// setDefaultRate sets the rate limit of the subscriptions without one of their own; 0 is no limit.
func (s *queueSet) setDefaultRate(perMinute int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.defaultRate == perMinute {
		return
	}
	s.defaultRate = perMinute
	for _, q := range s.byID {
		s.limitRate(q)
		s.schedule(q)
	}
	s.dispatch()
}

// rateWait returns how long the rate limit of a subscription delays its next attempt, 0 if it does
// not.
func (s *queueSet) rateWait(subscription int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byID[subscription]
	if q == nil {
		return 0
	}
	now := s.clock.Now()
	next := q.rate.next(now)
	if next.IsZero() {
		return 0
	}
	return next.Sub(now)
}
