package benchtest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// Receiver receives deliveries. It does less work than net/http's server, which would use more
// CPU time than the daemon.
type Receiver struct {
	URLs []string // of its first endpoints

	respond   func(message string, body []byte) (code int)
	opened    atomic.Int64
	listeners []net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool // to close
}

// Listen starts a receiver with the given number of endpoints, until the benchmark ends. respond
// gets the ID and the body of a message, which it must not keep, and returns the status code of
// the response; 0 for none until the daemon closes the connection. It is called concurrently.
func Listen(b *testing.B, endpoints int, respond func(message string, body []byte) (code int)) *Receiver {
	b.Helper()
	r := &Receiver{respond: respond, conns: make(map[net.Conn]bool)}
	for range endpoints {
		r.URLs = append(r.URLs, r.ListenAt(b, "127.0.0.1:0"))
	}
	b.Cleanup(r.close)
	return r
}

// ListenAt adds an endpoint with an address, and returns its URL.
func (r *Receiver) ListenAt(b *testing.B, address string) (url string) {
	b.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	r.listeners = append(r.listeners, l)
	go r.accept(l)
	return "http://" + l.Addr().String() + "/hook"
}

// Opened returns how many connections were accepted.
func (r *Receiver) Opened() int64 { return r.opened.Load() }

func (r *Receiver) close() {
	for _, l := range r.listeners {
		l.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

func (r *Receiver) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.opened.Add(1)
		r.mu.Lock()
		r.conns[conn] = true
		r.mu.Unlock()
		go r.serve(conn)
	}
}

// serve responds to the requests of a connection until it is closed.
func (r *Receiver) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	in := bufio.NewReaderSize(conn, 4096)
	var body []byte
	for {
		message, length, err := ReadHead(in)
		if err != nil {
			return
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		code := r.respond(message, body)
		if code == 0 {
			_, _ = in.ReadByte() // until the peer closes the connection
			return
		}
		line := strconv.AppendInt([]byte("HTTP/1.1 "), int64(code), 10)
		if _, err := conn.Write(append(line, " Fine\r\nContent-Length: 0\r\n\r\n"...)); err != nil {
			return
		}
	}
}

// ReadHead reads the head of a request and returns the message's ID and the length of the body.
func ReadHead(in *bufio.Reader) (message string, length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		if len(line) <= 2 {
			return message, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		value = bytes.TrimSpace(value)
		if bytes.EqualFold(name, []byte("Webhook-Id")) {
			message = string(value)
		} else if bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.Atoi(string(value))
			if err != nil {
				return "", 0, err
			}
		}
	}
}
