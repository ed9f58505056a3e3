package datadir_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/datadir"
)

// wantInUse expects ErrInUse with a text.
func wantInUse(t *testing.T, did string, err error, want string) {
	t.Helper()
	if !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got error %v, want ErrInUse with %q", did, err, want)
	}
}

func TestLocks(t *testing.T) {
	dir := t.TempDir()
	first, err := datadir.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := datadir.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*datadir.Lock{first, second} {
		_, err := datadir.LockExclusive(dir)
		wantInUse(t, "an exclusive lock with shared ones", err, "stop it first")
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}

	exclusive, err := datadir.LockExclusive(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = datadir.LockShared(dir)
	wantInUse(t, "a shared lock with an exclusive one", err,
		"being replaced by whd restore or whd store copy, or rewritten by whd compact")
	_, err = datadir.LockExclusive(dir)
	wantInUse(t, "a second exclusive lock", err, "")
	for range 2 {
		if err := exclusive.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServe checks that one daemon at a time serves a directory, and that errors contain its
// description. Commands are not affected.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	first, err := datadir.LockServing(dir, "pid 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Describe("pid 1, listening on 127.0.0.1:5050"); err != nil {
		t.Fatal(err)
	}
	_, err = datadir.LockServing(dir, "pid 2")
	wantInUse(t, "a second daemon", err,
		"another whd serves "+dir+" (pid 1, listening on 127.0.0.1:5050)")

	command, err := datadir.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = datadir.LockExclusive(dir)
	wantInUse(t, "an exclusive lock while a daemon serves", err,
		"; stop it first (the last daemon there was pid 1, listening on 127.0.0.1:5050)")
	if err := errors.Join(command.Release(), first.Release()); err != nil {
		t.Fatal(err)
	}
	next, err := datadir.LockServing(dir, "pid 3")
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
}

// TestUnfinished checks that an interrupted replacement prevents shared locks until it is
// finished.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	exclusive, err := datadir.LockExclusive(dir)
	if err != nil {
		t.Fatal(err)
	}
	finish, err := exclusive.MarkUnfinished()
	if err != nil {
		t.Fatal(err)
	}
	if err := exclusive.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.LockShared(dir); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a shared lock after a crash: got error %v, want one with cut short", err)
	}
	if err := finish(); err != nil {
		t.Fatal(err)
	}
	l, err := datadir.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestFree(t *testing.T) {
	if n, err := datadir.FreeSpace(t.TempDir()); err != nil || n <= 0 {
		t.Errorf("a temporary directory: got %d free bytes (%v), want some", n, err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if n, err := datadir.FreeSpace(missing); err == nil {
		t.Errorf("a missing directory: got %d free bytes, want an error", n)
	}
}
