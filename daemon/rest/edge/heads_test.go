package edge

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveHeads serves with a limit of heads. The path /in authenticates the connection; /wait answers
// when the client has left, and authenticates it with the query ?in.
func serveHeads(t *testing.T, limit int) (heads *Heads, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	heads = NewHeads(limit)
	server := &http.Server{
		MaxHeaderBytes: heads.Max(),
		ConnContext:    ConnContext,
		ConnState:      ConnState,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/in":
				HeadRead(r.Context(), true)
			case "/wait":
				HeadRead(r.Context(), r.URL.RawQuery == "in")
				<-r.Context().Done()
			}
		}),
	}
	clients := NewClients(0, slog.New(slog.DiscardHandler))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(Framed(clients.Listener(l), heads, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)))
	}()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return heads, l.Addr().String()
}

// awaitHeld waits until the heads hold a number of bytes between two limits.
func awaitHeld(t *testing.T, heads *Heads, least, most float64) {
	t.Helper()
	for range 2000 {
		if held := heads.budget.Held(); held >= least && held <= most {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the heads hold %v bytes, want %v to %v", heads.budget.Held(), least, most)
}

// sendHead sends the start of a head of n bytes, without its end.
func sendHead(t *testing.T, c net.Conn, n int) {
	t.Helper()
	const start = "GET / HTTP/1.1\r\nHost: whd\r\nX-Large: "
	if _, err := io.WriteString(c, start+strings.Repeat("x", n-len(start))); err != nil {
		t.Fatal(err)
	}
}

func wantStatus(t *testing.T, c net.Conn, want int) {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || reply.StatusCode != want {
		t.Fatalf("%+v (%v), want status %d", reply, err, want)
	}
}

// TestLargeHeadIsRefusedWhileItArrives checks that a head beyond the limit gets its error
// although its end has not arrived.
func TestLargeHeadIsRefusedWhileItArrives(t *testing.T) {
	heads, address := serveHeads(t, 64<<10)
	c := connect(t, address, "")
	sendHead(t, c, heads.Max()+headFree)
	wantStatus(t, c, http.StatusRequestHeaderFieldsTooLarge)
	awaitHeld(t, heads, 0, 0)
}

// TestMemoryOfHeads checks that unfinished heads are counted until their connections end, that
// those of anonymous connections have a share, and that the others still have room.
func TestMemoryOfHeads(t *testing.T) {
	const (
		size = 60 << 10
		held = (size - headFree) * headCost // memory for such a head
	)
	heads, address := serveHeads(t, 64<<10)
	known := connect(t, address, "/in")
	var open []net.Conn
	for free := headMemory / anonymousShare; free >= held; free -= held {
		c := connect(t, address, "")
		sendHead(t, c, size)
		open = append(open, c)
	}
	expected := float64(len(open) * held)
	awaitHeld(t, heads, expected, expected)
	late := connect(t, address, "")
	sendHead(t, late, size)
	sendHead(t, known, size)
	wantStatus(t, late, http.StatusServiceUnavailable)
	awaitHeld(t, heads, expected+held, headMemory)
	if _, err := io.WriteString(known, "\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, known, http.StatusOK)
	for _, c := range open {
		c.Close()
	}
	awaitHeld(t, heads, 0, 0)
}

// TestWaitingRequestsLeaveRoomForHeads checks that requests with large heads that wait for something
// count with the size of their heads, and those with credentials outside the anonymous share.
func TestWaitingRequestsLeaveRoomForHeads(t *testing.T) {
	const (
		size  = 60 << 10
		share = headMemory / anonymousShare
	)
	for _, tt := range []struct {
		path    string
		waiting int
	}{
		{path: "/wait", waiting: share / size * 9 / 10},
		{path: "/wait?in", waiting: 2 * share / size},
	} {
		heads, address := serveHeads(t, 64<<10)
		var open []net.Conn
		for n := range tt.waiting {
			c := connect(t, address, "")
			head := "GET " + tt.path + " HTTP/1.1\r\nHost: whd\r\nX-Large: "
			padding := strings.Repeat("x", size-len(head)-4) + "\r\n\r\n"
			if _, err := io.WriteString(c, head+padding); err != nil {
				t.Fatal(err)
			}
			// The last read of a head, which completes it, is not counted.
			awaitHeld(t, heads, float64((n+1)*size/2), float64((n+1)*size))
			open = append(open, c)
		}
		for _, c := range open {
			c.Close()
		}
		awaitHeld(t, heads, 0, 0)
	}
}

// TestRefusedConnectionsLinger checks that all of many refused connections get a single error and
// are closed afterwards, although the rest of the head is read of a few of them only.
func TestRefusedConnectionsLinger(t *testing.T) {
	heads, address := serveHeads(t, 8<<10)
	var open []net.Conn
	for range 2 * maxDrained {
		c := connect(t, address, "")
		sendHead(t, c, heads.Max()+1)
		open = append(open, c)
	}
	for i, c := range open {
		answer, err := io.ReadAll(c)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("connection %d: %v", i, err)
		}
		n := strings.Count(string(answer), "HTTP/1.1 ")
		if n != 1 || !strings.HasPrefix(string(answer), "HTTP/1.1 431 ") {
			t.Errorf("connection %d: %d responses, want one with status 431: %q", i, n, answer)
		}
	}
	awaitHeld(t, heads, 0, 0)
}
