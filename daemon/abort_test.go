package daemon_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// goneClients is small since each costs a connection to the server, which takes
// Babelfish half a second on a busy machine. Releases run 1,000.
var goneClients = flag.Int("gone-clients", 24,
	"number of clients that TestDisconnectedClientsLeakNothing disconnects in mid-stream")

// TestDisconnectedClientsLeakNothing disconnects clients in mid-stream. Their goroutines
// end, and their database connections return to the pool in a usable state.
func TestDisconnectedClientsLeakNothing(t *testing.T) {
	noLeaks(t)
	const connections, others = 4, 8 // for records, and for the daemon's own tables
	i, _, dsn := overProxy(t, "--store-max-connections", fmt.Sprint(connections))
	_, want := get(t, i.URL+totals)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	turns := make(chan int)
	for range connections {
		all.Go(func() {
			for n := range turns {
				disconnect(t, i, n)
			}
		})
	}
	for n := range *goneClients {
		turns <- n
	}
	close(turns)
	all.Wait()
	after := runtime.NumGoroutine()
	sessions := mssqltest.AwaitSessions(t, dsn, connections+others)
	t.Logf("%d clients disconnected; %d goroutines, %d before; %d sessions on the server",
		*goneClients, after, before, sessions)
	if after > before+*goneClients/2 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
	expectCompleteResponses(t, i, connections, want)
}

// disconnect reads the start of a long response, closes the connection with FIN or RST,
// and waits until the daemon logs the request as aborted.
func disconnect(t *testing.T, i *daemontest.Instance, n int) {
	conn := begin(t, i, fmt.Sprintf("gone-%d", n))
	reply, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err == nil {
		_, err = io.CopyN(io.Discard, reply.Body, int64(n%7)*5000)
	}
	if err != nil {
		t.Errorf("client %d: %v", n, err)
	}
	if n%2 == 1 {
		conn.SetLinger(0)
	}
	conn.Close()
	i.Log.Await(t, "msg=request", fmt.Sprintf("id=gone-%d ", n), "aborted=true")
}

// allAnswer uses all connections at once and checks that each response is complete.
func expectCompleteResponses(t *testing.T, i *daemontest.Instance, connections int, want string) {
	t.Helper()
	var replies []*http.Response
	for n := range connections {
		conn := begin(t, i, fmt.Sprintf("whole-%d", n))
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply)
	}
	var all sync.WaitGroup
	for n, reply := range replies {
		all.Go(func() {
			var got strings.Builder
			if _, err := io.Copy(&got, reply.Body); err != nil || got.String() != want {
				t.Errorf("connection %d: %d bytes, want %d, %v", n, got.Len(), len(want), err)
			}
		})
	}
	all.Wait()
}
