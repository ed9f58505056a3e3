package daemon_test

import (
	"net"
	"path/filepath"
	"testing"
)

// managed calls work with the variable that systemd sets for a service.
func managed(t *testing.T, work func(env string)) {
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	work("NOTIFY_SOCKET=" + socket)
}
