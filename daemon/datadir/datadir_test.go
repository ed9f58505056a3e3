package datadir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/datadir"
)

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
		if _, err := datadir.LockExclusive(dir); !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("while shared: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	exclusive, err := datadir.LockExclusive(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.LockShared(dir); !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), "being replaced by whd restore or whd store copy, or rewritten by whd compact") {
		t.Errorf("while exclusive: %v", err)
	}
	if _, err := datadir.LockExclusive(dir); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("second exclusive lock: %v", err)
	}
	for range 2 {
		if err := exclusive.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServe: one daemon at a time serves a directory, and errors contain its description.
// Commands are not affected.
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
	if !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), "another whd serves "+dir+" (pid 1, listening on 127.0.0.1:5050)") {
		t.Errorf("the second daemon: %v", err)
	}
	command, err := datadir.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.LockExclusive(dir); !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), "; stop it first (the last daemon there was pid 1, listening on 127.0.0.1:5050)") {
		t.Errorf("exclusive while a daemon serves: %v", err)
	}
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

// TestUnfinished: an interrupted replacement prevents shared locks until it is finished.
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
		t.Errorf("after a crash: %v", err)
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
		t.Errorf("%d bytes are free (%v)", n, err)
	}
	if _, err := datadir.FreeSpace(t.TempDir() + "/missing"); err == nil {
		t.Error("no error for a missing directory")
	}
}
