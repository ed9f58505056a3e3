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

// receiver receives deliveries. It does less work than net/http's server, which would
// use more CPU time than the daemon.
type receiver struct {
	opened atomic.Int64 // connections accepted

	code atomic.Int32 // status code of responses, 0 to hang
	slow atomic.Int64 // delay of responses, in ns

	answer func(body []byte) int32 // returns the status code of a response in place of code; nil to use it. Only accepted messages count then

	mu             sync.Mutex
	changed        *sync.Cond
	received       int
	last           time.Time              // time of the last delivery
	accepted       map[string]int         // deliveries with a 200 response, by message
	bodies         map[string]bool        // numbers of the delivered events
	arrivals       map[string][]time.Time // by message, if recordMessages is set
	latencies      []time.Duration        // from publishing to receiving
	arrived        []time.Time            // of the same deliveries
	order          []string               // the messages of all requests, with answer
	conns          map[net.Conn]bool      // to close
	listeners      []net.Listener
	recordMessages bool // record messages in addition to counts
}

// listen returns a receiver with the given number of endpoints, and their URLs.
func listen(b *testing.B, endpoints int) (*receiver, []string) {
	b.Helper()
	r := &receiver{
		accepted: make(map[string]int),
		bodies:   make(map[string]bool),
		arrivals: make(map[string][]time.Time),
		conns:    make(map[net.Conn]bool),
	}
	r.changed = sync.NewCond(&r.mu)
	r.code.Store(200)
	var urls []string
	for range endpoints {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		r.listeners = append(r.listeners, l)
		urls = append(urls, "http://"+l.Addr().String()+"/hook")
		go r.serve(l)
	}
	b.Cleanup(r.close)
	return r, urls
}

func (r *receiver) close() {
	for _, l := range r.listeners {
		l.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

func (r *receiver) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.opened.Add(1)
		r.mu.Lock()
		r.conns[conn] = true
		r.mu.Unlock()
		go r.serveConn(conn)
	}
}

// serveConn responds to the requests of a connection until it is closed.
func (r *receiver) serveConn(conn net.Conn) {
	defer func() {
		conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	in := bufio.NewReaderSize(conn, 4096)
	var body []byte
	for {
		id, length, err := readHead(in)
		if err != nil {
			return
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		code := r.code.Load()
		if r.answer != nil {
			code = r.answer(body)
		}
		if code == 0 {
			_, _ = in.ReadByte() // until the peer closes the connection
			return
		}
		if wait := r.slow.Load(); wait > 0 {
			time.Sleep(time.Duration(wait))
		}
		r.record(id, body, code == 200)
		if _, err := conn.Write(append(strconv.AppendInt([]byte("HTTP/1.1 "), int64(code), 10), " Fine\r\nContent-Length: 0\r\n\r\n"...)); err != nil {
			return
		}
	}
}

// readHead reads the head of a request and returns the message's ID and the length of
// the body.
func readHead(in *bufio.Reader) (id string, length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		if len(line) <= 2 {
			return id, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		value = bytes.TrimSpace(value)
		if bytes.EqualFold(name, []byte("Webhook-Id")) {
			id = string(value)
		} else if bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.Atoi(string(value))
			if err != nil {
				return "", 0, err
			}
		}
	}
}

// record counts a delivery. Bodies of events contain their time of publishing.
func (r *receiver) record(id string, body []byte, accepted bool) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answer != nil {
		r.order = append(r.order, id)
		if !accepted {
			return
		}
	}
	r.received++
	r.last = now
	r.latencies, r.arrived = append(r.latencies, since(body, now)), append(r.arrived, now)
	if r.recordMessages {
		r.arrivals[id] = append(r.arrivals[id], now)
		if accepted {
			r.accepted[id]++
			r.bodies[numberOf(body)] = true
		}
	}
	r.changed.Broadcast()
}

// reset clears the counts.
func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = 0
	r.latencies = r.latencies[:0]
	r.arrived = r.arrived[:0]
}

// testTimeout is the time limit for expected results.
const testTimeout = 2 * time.Minute

// await waits for n deliveries.
func (r *receiver) await(b *testing.B, n int) {
	b.Helper()
	late := time.AfterFunc(testTimeout, r.changed.Broadcast)
	defer late.Stop()
	began := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.received < n {
		if time.Since(began) > testTimeout {
			b.Fatalf("%d of %d messages were delivered", r.received, n)
		}
		r.changed.Wait()
	}
}
