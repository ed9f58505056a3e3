package daemontest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// The range of FreePort.
const (
	firstPort = 20_000
	ports     = 10_000
)

// nextPort is the offset of the port that FreePort tries next.
var nextPort atomic.Uint32

func init() { nextPort.Store(rand.Uint32N(ports)) }

// FreePort returns a port that no program of this machine listens on, for programs that
// cannot listen on port 0. Each call returns another one. It is below the range from which
// port 0 is assigned, so that tests running at the same time do not take it before the
// program does.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := firstPort + int(nextPort.Add(1)%ports)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatalf("no free port between %d and %d", firstPort, firstPort+ports)
	return 0
}
