// Package daemontest runs a whole daemon inside a test: a real store in a
// temporary directory, real HTTP on a free port.
package daemontest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon"
)

// AdminPassword is the password of the user admin in tests.
const AdminPassword = "a password for tests only"

// Instance is a running daemon.
type Instance struct {
	URL string
	Dir string // the data directory
	Log *Log
	D   *daemon.Daemon
}

// Log collects what the daemon logs.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is io.Writer's.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is everything logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Start runs a daemon until the test ends. The arguments are those of
// `whd serve`; the address and the data directory are given already.
func Start(t testing.TB, args ...string) *Instance {
	t.Helper()
	i := &Instance{Dir: t.TempDir(), Log: &Log{}}
	args = append([]string{"--listen", "127.0.0.1:0", "--data-dir", i.Dir}, args...)
	config, _, err := daemon.LoadConfig(args, []string{"WHD_ADMIN_PASSWORD=" + AdminPassword}, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(i.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if i.D, err = daemon.New(context.Background(), config, io.Discard, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := i.D.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := i.D.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	i.URL = i.D.URL()
	return i
}
