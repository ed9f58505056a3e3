//go:build linux

package service

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// systemd is told of a service over a socket, in datagrams of NAME=value lines.
type systemd struct {
	socket string
	every  time.Duration // of the watchdog
	limit  time.Duration // for which it may take no datagram
}

// findSystemd is nil where the program was not started by systemd, or not as a
// service that is to tell how it is.
func findSystemd(env []string) *systemd {
	given := make(map[string]string)
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		given[name] = text
	}
	socket := given["NOTIFY_SOCKET"]
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") { // a path, or a name of Linux's own
		return nil
	}
	s := &systemd{socket: socket, limit: 5 * time.Second}
	if pid := given["WATCHDOG_PID"]; pid == "" || pid == strconv.Itoa(os.Getpid()) {
		microseconds, _ := strconv.ParseInt(given["WATCHDOG_USEC"], 10, 64) // 0: no watchdog
		s.every = time.Duration(max(microseconds, 0)) * time.Microsecond
	}
	return s
}

func (s *systemd) watchdog() time.Duration { return s.every }

// keep changes nothing: systemd keeps what comes on standard error.
func (s *systemd) keep(h slog.Handler) slog.Handler { return h }

// end needs no words: systemd sees how the process ends.
func (s *systemd) end(int, error) {}

// tell sends a state, with times in the units that the protocol names.
func (s *systemd) tell(what state, within time.Duration, how string) error {
	line := map[state]string{ready: "READY=1", reloading: "RELOADING=1", stopping: "STOPPING=1", living: "WATCHDOG=1"}[what]
	if how != "" {
		line += "\nSTATUS=" + strings.ReplaceAll(how, "\n", "; ")
	}
	if within > 0 {
		line += fmt.Sprintf("\nEXTEND_TIMEOUT_USEC=%d", within.Microseconds())
	}
	if what == reloading {
		now, err := monotonic()
		if err != nil {
			return err
		}
		line += fmt.Sprintf("\nMONOTONIC_USEC=%d", now.Microseconds())
	}
	return s.send(line)
}

// send hands a datagram over. Where nobody reads them and the socket is full, the
// service goes on without: it must be able to end.
func (s *systemd) send(text string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(s.limit)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(text))
	return err
}
