package changes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// receiver receives the deliveries of one endpoint. It does less work than net/http's
// server, which would use more CPU time than the daemon.
type receiver struct {
	url    string
	handle func(body []byte, at time.Time) // one at a time

	mu    sync.Mutex
	conns []net.Conn
}

// listen returns a receiver of bodies.
func listen(b *testing.B, handle func(body []byte, at time.Time)) *receiver {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	r := &receiver{url: "http://" + l.Addr().String() + "/hook", handle: handle}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns = append(r.conns, conn)
			r.mu.Unlock()
			go r.serve(conn)
		}
	}()
	b.Cleanup(func() {
		l.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, conn := range r.conns {
			conn.Close()
		}
	})
	return r
}

// serve responds to the requests of a connection until it is closed.
func (r *receiver) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 4096)
	var body []byte
	for {
		length, err := readHead(in)
		if err != nil {
			return
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		at := time.Now()
		r.mu.Lock()
		r.handle(body, at)
		r.mu.Unlock()
		if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")); err != nil {
			return
		}
	}
}

// readHead reads the head of a request and returns the length of the body.
func readHead(in *bufio.Reader) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

// received are the changes that were delivered.
type received struct {
	mu    sync.Mutex
	first map[int64]time.Time // by ChangeID
	keys  map[string]time.Time
	twice int
}

func newReceived() *received {
	return &received{first: make(map[int64]time.Time), keys: make(map[string]time.Time)}
}

// add is a handler of a receiver.
func (r *received) add(body []byte, at time.Time) {
	var change struct {
		ChangeID int64
		Key      string
	}
	err := json.Unmarshal(body, &change)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.first[change.ChangeID]; ok || err != nil {
		r.twice++
		return
	}
	r.first[change.ChangeID] = at
	r.keys[change.Key] = at
}

// count returns the number of different changes, and of their keys.
func (r *received) count() (changes, keys int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.first), len(r.keys)
}

// await waits for n changes.
func (r *received) await(b *testing.B, n int) {
	b.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		changes, _ := r.count()
		if changes >= n {
			return
		}
		if time.Since(began) > testTimeout {
			b.Fatalf("%d of %d changes were delivered", changes, n)
		}
	}
}
