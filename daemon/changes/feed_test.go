package changes_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func (r *rig) now() string {
	r.t.Helper()
	token, err := r.feed.Now(r.t.Context(), r.kind)
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

func TestFollow(t *testing.T) {
	filled(t, 10, sorts["time"], func(t *testing.T, r *rig) {
		token := r.now()
		batch, err := r.feed.Read(t.Context(), r.kind, token, 10, 0)
		if err != nil || len(batch.Changes) > 0 || batch.Next != token {
			t.Errorf("changes since %s: %+v (%v), want none", token, batch, err)
		}

		// A follower that waits gets the changes when they are captured.
		time.Sleep(time.Second)
		r.update(3, "2.00")
		began := time.Now()
		batch, err = r.feed.Read(t.Context(), r.kind, token, 2, time.Minute)
		if err != nil || len(batch.Changes) != 2 {
			t.Fatalf("changes since %s: %+v (%v), want two", token, batch, err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the follower had the changes after %v, want at most 6s", took)
		}

		// The token is still known after a restart, which starts another epoch.
		r.restart()
		batch, err = r.feed.Read(t.Context(), r.kind, batch.Next, 10, 0)
		if err != nil || len(batch.Changes) != 1 || batch.Changes[0].ID != 3 {
			t.Fatalf("changes since the second one: %+v (%v), want the third", batch, err)
		}

		// Without changes, the follower waits for the given time, or until its context ends.
		last := batch.Next
		began = time.Now()
		batch, err = r.feed.Read(t.Context(), r.kind, last, 10, 20*time.Second)
		took := time.Since(began)
		if err != nil || len(batch.Changes) > 0 || batch.Next != last || took != 20*time.Second {
			t.Errorf("changes since the last one, with a wait of 20 s: %+v (%v) after %v, want none", batch, err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.feed.Read(ctx, r.kind, last, 10, time.Minute)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("reading with a context of a second: got the error %v, want %v",
				err, context.DeadlineExceeded)
		}
	})
}

// A daemon that does not capture looks for changes once a second.
func TestFollowOnAnotherDaemon(t *testing.T) {
	filled(t, 10, sorts["time"], func(t *testing.T, r *rig) {
		other, end := r.start(func() bool { return false })
		defer end()
		token := r.now()
		r.feed.Capturer = other
		time.Sleep(time.Second)
		r.update(1, "2.00")
		began := time.Now()
		batch, err := r.feed.Read(t.Context(), r.kind, token, 2, time.Minute)
		took := time.Since(began)
		if err != nil || len(batch.Changes) != 1 || took > 7*time.Second {
			t.Errorf("changes since %s: %+v (%v) after %v, want one within 7 s", token, batch, err, took)
		}
	})
}

// A follower that waits while this daemon stops capturing the kind finds the changes of the next
// one: it is woken, and then looks for changes once a second.
func TestFollowWhenCaptureMovesToAnotherDaemon(t *testing.T) {
	for name, stop := range map[string]func(r *rig, coordinates *atomic.Bool){
		"the lease is lost":            func(_ *rig, coordinates *atomic.Bool) { coordinates.Store(false) },
		"the kind is captured no more": func(r *rig, _ *atomic.Bool) { r.kinds = []*record.Kind{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, newTable(newKind("Item")).byTime())
				var coordinates atomic.Bool
				coordinates.Store(true)
				r.Capturer, r.end = r.start(coordinates.Load)
				defer r.end()
				r.feed.Capturer = r.Capturer
				r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
				token := r.now()
				took := make(chan time.Duration, 1)
				go func() {
					began := time.Now()
					batch, err := r.feed.Read(t.Context(), r.kind, token, 10, time.Minute)
					if err != nil || len(batch.Changes) != 1 {
						t.Errorf("changes since %s: %+v (%v), want the one of the other daemon", token, batch, err)
					}
					took <- time.Since(began)
				}()
				synctest.Wait()
				stop(r, &coordinates)
				r.until("the capture has ended", func() bool { return len(r.Status()) == 0 })
				r.publish("new")
				if d := <-took; d > 5*time.Second {
					t.Errorf("the follower had the change of the other daemon after %v, want at most 5s", d)
				}
			})
		})
	}
}

