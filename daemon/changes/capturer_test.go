package changes_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
)

// onDemand returns a rig for a kind that is captured on demand, with a daemon that captures and
// the feed of another one. end ends both daemons.
func onDemand(t *testing.T) (r *rig, end func()) {
	table := newTable(newKind("Item")).byTime()
	table.kind.Capture = record.CaptureOnDemand
	r = newRig(t, table)
	r.config.Keep = time.Hour
	r.Capturer, r.end = r.start(nil)
	other, endOther := r.start(func() bool { return false })
	r.feed.Capturer = other
	time.Sleep(time.Second)
	return r, func() {
		r.end()
		endOther()
	}
}

// A need that could not be noted is noted with the next request.
func TestNeedIsNotedAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := onDemand(t)
		defer end()
		r.store.mu.Lock()
		r.store.noting = failing(1)
		r.store.mu.Unlock()
		if _, err := r.feed.Now(t.Context(), r.kind); err == nil || fault.From(err).Message != "the store does not reply" {
			t.Errorf("the first request failed with %v, want the failure of the store", err)
		}
		time.Sleep(100 * time.Millisecond)
		_, _ = r.feed.Now(t.Context(), r.kind) // the first look has not ended
		time.Sleep(10 * time.Second)
		if n := len(r.Status()); n != 1 {
			t.Errorf("%d kinds are captured after the second request, want 1", n)
		}
	})
}

// Requests that follow each other quickly are noted too, at intervals: otherwise the capture would
// end while they need it.
func TestNeedOfManyRequestsIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := onDemand(t)
		defer end()
		for range 2 * int(r.config.Keep/time.Second) {
			_, _ = r.feed.Now(t.Context(), r.kind) // the first look has not ended at first
			time.Sleep(time.Second)
		}
		if phase := r.status().Phase; phase != changes.Capturing {
			t.Errorf("after requests for %v, the phase is %q, want %q", 2*r.config.Keep, phase, changes.Capturing)
		}
	})
}

// 100 kinds without changes: the statements of some minutes.
func TestIdleCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tables := make([]*table, 100)
		kinds := make([]*record.Kind, 100)
		source := make(sources)
		for i := range kinds {
			kinds[i] = newKind(fmt.Sprint("Kind", i))
			tables[i] = newTable(kinds[i]).byVersion()
			tables[i].set("a", "1", "x")
			source[kinds[i].Name] = tables[i]
		}
		r := newRig(t, tables[0])
		r.config.Share = 0.1
		r.kinds = kinds
		r.source = source
		r.Capturer, r.end = r.start(nil)
		defer r.end()
		time.Sleep(5 * time.Minute)
		if n := len(r.Status()); n != 100 {
			t.Errorf("%d kinds are captured, want 100", n)
		}

		const minutes = 15
		count := func() (reads, identified int) {
			for _, t := range tables {
				t.mu.Lock()
				reads += t.reads
				identified += t.identified
				t.mu.Unlock()
			}
			return reads, identified
		}
		readsBefore, identifiedBefore := count()
		time.Sleep(minutes * time.Minute)
		reads, identified := count()
		reads -= readsBefore
		identified -= identifiedBefore
		if reads < 100*(minutes-1) || reads > 100*(minutes+1) {
			t.Errorf("%d reads of 100 kinds in %d minutes, want one sweep a minute and no poll", reads, minutes)
		}
		maxIdentified := minutes*60*2 + 100*(minutes+1) // by polls, which share readings, and by each sweep
		if identified > maxIdentified {
			t.Errorf("%d readings of the database in %d minutes, want at most %d", identified, minutes, maxIdentified)
		}
		t.Log(reads, "reads,", identified, "readings of the database")
	})
}
