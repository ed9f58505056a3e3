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

// systemd implements the protocol of sd_notify(3): datagrams of NAME=value lines on a
// socket. systemd itself collects standard error and the exit status.
type systemd struct {
	unsupervised
	socket string
	every  time.Duration // interval of the watchdog
	limit  time.Duration // time limit for sending a datagram
}

// find returns systemd's manager if systemd started the program as a service with
// notifications. systemd sends its orders as signals.
func find(env []string, _ func(Order)) (manager, error) {
	variables := make(map[string]string)
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		variables[name] = text
	}
	socket := variables["NOTIFY_SOCKET"]
	isPath := strings.HasPrefix(socket, "/")
	isAbstract := strings.HasPrefix(socket, "@")
	if !isPath && !isAbstract {
		return unsupervised{}, nil
	}
	s := &systemd{socket: socket, limit: 5 * time.Second}
	pid := variables["WATCHDOG_PID"]
	if pid == "" || pid == strconv.Itoa(os.Getpid()) {
		microseconds, _ := strconv.ParseInt(variables["WATCHDOG_USEC"], 10, 64) // 0: no watchdog
		s.every = time.Duration(max(microseconds, 0)) * time.Microsecond
	}
	return s, nil
}

func (s *systemd) watchdog() time.Duration { return s.every }

// stateLines are the lines of states in the protocol of sd_notify.
var stateLines = map[state]string{
	ready:     "READY=1",
	reloading: "RELOADING=1",
	stopping:  "STOPPING=1",
	living:    "WATCHDOG=1",
}

// notify sends a state.
func (s *systemd) notify(current state, within time.Duration, status string) error {
	line := stateLines[current]
	if status != "" {
		line += "\nSTATUS=" + strings.ReplaceAll(status, "\n", "; ")
	}
	if within > 0 {
		line += fmt.Sprintf("\nEXTEND_TIMEOUT_USEC=%d", within.Microseconds())
	}
	if current == reloading {
		now, err := monotonic()
		if err != nil {
			return err
		}
		line += fmt.Sprintf("\nMONOTONIC_USEC=%d", now.Microseconds())
	}
	return s.send(line)
}

// monotonic returns the time of CLOCK_MONOTONIC, by which systemd matches a reload with
// its request.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano()), err
}

// send sends a datagram. It fails if the socket stays full for the time limit, so that
// the service can always stop.
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
