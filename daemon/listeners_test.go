package daemon

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestListenError checks that the error for a port that Windows has reserved names the command that
// lists these ports.
func TestListenError(t *testing.T) {
	const command = "netsh int ipv4 show excludedportrange protocol=tcp"
	for code, want := range map[syscall.Errno]bool{
		10013:              true,
		syscall.EADDRINUSE: false,
	} {
		failed := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", code)}
		err := listenError("admin.listen", failed)
		if got := strings.Contains(err.Error(), command); got != want {
			t.Errorf("for %d the error is %v; names the command: %v, want %v", code, err, got, want)
		}
		if !errors.Is(err, code) || !strings.Contains(err.Error(), "the setting admin.listen") {
			t.Errorf("for %d the error is %v, want it to wrap the code and name the setting", code, err)
		}
	}
}
