package edge

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// serveClients serves on a listener with a limit of connections. The path /in authenticates the
// connection, and /wait waits until the test ends.
func serveClients(t *testing.T, limit int) (clients *Clients, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	ended := make(chan struct{})
	clients = NewClients(limit, slog.New(slog.DiscardHandler))
	server := &http.Server{
		ConnContext: ConnContext,
		ConnState:   ConnState,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				HeadRead(r.Context(), true)
				<-ended
			}
			if r.URL.Path == "/in" {
				HeadRead(r.Context(), true)
			}
		}),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(clients.Listener(l))
	}()
	t.Cleanup(func() {
		close(ended)
		server.Close()
		<-served
	})
	return clients, l.Addr().String()
}

// connect opens a connection and, unless path is empty, sends a request on it.
func connect(t *testing.T, address, path string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if path == "" {
		return conn
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if path != "/wait" {
		if _, err := conn.Read(make([]byte, 1024)); err != nil {
			t.Fatalf("the request %s got no response: %v", path, err)
		}
	}
	return conn
}

// isClosed waits until a connection is closed, or returns false after a while.
func isClosed(conn net.Conn, wait time.Duration) bool {
	_ = conn.SetReadDeadline(time.Now().Add(wait))
	_, err := conn.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	return err != nil && !(ok && timeout.Timeout())
}

// await waits until a condition holds.
func await(t *testing.T, description string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", description)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSilentConnectionsMakeRoom opens one connection more than the limit.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	for name, tt := range map[string]struct {
		before     []string // the paths requested on the connections, in order
		closed     int      // index of the connection that makes room
		noneCloses bool
	}{
		"the longest silent one":                  {before: []string{"", "", ""}, closed: 0},
		"one that was authenticated stays":        {before: []string{"/in", "", ""}, closed: 1},
		"one without credentials, despite a page": {before: []string{"/in", "/public", "/in"}, closed: 1},
		"an idle one if all are authenticated":    {before: []string{"/wait", "/in", "/in"}, closed: 1},
		"none if all are in use": {
			before:     []string{"/wait", "/wait", "/wait"},
			noneCloses: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			clients, address := serveClients(t, len(tt.before))
			var conns []net.Conn
			var want [kept + 1]int
			rankOf := map[string]int{
				"":        unauthenticated,
				"/public": unauthenticated,
				"/in":     idle,
				"/wait":   kept,
			}

			for _, path := range tt.before {
				conns = append(conns, connect(t, address, path))
				want[rankOf[path]]++
				await(t, "connection in its state", func() bool { return clients.ranks() == want })
			}

			if tt.noneCloses {
				if late := connect(t, address, ""); !isClosed(late, time.Minute) {
					t.Error("another connection was accepted although all are in use")
				}
				if refused, closed := clients.Refused(), clients.Closed(); refused != 1 || closed != 0 {
					t.Errorf("%d connections were refused and %d closed, want 1 and 0", refused, closed)
				}
				return
			}

			connect(t, address, "/in")
			if !isClosed(conns[tt.closed], time.Minute) {
				t.Errorf("connection %d is still open", tt.closed)
			}
			if n := clients.Open(); n != len(tt.before) {
				t.Errorf("%d connections are open, want %d", n, len(tt.before))
			}
			if n := clients.Closed(); n != 1 {
				t.Errorf("%d connections were closed to make room, want 1", n)
			}
		})
	}
}

// ranks returns the number of connections of each rank.
func (c *Clients) ranks() (counts [kept + 1]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		counts[conn.rank()]++
	}
	return counts
}

// TestRefusedConnectionsAreLogged adds connections while the only one that fits is in use. Each is
// counted, and there is a warning a minute.
func TestRefusedConnectionsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		clients := NewClients(1, slog.New(slog.NewTextHandler(&log, nil)))
		busy := &clientConn{clients: clients}
		busy.authenticated.Store(true)
		busy.busy.Store(true)
		if _, hasRoom := clients.add(busy); !hasRoom {
			t.Fatal("the first connection was refused")
		}
		refuse := func(wantCount int64, wantWarnings int) {
			t.Helper()
			if replaced, hasRoom := clients.add(&clientConn{clients: clients}); hasRoom || replaced != nil {
				t.Errorf("added a connection: replaced %v, has room %v; want no room", replaced, hasRoom)
			}
			if n := clients.Refused(); n != wantCount {
				t.Errorf("%d connections are counted as refused, want %d", n, wantCount)
			}
			if n := strings.Count(log.String(), "new ones are refused"); n != wantWarnings {
				t.Errorf("the log has %d warnings, want %d: %s", n, wantWarnings, &log)
			}
		}
		refuse(1, 1)
		refuse(2, 1)
		time.Sleep(warnInterval)
		refuse(3, 2)
	})
}

// TestAuthenticatedConnectionsStay opens many connections without credentials among others that
// are idle.
func TestAuthenticatedConnectionsStay(t *testing.T) {
	const idleConns, flood = 50, 100
	clients, address := serveClients(t, idleConns+10)
	var conns []net.Conn
	for range idleConns {
		conns = append(conns, connect(t, address, "/in"))
	}
	await(t, "all connections idle", func() bool { return clients.ranks() == [kept + 1]int{idle: idleConns} })
	for range flood {
		connect(t, address, "")
	}
	await(t, "the flood has arrived", func() bool { return clients.Closed() == flood-10 })
	for i, conn := range conns {
		if isClosed(conn, time.Millisecond) {
			t.Fatalf("connection %d, which was authenticated, is closed although others are not", i)
		}
	}
}

// TestFloodOfSilentConnections lets a client with credentials connect again and again among many
// connections on which nothing is sent.
func TestFloodOfSilentConnections(t *testing.T) {
	clients, address := serveClients(t, 100)
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for range 120 {
		flood.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					continue
				}
				isClosed(conn, time.Second)
				conn.Close()
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	await(t, "all of the flood has arrived", func() bool { return clients.Closed() >= 20 })
	for range 50 {
		connect(t, address, "/in").Close()
	}
	stop()
	flood.Wait()
}
