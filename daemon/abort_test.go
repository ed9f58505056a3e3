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
var goneClients = flag.Int("gone-clients", 24, "number of clients that TestClientsGo sends away in mid-stream")

// TestClientsGo: clients go away in mid-stream, and leave behind neither a
// goroutine nor a connection, nor one that is out of step.
func TestClientsGo(t *testing.T) {
	noLeaks(t)
	const connections, others = 4, 8 // that read records, and that read our own tables
	i, _, dsn := overLine(t, "--store-max-connections", fmt.Sprint(connections))
	_, want := get(t, i.URL+totals)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	turns := make(chan int)
	for range connections {
		all.Go(func() {
			for n := range turns {
				goAway(t, i, n)
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
	t.Logf("%d clients went; %d goroutines, %d before; %d sessions on the server", *goneClients, after, before, sessions)
	if after > before+*goneClients/2 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
	allAnswer(t, i, connections, want)
}

// goAway begins to read a long answer, hangs up in one of two ways, and waits
// until the service has noticed.
func goAway(t *testing.T, i *daemontest.Instance, n int) {
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

// allAnswer holds all connections at once and finds each answer whole.
func allAnswer(t *testing.T, i *daemontest.Instance, connections int, want string) {
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
				t.Errorf("connection %d: %d bytes instead of %d, %v", n, got.Len(), len(want), err)
			}
		})
	}
	all.Wait()
}
