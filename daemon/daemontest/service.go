package daemontest

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Service is a daemon in a separate process that a test kills and starts again on the same data
// directory. One goroutine controls it; URL may be called by all.
type Service struct {
	Dir     string
	Program Program // this test binary if it has no path
	Args    []string

	process *Process
	ready   chan error             // the result of the last Launch, once
	url     atomic.Pointer[string] // nil while it does not listen
}

// Launch starts the daemon without waiting for it.
func (s *Service) Launch(t testing.TB) {
	t.Helper()
	program := s.Program
	if program.Path == "" {
		program.Path = Executable(t)
	}
	process, err := program.Launch(s.Dir, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Kill() }) // it still runs if the test has failed

	ready := make(chan error, 1)
	s.process, s.ready = process, ready
	go func() {
		err := process.Await()
		if err == nil {
			s.url.Store(&process.URL)
		}
		ready <- err
	}()
}

// wait waits until the daemon listens. The error is that of Process.Await.
func (s *Service) wait() error {
	err := <-s.ready
	s.ready <- err
	return err
}

// Await waits until the daemon listens. If it exits before, the test fails.
func (s *Service) Await(t testing.TB) {
	t.Helper()
	if err := s.wait(); err != nil {
		t.Fatal(err)
	}
}

// maxStarts is the number of attempts of AwaitRestarting.
const maxStarts = 5

// AwaitRestarting waits until the daemon listens, and starts it again if it has exited: on a
// database server that is too slow for its time limits, a start may fail.
func (s *Service) AwaitRestarting(t testing.TB) {
	t.Helper()
	for range maxStarts {
		err := s.wait()
		if err == nil {
			return
		}
		_ = s.process.Kill() // it has exited
		t.Logf("restarting a daemon: %.300v", err)
		s.Launch(t)
	}
	t.Fatalf("a daemon does not start in %d attempts", maxStarts)
}

// URL returns the address of the daemon; empty while it does not listen.
func (s *Service) URL() string {
	url := s.url.Load()
	if url == nil {
		return ""
	}
	return *url
}

// Kill kills the daemon immediately, even before it listens.
func (s *Service) Kill(t testing.TB) {
	t.Helper()
	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.wait() // an error if it was killed before it listened
	s.url.Store(nil)
}

// Stop shuts the daemon down.
func (s *Service) Stop(t testing.TB) {
	t.Helper()
	s.url.Store(nil)
	if err := s.process.Stop(); err != nil {
		t.Error(err)
	}
}

// Freeze suspends the daemon until Thaw.
func (s *Service) Freeze(t testing.TB) {
	t.Helper()
	if err := s.process.Freeze(); err != nil {
		t.Fatal(err)
	}
}

// Thaw resumes the daemon.
func (s *Service) Thaw(t testing.TB) {
	t.Helper()
	if err := s.process.Thaw(); err != nil {
		t.Fatal(err)
	}
}

// ReadLog returns everything that the daemons on the data directory have logged.
func (s *Service) ReadLog(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, ProcessLog))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// LogTimes returns the times, by the daemons' own clock, of the lines of their log that contain
// a text.
func (s *Service) LogTimes(t testing.TB, text string) (times []time.Time) {
	t.Helper()
	for line := range strings.Lines(s.ReadLog(t)) {
		stamp, ok := strings.CutPrefix(line, "time=")
		if !ok || !strings.Contains(line, text) {
			continue
		}
		stamp, _, _ = strings.Cut(stamp, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	return times
}

// Executable returns the path of this test binary.
func Executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
