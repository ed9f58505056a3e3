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
	c := newTestCache(5 * time.Second)
	now := day
	fetched := 0
	load := func(name string, value *int, err error) (*int, error) {
		return loadBy(t.Context(), c, name, now, func() (*int, error) {
			fetched++
			return value, err
		})
	}
	expect := func(step string, got *int, err error, want *int, wantFetched int) {
		t.Helper()
		if got != want || err != nil || fetched != wantFetched {
			t.Errorf("%s: got %v (%v) after %d fetches, want %v after %d",
				step, got, err, fetched, want, wantFetched)
		}
	}
	first := new(1)
	second := new(2)
	if _, err := load("a", first, errors.New("down")); err == nil {
		t.Error("load returns no error, want that of find")
	}
	got, err := load("a", first, nil)
	expect("errors are not cached", got, err, first, 2)
	got, err = load("a", second, nil)
	expect("a value is cached", got, err, first, 2)
	got, err = load("b", nil, nil)
	expect("another name", got, err, nil, 3)
	got, err = load("b", second, nil)
	expect("a missing value is cached", got, err, nil, 3)
	now = now.Add(5*time.Second - 1)
	got, err = load("a", second, nil)
	expect("just before the ttl", got, err, first, 3)
	now = now.Add(1)
	got, err = load("a", second, nil)
	expect("after the ttl", got, err, second, 4)
	c.forget(func(name string, _ *int) bool { return name == "a" })
	got, err = load("a", first, nil)
	expect("after forget", got, err, first, 5)
}

// TestOutdatedLookupIsNotCached checks that a look-up that started before a change and ends
// after it is not cached.
func TestOutdatedLookupIsNotCached(t *testing.T) {
	c := newTestCache(time.Minute)
	old, fresh := new(1), new(2)
	got, err := loadBy(t.Context(), c, "a", day, func() (*int, error) {
		c.forget(func(string, *int) bool { return true })
		return old, nil
	})
	if err != nil || got != old {
		t.Fatal(got, err)
	}
	got, _ = loadBy(t.Context(), c, "a", day, func() (*int, error) { return fresh, nil })
	if got != fresh {
		t.Error("the outdated value was cached")
	}
}

func TestCacheSizeIsLimited(t *testing.T) {
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

func TestPendingTimes(t *testing.T) {
	l := newPendingTimes()
	at := func(minutes int) time.Time { return day.Add(time.Duration(minutes) * time.Minute) }
	expect := func(step string, want time.Time) {
		t.Helper()
		if got := l.latest("a"); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
	}
	expect("initially", time.Time{})
	l.record("a", at(2))
	l.record("a", at(1))
	expect("an earlier time is ignored", at(2))
	pending := l.all()
	if len(pending) != 1 || !pending["a"].Equal(at(2)) {
		t.Errorf("all returns %v, want a: %v", pending, at(2))
	}
	expect("until stored is called", at(2))
	l.record("a", at(3))
	l.stored(pending)
	expect("a later time recorded before stored", at(3))
	l.stored(l.all())
	expect("after stored", time.Time{})
	if pending := l.all(); len(pending) != 0 {
		t.Errorf("all returns %v after stored, want none", pending)
	}
	l.record("a", at(4))
	l.drop("a")
	expect("after drop", time.Time{})
}

// TestShareAfterPanic checks that callers that wait for shared work do not hang if it panics.
func TestShareAfterPanic(t *testing.T) {
	flights := new(singleflight.Group)
	inside := make(chan struct{})
	release := make(chan struct{})
	go func() {
		defer func() { _ = recover() }()
		share(t.Context(), flights, "a", "gone", func() (*User, error) {
			close(inside)
			<-release
			panic("bad")
		})
	}()
	<-inside
	done := make(chan *User)
	go func() {
		u, err := share(t.Context(), flights, "a", "gone", func() (*User, error) {
			return &User{Name: "Ann"}, nil
		})
		if err != nil {
			t.Error(err)
		}
		done <- u
	}()
	close(release)
	if u := <-done; u == nil || u.Name != "Ann" {
		t.Errorf("the caller that waited: got %+v, want Ann", u)
	}
}

// TestSharePanicHasStackOfWork checks that the caller's panic contains the stack of the
// goroutine in which shared work runs, so that it is logged.
func TestSharePanicHasStackOfWork(t *testing.T) {
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.HasPrefix(text, "bad\n") || !strings.Contains(text, "panickingWork") {
			t.Errorf("the panic value is: %s", text)
		}
	}()
	share(t.Context(), new(singleflight.Group), "a", "gone", panickingWork)
}

func panickingWork() (*User, error) { panic("bad") }
