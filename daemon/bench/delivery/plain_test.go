package delivery

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// The plainest program that stores events before it accepts them, and sends them once with
// a signature. It appends to a file instead of a database and has no HTTP library: the
// difference to the floor is the price of those.

// plain is the state of the process.
type plain struct {
	file    *os.File
	target  *url.URL // nil to store only
	mu      sync.Mutex
	waiting *sync.Cond
	records []plainRecord
	out     chan plainRecord
}

// plainRecord is an event, or the result of sending one.
type plainRecord struct {
	id    int64
	body  []byte        // nil for a result
	saved chan struct{} // closed when it is stored
}

// plainVariable is the environment variable that makes the test binary run the plainest
// program. Its value is the target URL, or plainStore.
const (
	plainVariable = "DELIVERBENCH_PLAIN"
	plainStore    = "store"
)

func runPlain(dir, target string) (err error) {
	p := &plain{out: make(chan plainRecord, 1<<20)}
	p.waiting = sync.NewCond(&p.mu)
	if p.file, err = os.Create(filepath.Join(dir, "events")); err != nil {
		return err
	}
	if target != plainStore {
		if p.target, err = url.Parse(target); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	go func() { fail(p.write()) }()
	for range floorSenders {
		if p.target != nil {
			go func() { fail(p.send()) }()
		}
	}
	fmt.Println("the plainest program serves http://" + listener.Addr().String())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		fail(err)
	}()
	return <-failed
}

// serve accepts the events of a connection.
func (p *plain) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 4096)
	for {
		_, length, err := benchtest.ReadHead(in)
		if err != nil {
			return
		}
		r := plainRecord{body: make([]byte, length), saved: make(chan struct{})}
		if _, err := io.ReadFull(in, r.body); err != nil {
			return
		}
		p.record(r)
		<-r.saved
		if _, err := io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"); err != nil {
			return
		}
	}
}

func (p *plain) record(r plainRecord) {
	p.mu.Lock()
	p.records = append(p.records, r)
	p.mu.Unlock()
	p.waiting.Signal()
}

// write appends everything that arrived during the last fsync.
func (p *plain) write() error {
	var text []byte
	for id := int64(1); ; {
		p.mu.Lock()
		for len(p.records) == 0 {
			p.waiting.Wait()
		}
		all := p.records
		p.records = nil
		p.mu.Unlock()
		text = text[:0]
		for i := range all {
			if all[i].body != nil {
				all[i].id = id
				id++
			}
			text = binary.AppendVarint(text, all[i].id)
			text = binary.AppendVarint(text, int64(len(all[i].body)))
			text = append(text, all[i].body...)
		}
		if _, err := p.file.Write(text); err != nil {
			return err
		}
		if err := p.file.Sync(); err != nil {
			return err
		}
		for _, r := range all {
			if r.body != nil {
				close(r.saved)
				if p.target != nil {
					p.out <- r
				}
			}
		}
	}
}

// send sends signed events over one connection.
func (p *plain) send() error {
	conn, err := net.Dial("tcp", p.target.Host)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 4096)
	mac := hmac.New(sha256.New, make([]byte, 32))
	var head, text, sum []byte
	for r := range p.out {
		now := time.Now().Unix()
		mac.Reset()
		mac.Write(strconv.AppendInt(append(strconv.AppendInt(text[:0], r.id, 10), '.'), now, 10))
		mac.Write(r.body)
		sum = mac.Sum(sum[:0])
		head = fmt.Appendf(head[:0], "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nWebhook-Id: %d\r\nWebhook-Timestamp: %d\r\nWebhook-Signature: v1,",
			p.target.Path, p.target.Host, len(r.body), r.id, now)
		head = append(base64.StdEncoding.AppendEncode(head, sum), "\r\n\r\n"...)
		if _, err := conn.Write(append(head, r.body...)); err != nil {
			return err
		}
		line, err := in.ReadSlice('\n')
		if err != nil || !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("%s %w", line, err)
		}
		if _, _, err := benchtest.ReadHead(in); err != nil {
			return err
		}
		p.record(plainRecord{id: r.id})
	}
	return nil
}

// startPlain starts the plainest program.
func startPlain(b *testing.B, url string) *floorProcess {
	b.Helper()
	return startProgram(b, plainVariable, url)
}