// publish writes a change as another daemon does that has taken over.
func (r *rig) publish(key string) {
	r.t.Helper()
	r.store.mu.Lock()
	r.store.fence++
	fence := r.store.fence
	r.store.mu.Unlock()
	stored, err := r.store.Begin(r.t.Context(), r.kind.Name, fence)
	if err != nil {
		r.t.Fatal(err)
	}
	deleted := delivery.CapturedChange{
		ID:        stored.Next,
		Op:        string(changes.Deleted),
		Key:       key,
		ShadowKey: []byte(key),
		Deleted:   true,
	}
	c := &delivery.Captured{Kind: r.kind.Name, Fence: fence, Changes: []delivery.CapturedChange{deleted}}
	if err := r.store.PublishCaptured(r.t.Context(), c); err != nil {
		r.t.Fatal(err)
	}
}

// Tokens of another history are refused, never continued.
func TestTokens(t *testing.T) {
	filled(t, 10, sorts["time"], func(t *testing.T, r *rig) {
		wantFault := func(name, token string, kind fault.Kind) {
			t.Helper()
			_, err := r.feed.Read(t.Context(), r.kind, token, 10, 0)
			if !fault.Is(err, kind) {
				t.Errorf("reading from the token %q (%s): got the error %v, want a fault of kind %v",
					token, name, err, kind)
			}
		}
		wantKnown := func(token string) {
			t.Helper()
			_, err := r.feed.Read(t.Context(), r.kind, token, 10, 0)
			if err != nil {
				t.Errorf("reading from the token %q: %v", token, err)
			}
		}
		withID := func(token, id string) string {
			epoch, _, _ := strings.Cut(token, "-")
			return epoch + "-" + id
		}
		for _, token := range []string{
			"",
			"x",
			"1-1",
			"0000000000000001",
			"0000000000000001-",
			"0000000000000001-01",
			"000000000000000A-1",
		} {
			wantFault("malformed", token, fault.Invalid)
		}

		first := r.now()
		wantFault("unknown epoch", "00000000000000aa-0", fault.Gone)
		wantFault("future", withID(first, "1"), fault.Gone)
		wantFault("past", withID(first, "-1"), fault.Gone)

		// Changes 1 to 5 are of the first epoch, and changes 6 to 10 of the second one.
		time.Sleep(time.Second)
		r.update(5, "2.00")
		r.until("5 changes", func() bool { return r.count() == 5 })
		last := r.now()
		r.restart()
		r.update(5, "3.00")
		r.until("10 changes", func() bool { return r.count() == 10 })
		wantFault("of the second epoch", withID(last, "6"), fault.Gone)
		wantKnown(first)
		wantKnown(last)
		wantKnown(withID(first, "3"))
		future := r.now()

		// The first three changes are pruned.
		r.store.mu.Lock()
		k := r.store.kind("Item")
		k.FirstKept = 4
		k.changes = k.changes[3:]
		r.store.mu.Unlock()
		wantFault("pruned", withID(first, "2"), fault.Gone)
		wantKnown(withID(first, "3"))

		// The own store is rolled back.
		r.end()
		k.changes = k.changes[:4]
		k.Next = 8
		k.epochs = k.epochs[:1]
		wantFault("before the restart", future, fault.Gone)
		r.run()
		wantFault("after the restart", future, fault.Gone)
		r.update(5, "4.00")
		r.sweeps(1)
		wantFault("with as many changes", future, fault.Gone)
	})
}

// A kind that is captured on demand: by a follower here or on another daemon, or by a
// subscription that names one of its events.
func TestNeed(t *testing.T) {
	const keep = time.Hour
	for name, c := range map[string]struct {
		need    func(r *rig)
		maxTime time.Duration // until the capture ends without the need
	}{
		"follower": {
			need:    func(r *rig) { _, _ = r.feed.Now(r.t.Context(), r.kind) }, // fails before the first look
			maxTime: keep,
		},
		"follower of another daemon": {need: followElsewhere, maxTime: keep},
		"subscription": {
			need:    func(r *rig) { r.named.Store(true) },
			maxTime: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := newTable(newKind("Item")).byTime()
				table.set("a", "1", "x")
				kind := *table.kind
				kind.Capture = record.CaptureOnDemand
				r := newRig(t, table)
				r.kind = &kind
				r.config.Keep = keep
				r.Capturer, r.end = r.start(nil)
				defer func() { r.end() }()
				r.feed.Capturer = r.Capturer
				time.Sleep(time.Hour)
				if n := table.readCount(); n > 0 {
					t.Fatalf("the table was read %d times without a need, want never", n)
				}

				c.need(r)
				r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
				r.sweeps(1)
				r.restartDaemon() // the need is stored
				r.until("it goes on", func() bool { return r.status().Phase == changes.Capturing })

				r.named.Store(false)
				endOfNeed := time.Now()
				r.until("it ends", func() bool { return len(r.Status()) == 0 })
				if took := time.Since(endOfNeed); took > c.maxTime {
					t.Errorf("the capture ended %v after the need, want at most %v", took, c.maxTime)
				}
				time.Sleep(2 * time.Minute)
				reads := table.readCount()
				table.set("a", "2", "x")
				time.Sleep(30 * time.Minute)
				if n := table.readCount(); n != reads {
					t.Errorf("the table was read %d times after the end of the capture, want never", n-reads)
				}
				if phase := r.stored().State.Phase; phase != changes.Idle {
					t.Errorf("the stored phase after the end is %q, want %q", phase, changes.Idle)
				}

				c.need(r)
				r.until("it continues from the shadow", func() bool { return r.count() == 1 })
				r.named.Store(false)
				time.Sleep(2*keep + 10*time.Minute)
				if r.stored().Next != 0 {
					t.Error("the shadow is kept for longer than changes.keep, want it removed")
				}
			})
		})
	}
}

