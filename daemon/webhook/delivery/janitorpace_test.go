package delivery_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// slowWriter is a store with removals that keep the writer for a time of the simulated clock. Whether
// a step has written is decided by the file, not by the report of the step.
type slowWriter struct {
	delivery.Store
	t    *testing.T
	conn *sqlite.Conn
	took time.Duration // by a step that writes

	mu    sync.Mutex
	steps []removalStep
}

// removalStep is a step of a removal.
type removalStep struct {
	call    deliverytest.Call
	limit   int
	started time.Time
	ended   time.Time
	wrote   bool
}

func (s *slowWriter) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	return s.step(deliverytest.Sweep, limit, func() (delivery.Removed, error) { return s.Store.Sweep(ctx, limit) })
}

func (s *slowWriter) RemoveMinutes(ctx context.Context, before int64, limit int) (delivery.Removed, error) {
	return s.step(deliverytest.RemoveMinutes, limit, func() (delivery.Removed, error) {
		return s.Store.RemoveMinutes(ctx, before, limit)
	})
}

func (s *slowWriter) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	return s.step(deliverytest.Prune, p.Limit, func() (delivery.Removed, error) { return s.Store.Prune(ctx, p) })
}

func (s *slowWriter) Reclaim(ctx context.Context, limit int, max int64) (delivery.Removed, error) {
	return s.step(deliverytest.Reclaim, limit, func() (delivery.Removed, error) {
		return s.Store.Reclaim(ctx, limit, max)
	})
}

// step runs a step and records it.
func (s *slowWriter) step(
	call deliverytest.Call, limit int, run func() (delivery.Removed, error),
) (delivery.Removed, error) {
	step := removalStep{call: call, limit: limit, started: time.Now()}
	before := s.version()
	r, err := run()
	step.wrote = s.version() != before
	if step.wrote {
		time.Sleep(s.took)
		r.Took += s.took
	}
	step.ended = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
	return r, err
}

// version returns a number that changes with each transaction that writes to the file.
func (s *slowWriter) version() int64 {
	var version int64
	err := s.conn.Query("PRAGMA data_version", func(row *sqlite.Stmt) error {
		version = row.Int(0)
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return version
}

// all returns the steps so far.
func (s *slowWriter) all() []removalStep {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps)
}

// ofCall returns the steps of a call that have written.
func (s *slowWriter) ofCall(call deliverytest.Call) []removalStep {
	return slices.DeleteFunc(s.all(), func(step removalStep) bool {
		return step.call != call || !step.wrote
	})
}

// Numbers of obsolete rows in withSlowWriter.
const (
	obsoleteRows = 3000 // of each of two tables
	textSize     = 4000 // bytes of a response text
)

// withSlowWriter runs a test with an engine that removes response texts, minutes and the pages
// that these have used.
func withSlowWriter(t *testing.T, took time.Duration, test func(x *simulation, s *slowWriter)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) `
		x.exec(fmt.Sprintf(`INSERT INTO WH_ResponseText (TextHash, UsedDateTime, Size, Text) `+numbers+
			`SELECT n, '1990-01-01T00:00:00.0000000', %d, printf('%%%dd', n) FROM numbers`, obsoleteRows, textSize, textSize))
		x.exec(fmt.Sprintf(`INSERT INTO WH_DeliveryMinute `+numbers+
			`SELECT n, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL FROM numbers`, obsoleteRows))
		conn, err := sqlite.Open(filepath.Join(x.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: testTimeout})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		s := &slowWriter{t: t, conn: conn, took: took}
		x.startEngine(func(c *delivery.Config) {
			s.Store = c.Store
			c.Store = s
			c.Retention = func() webhook.Retention { return webhook.Retention{Successful: time.Hour} }
		})
		test(x, s)
		x.stop(testTimeout)
	})
}

// TestEveryRemovalLimitsWriterTime checks that each step that writes leaves 96 % of the writer's
// time to publishers at first and 75 % in a long removal, of all kinds.
func TestEveryRemovalLimitsWriterTime(t *testing.T) {
	withSlowWriter(t, 2*time.Millisecond, func(x *simulation, s *slowWriter) {
		x.advance(30 * time.Minute)
		x.expect("WH_ResponseText", 0)
		x.expect("WH_DeliveryMinute", 0)
		for _, call := range []deliverytest.Call{deliverytest.RemoveMinutes, deliverytest.Reclaim} {
			if n := len(s.ofCall(call)); n < 5 {
				t.Errorf("%s has written in %d steps, want at least 5", call, n)
			}
		}
		sinceStart := 0 // number of steps since the start of this removal
		steps := s.all()
		for i, step := range steps[:len(steps)-1] {
			next := steps[i+1]
			factor := time.Duration(3)
			if sinceStart < 32 {
				factor = 24
			}
			pause := next.started.Sub(step.ended)
			if step.wrote && pause < factor*s.took {
				t.Errorf("the pause after step %d, a %s that took %v, is %v, want at least %v",
					i+1, step.call, s.took, pause, factor*s.took)
				break
			}
			sinceStart++
			if next.call != step.call {
				sinceStart = 0
			}
		}
	})
}

// TestStepsOfEveryRemovalGrow checks that the limit of rows grows while steps of the maximum number
// of rows are fast, and shrinks while they are slow, for all kinds.
func TestStepsOfEveryRemovalGrow(t *testing.T) {
	calls := []deliverytest.Call{deliverytest.RemoveMinutes, deliverytest.Reclaim}
	withSlowWriter(t, 100*time.Microsecond, func(x *simulation, s *slowWriter) {
		x.advance(30 * time.Minute)
		for _, call := range calls {
			steps := s.ofCall(call)
			if first, last := steps[0].limit, steps[len(steps)-1].limit; last <= first {
				t.Errorf("the limit of fast steps of %s went from %d to %d rows, want more", call, first, last)
			}
		}
	})
	withSlowWriter(t, 20*time.Millisecond, func(x *simulation, s *slowWriter) {
		x.advance(30 * time.Minute)
		steps := s.ofCall(deliverytest.RemoveMinutes)
		if first, last := steps[0].limit, steps[len(steps)-1].limit; last >= first {
			t.Errorf("the limit of slow steps went from %d to %d rows, want fewer", first, last)
		}
	})
}

// TestRemovedSubscriptionInterruptsReclaim checks that a subscription that is deleted while response
// texts are removed is swept next, and that the texts are removed afterwards.
func TestRemovedSubscriptionInterruptsReclaim(t *testing.T) {
	withSlowWriter(t, 2*time.Millisecond, func(x *simulation, s *slowWriter) {
		gone := x.subscribe("http://127.0.0.1/hook", "*")
		for len(s.ofCall(deliverytest.Reclaim)) < 3 {
			x.advance(time.Millisecond)
		}
		removedAt := time.Now()
		x.removeSubscription(gone)
		x.advance(30 * time.Minute)
		later := slices.DeleteFunc(s.all(), func(step removalStep) bool {
			return step.started.Before(removedAt)
		})
		sweep := slices.IndexFunc(later, func(step removalStep) bool { return step.call == deliverytest.Sweep })
		if sweep < 0 || sweep > 1 {
			t.Errorf("step %d after the removal is Sweep, want the first or the second one", sweep+1)
		}
		x.expect("WH_ResponseText", 0)
	})
}
