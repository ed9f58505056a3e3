package changes

import (
	"sync"
	"time"
)

// Limits of the credit of reading.
const (
	maxCredit = 500 * time.Millisecond
	pollDebt  = time.Second // that polls may leave to sweeps
)

// share limits the time of all reading to a share of the time. Reading is done on credit,
// which grows with time.
type share struct {
	limit func() float64

	mu     sync.Mutex
	credit time.Duration
	at     time.Time
}

// wait returns how long to wait before the next read. Polls, which are short and urgent,
// may begin with a debt.
func (s *share) wait(poll bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.limit()
	now := time.Now()
	if !s.at.IsZero() {
		s.credit = min(s.credit+time.Duration(float64(now.Sub(s.at))*limit), maxCredit)
	}
	s.at = now
	lacking := -s.credit
	if poll {
		lacking -= pollDebt
	}
	if lacking <= 0 {
		return 0
	}
	return time.Duration(float64(lacking)/limit) + time.Millisecond
}

func (s *share) spend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credit -= d
}
