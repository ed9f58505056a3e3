package delivery

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// receiver takes deliveries. It does less than net/http's server, which would
// take more of the processors than the daemon does.
type receiver struct {
	code atomic.Int32 // the status to answer with, 0 for never
	slow atomic.Int64 // how long it takes to answer

	mu       sync.Mutex
	grown    *sync.Cond
	came     int
	last     time.Time              // when the last came
	taken    map[string]int         // deliveries that were answered 200, by message
	bodies   map[string]bool        // marks of the events that came
	arrivals map[string][]time.Time // of each message, where they are kept
	waits    []time.Duration        // from publishing to here
	lines    map[net.Conn]bool      // to close
	all      []net.Listener
	keeps    bool // the messages, not only their number
}

// listen opens as many endpoints of one receiver.
func listen(b *testing.B, endpoints int) (*receiver, []string) {
	b.Helper()
	r := &receiver{taken: make(map[string]int), bodies: make(map[string]bool), arrivals: make(map[string][]time.Time), lines: make(map[net.Conn]bool)}
	r.grown = sync.NewCond(&r.mu)
	r.code.Store(200)
	var urls []string
	for range endpoints {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		r.all = append(r.all, l)
		urls = append(urls, "http://"+l.Addr().String()+"/hook")
		go r.serve(l)
	}
	b.Cleanup(r.close)
	return r, urls
}

func (r *receiver) close() {
	for _, l := range r.all {
		l.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.lines {
		conn.Close()
	}
}

func (r *receiver) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.lines[conn] = true
		r.mu.Unlock()
		go r.converse(conn)
	}
}

// converse answers the requests of a connection until it ends.
func (r *receiver) converse(conn net.Conn) {
	defer func() {
		conn.Close()
		r.mu.Lock()
		delete(r.lines, conn)
		r.mu.Unlock()
	}()
	in := bufio.NewReaderSize(conn, 4096)
	var body []byte
	for {
		id, length, err := head(in)
		if err != nil {
			return
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		code := r.code.Load()
		if code == 0 {
			_, _ = in.ReadByte() // until the other side hangs up
			return
		}
		if wait := r.slow.Load(); wait > 0 {
			time.Sleep(time.Duration(wait))
		}
		r.note(id, body, code == 200)
		if _, err := conn.Write(append(strconv.AppendInt([]byte("HTTP/1.1 "), int64(code), 10), " Fine\r\nContent-Length: 0\r\n\r\n"...)); err != nil {
			return
		}
	}
}

// head reads the head of a request: the message's id, and the body's length.
func head(in *bufio.Reader) (id string, length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		if len(line) <= 2 {
			return id, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Webhook-Id")):
			id = string(value)
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.Atoi(string(value))
			if err != nil {
				return "", 0, err
			}
		}
	}
}

// note counts a delivery. Events say in their bodies when they were published.
func (r *receiver) note(id string, body []byte, taken bool) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came++
	r.last = now
	r.waits = append(r.waits, since(body, now))
	if r.keeps {
		r.arrivals[id] = append(r.arrivals[id], now)
		if taken {
			r.taken[id]++
			r.bodies[mark(body)] = true
		}
	}
	r.grown.Broadcast()
}

// reset forgets what came.
func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came, r.waits = 0, r.waits[:0]
}

// patience is how long anything that must happen may take.
const patience = 2 * time.Minute

// await waits for so many deliveries.
func (r *receiver) await(b *testing.B, n int) {
	b.Helper()
	late := time.AfterFunc(patience, r.grown.Broadcast)
	defer late.Stop()
	began := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.came < n {
		if time.Since(began) > patience {
			b.Fatalf("%d of %d deliveries came", r.came, n)
		}
		r.grown.Wait()
	}
}
