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

// wantSent reads the next datagram and compares it.
func (l listener) wantSent(t *testing.T, want string) {
	t.Helper()
	if got := l.next(t); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestSystemdNotifications checks the datagrams of each state, on sockets with a path and on
// abstract sockets.
func TestSystemdNotifications(t *testing.T) {
	abstract := "@whd-test-" + strconv.Itoa(os.Getpid())
	for _, socket := range []string{filepath.Join(t.TempDir(), "notify"), abstract} {
		l := listen(t, socket)
		s := supervisorWith(t, "HOME=/", "NOTIFY_SOCKET="+socket)
		s.Ready("serves http://[::]:5050\nwith warnings")
		l.wantSent(t, "READY=1\nSTATUS=serves http://[::]:5050; with warnings")
		before, err := monotonic()
		if err != nil {
			t.Fatal(err)
		}
		s.Reloading()
		checkReloading(t, l.next(t), before)
		s.Stopping(25 * time.Second)
		l.wantSent(t, "STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=25000000")
		s.End(0, nil)
	}
}

// checkReloading checks a notification of a reload, which contains its time. before is an
// earlier time.
func checkReloading(t *testing.T, got string, before time.Duration) {
	t.Helper()
	const want = "RELOADING=1\nSTATUS=reloading its settings"
	text, number, _ := strings.Cut(got, "\nMONOTONIC_USEC=")
	if text != want {
		t.Errorf("sent %q, want %q", text, want)
	}
	microseconds, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	reloading := time.Duration(microseconds) * time.Microsecond
	since := reloading - before.Truncate(time.Microsecond)
	if since < 0 || since > time.Hour {
		t.Errorf("reloading %v after the start of the test, want from 0 to 1h", since)
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
			t.Errorf("%q: manager is a %T, want %T", env, s.manager, unsupervised{})
		}
	}
}

// TestMissingSocketIsLogged checks that a notification that cannot be sent is a warning.
func TestMissingSocketIsLogged(t *testing.T) {
	var log strings.Builder
	s := supervisorWith(t, "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "gone"))
	s.Log(slog.NewTextHandler(&log, nil))
	s.Ready("serves")
	for _, want := range []string{"level=WARN", "cannot notify"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s: %s", want, &log)
		}
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

// TestWatchdog checks that watchdog notifications are sent after each successful health check,
// and not after a failed one.
func TestWatchdog(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	l := listen(t, socket)
	s := supervisorWith(t, "NOTIFY_SOCKET="+socket,
		"WATCHDOG_USEC=4000", "WATCHDOG_PID="+strconv.Itoa(os.Getpid()))
	var log strings.Builder
	s.Log(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan bool)
	result := make(chan error)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Watch(ctx, func(context.Context) error {
			called <- true
			return <-result
		})
	}()
	for range 2 {
		<-called
		result <- nil
		l.wantSent(t, "WATCHDOG=1")
	}
	<-called
	result <- errors.New("unhealthy")
	<-called // nothing was sent for the failed check
	cancel()
	result <- ctx.Err()
	<-ended
	s.Ready("is next")
	if got := l.next(t); !strings.HasPrefix(got, "READY=1") {
		t.Errorf("sent %q after a cancelled check, want READY=1 next", got)
	}
	if n := strings.Count(log.String(), "the health check failed"); n != 1 {
		t.Errorf("the failed check was logged %d times, want once: %s", n, &log)
	}
}

// TestWatchdogPID checks that a watchdog for another process is ignored.
func TestWatchdogPID(t *testing.T) {
	for env, want := range map[string]time.Duration{
		"WATCHDOG_PID=1": 0,
		"WATCHDOG_PID=":  4 * time.Millisecond,
		"A=B":            4 * time.Millisecond,
	} {
		s := supervisorWith(t, "NOTIFY_SOCKET=/x", "WATCHDOG_USEC=4000", env)
		if got := s.manager.watchdog(); got != want {
			t.Errorf("%s: %v, want %v", env, got, want)
		}
	}
}

// TestDuplicateOrdersAreDropped checks that one reload and one stop are kept.
func TestDuplicateOrdersAreDropped(t *testing.T) {
	s := supervisorWith(t)
	for range 3 {
		s.order(Reload)
	}
	s.order(Stop)
	s.order(Stop)
	for _, want := range []Order{Reload, Stop} {
		if got := <-s.Orders(); got != want {
			t.Errorf("got the order %v, want %v", got, want)
		}
	}
	if n := len(s.orders); n != 0 {
		t.Errorf("%d orders more, want none", n)
	}
}
