package changes

import (
	"sync"
	"time"
)

// Limits of the credit of reading.
const (
	maxCredit = 500 * time.Millisecond

	// Polls are short and urgent: they may leave a debt to sweeps.
	pollDebt  = time.Second
	sweepDebt = 0
)

// share limits the time of all reading to a share of the time. Reading is done on credit,
// which grows with time.
type share struct {
	limit func() float64 // from 0 to 1

	mu      sync.Mutex
	credit  time.Duration // negative: a debt
	updated time.Time     // when credit was increased last
}

// wait returns how long to wait before the next read, which may start with a debt of up to maxDebt.
func (s *share) wait(maxDebt time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.limit()
	now := time.Now()
	if !s.updated.IsZero() {
		earned := time.Duration(float64(now.Sub(s.updated)) * limit)
		s.credit = min(s.credit+earned, maxCredit)
	}
	s.updated = now
	lacking := -s.credit - maxDebt
	if lacking <= 0 {
		return 0
	}
	return time.Duration(float64(lacking)/limit) + time.Millisecond
}

// spend takes the time of a read from the credit.
func (s *share) spend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credit -= d
}