// followElsewhere follows the kind on a daemon that does not capture.
func followElsewhere(r *rig) {
	other, end := r.start(func() bool { return false })
	defer end()
	time.Sleep(time.Second)
	isFirst := r.table.readCount() == 0
	_, err := changes.Feed{Capturer: other}.Now(r.t.Context(), r.kind)
	if !isFirst {
		if err != nil {
			r.t.Errorf("following on another daemon: %v", err)
		}
		return
	}
	if !fault.Is(err, fault.Unavailable) || fault.From(err).RetryAfter == 0 {
		r.t.Errorf("following on another daemon before the first look: got the error %v, want a fault of kind %v with a time to retry",
			err, fault.Unavailable)
	}
}

// Copies are exact at the token that they end with, with changes between a page and the
// look that follows it.
func TestCopies(t *testing.T) {
	for name, during := range map[string]struct{ before, after func(r *rig) }{
		"A to B to A": {
			func(r *rig) { r.table.set("k00003", "9.00", "x") },
			func(r *rig) { r.revert("k00003") },
		},
		"insert, export, delete": {
			func(r *rig) { r.table.set("new", "9.00", "x") },
			func(r *rig) { r.table.remove("new") },
		},
		"delete, export, insert": {
			func(r *rig) { r.table.remove("k00005") },
			func(r *rig) { r.revert("k00005") },
		},
		"update": {func(r *rig) { r.table.set("k00003", "9.00", "x") }, func(*rig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
				for _, key := range []string{"k00003", "k00005"} {
					r.remember(key)
				}
				token := r.now()
				time.Sleep(2 * time.Second) // between two looks
				during.before(r)
				loaded, c := r.load(token)
				during.after(r)
				if name != "update" && maps.Equal(loaded, r.table.all()) {
					t.Fatal("the load is exact by itself: the test proves nothing")
				}
				end, err := c.End(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				list := r.changes(position(t, token))
				list = slices.DeleteFunc(list, func(c feedChange) bool { return c.id > position(t, end) })
				apply(loaded, list)
				compare(t, loaded, r.table.all())
				for _, c := range list {
					wantEvent := name == "update" // the others leave the row as it was
					if hasEvent := c.event != ""; hasEvent != wantEvent {
						t.Errorf("%q has the event %q, want an event: %v", c, c.event, wantEvent)
					}
				}
				if notes, err := r.store.Noted(t.Context(), "Item", 10); err != nil || len(notes) > 0 {
					t.Errorf("%d notes remain (%v), want none", len(notes), err)
				}
			})
		})
	}
}

// remember keeps a row for revert.
func (r *rig) remember(key string) {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	if r.before == nil {
		r.before = make(map[string][]row.Cell)
	}
	r.before[key] = r.table.rows[key]
}

// revert restores a row, with all stamps.
func (r *rig) revert(key string) {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	r.table.rows[key] = r.before[key]
}

func TestCopyOfAStoppedKindFails(t *testing.T) {
	filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
		token := r.now()
		r.table.set("new", "1", "x")
		_, c := r.load(token)
		r.table.mu.Lock()
		r.table.identity = "ERP 2"
		r.table.mu.Unlock()
		if _, err := c.End(t.Context()); !fault.Is(err, fault.Stopped) {
			t.Errorf("ending the copy: got the error %v, want a fault of kind %v", err, fault.Stopped)
		}
		const unknown = "00000000000000aa-0"
		if _, err := r.feed.Copy(t.Context(), r.kind, unknown); !fault.Is(err, fault.Gone) {
			t.Errorf("a copy from the unknown token %s: got the error %v, want a fault of kind %v",
				unknown, err, fault.Gone)
		}
	})
}
