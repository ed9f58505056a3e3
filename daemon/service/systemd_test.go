//go:build linux

package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// listener is systemd's end of the socket.
type listener struct{ *net.UnixConn }

func listen(t *testing.T, name string) listener {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return listener{conn}
}

// next returns the next datagram.
func (l listener) next(t *testing.T) string {
	t.Helper()
	text := make([]byte, 4096)
	n, err := l.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[:n])
}

// supervisorWith returns the supervisor for an environment.
func supervisorWith(t *testing.T, env ...string) *Supervisor {
	t.Helper()
	s, err := Find(env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSystemdNotifications(t *testing.T) {
	abstract := "@whd-test-" + strconv.Itoa(os.Getpid())
	for _, socket := range []string{filepath.Join(t.TempDir(), "notify"), abstract} {
		l := listen(t, socket)
		s := supervisorWith(t, "HOME=/", "NOTIFY_SOCKET="+socket)
		s.Ready("serves http://[::]:5050\nwith warnings")
		if got, want := l.next(t), "READY=1\nSTATUS=serves http://[::]:5050; with warnings"; got != want {
			t.Errorf("ready: %q, want %q", got, want)
		}
		before, err := monotonic()
		if err != nil {
			t.Fatal(err)
		}
		s.Reloading()
		head, at, _ := strings.Cut(l.next(t), "\nMONOTONIC_USEC=")
		microseconds, err := strconv.ParseInt(at, 10, 64)
		if since := time.Duration(microseconds)*time.Microsecond - before.Truncate(time.Microsecond); err != nil || since < 0 || since > time.Hour ||
			head != "RELOADING=1\nSTATUS=reloading its settings" {
			t.Errorf("reloading: %q at %q, %v after the start of the test (%v)", head, at, since, err)
		}
		s.Stopping(25 * time.Second)
		if got, want := l.next(t), "STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=25000000"; got != want {
			t.Errorf("stopping: %q, want %q", got, want)
		}
		s.End(0, nil)
	}
}

// TestUnsupervised checks that a program that was not started as a service sends no
// notifications.
func TestUnsupervised(t *testing.T) {
	for _, env := range [][]string{nil, {"NOTIFY_SOCKET="}, {"NOTIFY_SOCKET=vsock:2:1"}} {
		s := supervisorWith(t, env...)
		s.Ready("serves")
		s.Stopping(time.Second)
		s.Watch(t.Context(), func(context.Context) error { return errors.New("unused") })
		if _, ok := s.manager.(unsupervised); !ok {
			t.Errorf("%q: manager is %T", env, s.manager)
		}
	}
}

func TestMissingSocketIsLogged(t *testing.T) {
	var log strings.Builder
	s := supervisorWith(t, "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "gone"))
	s.Log(slog.NewTextHandler(&log, nil))
	s.Ready("serves")
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "cannot notify") {
		t.Errorf("the log is %s", &log)
	}
}

// TestFullSocketDoesNotBlock notifies a listener that reads nothing.
func TestFullSocketDoesNotBlock(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	listen(t, socket)
	var log strings.Builder
	s := supervisorWith(t, "NOTIFY_SOCKET="+socket)
	s.manager.(*systemd).limit = time.Millisecond
	s.Log(slog.NewTextHandler(&log, nil))
	for !strings.Contains(log.String(), "i/o timeout") {
		s.Stopping(time.Second)
	}
}

// TestWatchdog checks that watchdog notifications are sent after each successful health check, and
// not after a failed one.
func TestWatchdog(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	l := listen(t, socket)
	s := supervisorWith(t, "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=4000", "WATCHDOG_PID="+strconv.Itoa(os.Getpid()))
	var log strings.Builder
	s.Log(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	called, result := make(chan bool), make(chan error)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Watch(ctx, func(context.Context) error { called <- true; return <-result })
	}()
	for range 2 {
		<-called
		result <- nil
		if got := l.next(t); got != "WATCHDOG=1" {
			t.Errorf("sent %q", got)
		}
	}
	<-called
	result <- errors.New("unhealthy")
	<-called // nothing was sent for the failed check
	cancel()
	result <- ctx.Err()
	<-ended
	s.Ready("is next")
	if got := l.next(t); !strings.HasPrefix(got, "READY=1") {
		t.Errorf("sent %q after a cancelled check", got)
	}
	if n := strings.Count(log.String(), "the health check failed"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

// TestWatchdogPID checks that a watchdog for another process is ignored.
func TestWatchdogPID(t *testing.T) {
	for env, want := range map[string]time.Duration{"WATCHDOG_PID=1": 0, "WATCHDOG_PID=": 4 * time.Millisecond, "A=B": 4 * time.Millisecond} {
		if got := supervisorWith(t, "NOTIFY_SOCKET=/x", "WATCHDOG_USEC=4000", env).manager.watchdog(); got != want {
			t.Errorf("%s: %v, want %v", env, got, want)
		}
	}
}

func TestDuplicateOrdersAreDropped(t *testing.T) {
	s := supervisorWith(t)
	for range 3 {
		s.order(Reload)
	}
	s.order(Stop)
	s.order(Stop)
	if first, second := <-s.Orders(), <-s.Orders(); first != Reload || second != Stop || len(s.orders) != 0 {
		t.Errorf("%v, %v, and %d more", first, second, len(s.orders))
	}
}
