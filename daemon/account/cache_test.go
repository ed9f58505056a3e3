package account

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/singleflight"
)

func TestCache(t *testing.T) {
	c, now, fetched := newTestCache(5*time.Second), day, 0
	load := func(name string, value *int, err error) (*int, error) {
		return loadBy(t.Context(), c, name, now, func() (*int, error) { fetched++; return value, err })
	}
	expect := func(what string, got *int, err error, want *int, wantFetched int) {
		t.Helper()
		if got != want || err != nil || fetched != wantFetched {
			t.Errorf("%s: got %v (%v) after %d fetches, want %v after %d", what, got, err, fetched, want, wantFetched)
		}
	}
	one, two := new(1), new(2)
	if _, err := load("a", one, errors.New("down")); err == nil {
		t.Error("an error is lost")
	}
	got, err := load("a", one, nil)
	expect("an error is not remembered", got, err, one, 2)
	got, err = load("a", two, nil)
	expect("remembered", got, err, one, 2)
	got, err = load("b", nil, nil)
	expect("another", got, err, nil, 3)
	got, err = load("b", two, nil)
	expect("nothing is remembered too", got, err, nil, 3)
	now = now.Add(5*time.Second - 1)
	got, err = load("a", two, nil)
	expect("nearly five seconds", got, err, one, 3)
	now = now.Add(1)
	got, err = load("a", two, nil)
	expect("five seconds", got, err, two, 4)
	c.forget(func(name string, _ *int) bool { return name == "a" })
	got, err = load("a", one, nil)
	expect("forgotten", got, err, one, 5)
}

// What was read before a change and arrives after it is old.
func TestCacheKeepsNothingOld(t *testing.T) {
	c, old, fresh := newTestCache(time.Minute), new(1), new(2)
	got, err := loadBy(t.Context(), c, "a", day, func() (*int, error) {
		c.forget(func(string, *int) bool { return true })
		return old, nil
	})
	if err != nil || got != old {
		t.Fatal(got, err)
	}
	if got, _ = loadBy(t.Context(), c, "a", day, func() (*int, error) { return fresh, nil }); got != fresh {
		t.Error("the old value was kept")
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newTestCache(time.Minute)
	for i := range maxCached + 500 {
		c.put(fmt.Sprint(i), nil, day, 0)
	}
	if c.entries.Len() != maxCached {
		t.Errorf("%d entries, want %d", c.entries.Len(), maxCached)
	}
	c.put("later", nil, day.Add(time.Hour), 0)
	if c.entries.Len() != 1 {
		t.Errorf("%d entries an hour later, want 1", c.entries.Len())
	}
}

func TestLedger(t *testing.T) {
	l := newPendingTimes()
	at := func(minutes int) time.Time { return day.Add(time.Duration(minutes) * time.Minute) }
	expect := func(what string, want time.Time) {
		t.Helper()
		if got := l.latest("a"); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("nothing", time.Time{})
	l.record("a", at(2))
	l.record("a", at(1))
	expect("times do not go back", at(2))
	taken := l.all()
	if len(taken) != 1 || !taken["a"].Equal(at(2)) {
		t.Errorf("took %v", taken)
	}
	expect("while it is written, and after a failure", at(2))
	l.record("a", at(3))
	l.stored(taken)
	expect("noted while another was written", at(3))
	l.stored(l.all())
	expect("written", time.Time{})
	if taken := l.all(); len(taken) != 0 {
		t.Errorf("took %v again", taken)
	}
	l.record("a", at(4))
	l.drop("a")
	expect("dropped", time.Time{})
}

// Those who share a check must not hang when it panics.
func TestFlightSurvivesPanic(t *testing.T) {
	flights := new(singleflight.Group)
	inside, release := make(chan struct{}), make(chan struct{})
	go func() {
		defer func() { _ = recover() }()
		share(t.Context(), flights, "a", "gone", func() (*User, error) { close(inside); <-release; panic("bad") })
	}()
	<-inside
	done := make(chan *User)
	go func() {
		u, err := share(t.Context(), flights, "a", "gone", func() (*User, error) { return &User{Name: "Ann"}, nil })
		if err != nil {
			t.Error(err)
		}
		done <- u
	}()
	close(release)
	if u := <-done; u == nil || u.Name != "Ann" {
		t.Errorf("got %+v", u)
	}
}

// The check runs in a goroutine of its own: what the caller's panic says has the
// stack of that, and the log with it.
func TestPanicKeepsItsStack(t *testing.T) {
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.HasPrefix(text, "bad\n") || !strings.Contains(text, "checkThatPanics") {
			t.Errorf("the panic says: %s", text)
		}
	}()
	share(t.Context(), new(singleflight.Group), "a", "gone", checkThatPanics)
}

func checkThatPanics() (*User, error) { panic("bad") }
