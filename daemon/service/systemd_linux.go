package service

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// systemd is told of a service over a socket, in datagrams of NAME=value lines.
// It keeps what comes on standard error, and sees how the process ends.
type systemd struct {
	unsupervised
	socket string
	every  time.Duration // of the watchdog
	limit  time.Duration // for which it may take no datagram
}

// find knows systemd where that has started the program as a service that is to
// tell how it is. Its orders come as signals.
func find(env []string, _ func(Order)) (manager, error) {
	given := make(map[string]string)
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		given[name] = text
	}
	socket := given["NOTIFY_SOCKET"]
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") { // a path, or a name of Linux's own
		return unsupervised{}, nil
	}
	s := &systemd{socket: socket, limit: 5 * time.Second}
	if pid := given["WATCHDOG_PID"]; pid == "" || pid == strconv.Itoa(os.Getpid()) {
		microseconds, _ := strconv.ParseInt(given["WATCHDOG_USEC"], 10, 64) // 0: no watchdog
		s.every = time.Duration(max(microseconds, 0)) * time.Microsecond
	}
	return s, nil
}

func (s *systemd) watchdog() time.Duration { return s.every }

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

// monotonic is the clock by which systemd tells whether a reload belongs to what
// it has asked for.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano()), err
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
