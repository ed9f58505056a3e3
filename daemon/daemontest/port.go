package daemontest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort returns a port that no program of this machine listens on, for programs that
// cannot listen on port 0. It is below the range from which port 0 is assigned, so that
// tests running at the same time do not take it before the program does.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20_000 + rand.N(10_000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port between 20,000 and 30,000")
	return 0
}
