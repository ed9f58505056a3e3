package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
	"pgregory.net/rapid"
)

// TestBatchSizeAdapts checks that the batch size grows as far as the target duration allows,
// within its bounds, and stays there.
func TestBatchSizeAdapts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]pace{filePace, serverPace}).Draw(t, "batch size")
		row := time.Duration(rapid.Int64Range(0, int64(10*time.Millisecond)).Draw(t, "time per row"))
		begin := time.Duration(rapid.Int64Range(0, int64(s.target)).Draw(t, "fixed time per step"))
		for range 40 {
			before := s.rows
			took := begin + time.Duration(before)*row
			s.adjust(Removed{Rows: before, Took: took})
			if s.rows < s.min || s.rows > s.max {
				t.Fatalf("the batch size is %d rows, want %d to %d", s.rows, s.min, s.max)
			}
			if took > s.target && s.rows > before {
				t.Fatalf("the batch size grew from %d rows, which took %v, to %d", before, took, s.rows)
			}
			if took < s.target && s.rows < before {
				t.Fatalf("the batch size shrank from %d rows, which took %v, to %d", before, took, s.rows)
			}
		}
		took := begin + time.Duration(s.rows)*row
		if took > 2*s.target && s.rows > s.min {
			t.Fatalf("steps of %d rows take %v, want at most twice %v", s.rows, took, s.target)
		}
	})
}

// TestBatchSizeAfterSmallSteps checks that a step that had little to do does not increase the
// batch size; one that took long nevertheless decreases it.
func TestBatchSizeAfterSmallSteps(t *testing.T) {
	s := filePace
	s.adjust(Removed{Rows: 3, Took: time.Microsecond})
	if s != filePace {
		t.Errorf("after a step of 3 rows: got %+v, want %+v", s, filePace)
	}
	s.adjust(Removed{Rows: 3, Took: time.Second})
	if s.rows != filePace.rows/2 {
		t.Errorf("after a step that took long: got %d rows, want %d", s.rows, filePace.rows/2)
	}
}

// TestPausesShorten checks that pauses are long at first and get shorter in a long removal,
// down to a minimum. The pause after a step that has only read is as long as the step.
func TestPausesShorten(t *testing.T) {
	for _, s := range []pace{filePace, serverPace} {
		r := Removed{Rows: 100, Took: 2 * time.Millisecond}
		before := s.pause(0, r, time.Second)
		if want := time.Duration(s.pauseFactor) * r.Took; before != want {
			t.Errorf("the first pause is %v, want %v", before, want)
		}
		for n := range 10 * speedUpSteps {
			pause := s.pause(n, r, time.Second)
			if pause > before {
				t.Fatalf("pause %d is %v, longer than the one before, of %v", n, pause, before)
			}
			before = pause
		}
		if want := minPauseFactor * r.Took; before != want {
			t.Errorf("the last pause is %v, want %v", before, want)
		}
		if pause := s.pause(500, Removed{}, time.Second); pause != time.Second {
			t.Errorf("the pause after reading for a second is %v, want a second", pause)
		}
	}
}

// agingStore has old messages, with more added each second. Removing them takes time
// during which publishers would wait.
type agingStore struct {
	Store
	began   time.Time
	backlog int           // initial number of messages
	rate    int           // messages added per second
	row     time.Duration // time to remove one
	removed int
	busy    time.Duration
}

func (s *agingStore) Prune(_ context.Context, p Prune) (Removed, error) {
	added := int(time.Since(s.began).Seconds() * float64(s.rate))
	n := min(p.Limit, s.backlog+added-s.removed)
	took := time.Duration(n) * s.row
	time.Sleep(took)
	s.removed += n
	s.busy += took
	return Removed{Rows: n, Took: took, More: true}, nil
}

// TestPruningLimitsWriterTime checks that a long removal leaves three quarters of the writer's time
// to publishers, on a fast disk and on a slow one, and still removes more than 5,000 deliveries
// add per second.
func TestPruningLimitsWriterTime(t *testing.T) {
	const rate = 5000
	for _, row := range []time.Duration{8 * time.Microsecond, 40 * time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			s := &agingStore{began: time.Now(), backlog: 10_000_000, rate: rate, row: row}
			config := &Config{
				Store:     s,
				Attempts:  1,
				Retention: func() webhook.Retention { return webhook.Retention{Successful: time.Hour} },
			}
			c := new(clock)
			core := &core{Config: config, clock: c, queues: newQueueSet(config, c), recorder: stats.NewRecorder()}
			j := &janitor{core: core, pace: filePace}
			j.scan.retention = config.Retention()
			const span = 5 * time.Minute
			ctx, cancel := context.WithTimeout(t.Context(), span)
			defer cancel()
			if err := j.repeat(ctx, j.prune); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			if share := s.busy.Seconds() / span.Seconds(); share > 0.251 {
				t.Errorf("rows of %v: removals use %.0f %% of the time, want at most 25 %%", row, 100*share)
			}
			if added := rate * int(span.Seconds()); s.removed <= added {
				t.Errorf("rows of %v: %d were removed, want more than the %d that were added", row, s.removed, added)
			}
		})
	}
}

// laterStore has many messages, none of which are old.
type laterStore struct {
	Store
	calls []Prune
}

func (s *laterStore) Prune(_ context.Context, p Prune) (Removed, error) {
	s.calls = append(s.calls, p)
	r := Removed{Last: p.After}
	if !p.SkipBlocks {
		r.Beyond = p.After + 5000
	}
	return r, nil
}

// TestScanSkipsLaterMessages checks that the daily scan does not read all messages to find old ones
// behind later ones.
func TestScanSkipsLaterMessages(t *testing.T) {
	s := &laterStore{}
	config := &Config{
		Store:     s,
		Attempts:  1,
		Retention: func() webhook.Retention { return webhook.Retention{Successful: time.Hour} },
	}
	c := new(clock)
	core := &core{Config: config, clock: c, queues: newQueueSet(config, c), recorder: stats.NewRecorder()}
	j := &janitor{core: core, pace: filePace}
	j.continueScan()
	for _, remove := range []removal{j.prune, j.pruneBeyond, j.pruneBeyond} {
		r, err := remove(t.Context())
		if err != nil || r.More {
			t.Errorf("got %+v and the error %v, want an end", r, err)
		}
	}
	if len(s.calls) != 2 || !s.calls[1].SkipBlocks || s.calls[1].After != 5000 || s.calls[1].Now.IsZero() {
		t.Errorf("got the calls %+v, want one that reads messages, and one that skips blocks after 5000", s.calls)
	}
}
