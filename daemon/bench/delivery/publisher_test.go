package delivery

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bodySize     = 512
	timeDigits   = 19
	numberDigits = 9
)

// since returns the age of an event. Its body consists of the time of publishing, its
// number and padding.
func since(body []byte, now time.Time) time.Duration {
	nanos, err := strconv.ParseInt(string(body[:timeDigits]), 10, 64)
	if err != nil {
		return 0 // not published by this process
	}
	return now.Sub(time.Unix(0, nanos))
}

// numberOf returns an event's number, as text.
func numberOf(body []byte) string { return string(body[timeDigits : timeDigits+numberDigits]) }

// target is an endpoint for publishing events.
type target struct {
	address    string // host and port
	path       string
	key        string
	events     []string // names, used in turn; empty for the floor, its requests consist of the body only
	padding    string   // added to each body
	keys       int      // number of keys, used in turn; 0 for events without a key
	publishers int      // how many publish at a rate; 0 for the usual number
}

// publisher is a connection. It does less work than net/http's client.
type publisher struct {
	net.Conn
	in   *bufio.Reader
	text []byte
}

func dial(address string) (*publisher, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &publisher{Conn: conn, in: bufio.NewReaderSize(conn, 4096)}, nil
}

// filling pads bodies to their size.
var filling = strings.Repeat("x", bodySize-timeDigits-numberDigits)

// publish publishes the n-th event and waits for the response.
func (p *publisher) publish(t *target, n int) error {
	body := fmt.Sprintf("%0*d%0*d%s", timeDigits, time.Now().UnixNano(), numberDigits, n, filling+t.padding)
	if len(t.events) > 0 {
		key := ""
		if t.keys > 0 {
			key = fmt.Sprintf(`"Key":"K%d",`, n%t.keys)
		}
		body = `{` + key + `"EventName":"` + t.events[n%len(t.events)] + `","Body":"` + body + `"}`
	}
	if err := p.post(t, body); err != nil {
		return err
	}
	return p.answer()
}

// post sends a request.
func (p *publisher) post(t *target, body string) error {
	p.text = fmt.Appendf(p.text[:0], "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		t.path, t.key, len(body), body)
	_, err := p.Write(p.text)
	return err
}

// answer reads a response, which must be 201.
func (p *publisher) answer() error {
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := io.Copy(&text, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s", resp.Status, &text)
	}
	return nil
}

// publishers is the number of concurrent publishers.
const publishers = 32

// runEach runs a function for each of n publishers concurrently.
func runEach(n int, targets []target, run func(p *publisher, t *target, worker int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for worker := range n {
		all.Go(func() {
			t := &targets[worker%len(targets)]
			p, err := dial(t.address)
			if err != nil {
				errs[worker] = err
				return
			}
			defer p.Close()
			errs[worker] = run(p, t, worker)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// publishAll publishes n events as fast as possible.
func publishAll(n int, targets ...target) error {
	var next atomic.Int64
	return runEach(publishers, targets, func(p *publisher, t *target, _ int) error {
		for {
			i := int(next.Add(1))
			if i > n {
				return nil
			}
			if err := p.publish(t, i); err != nil {
				return err
			}
		}
	})
}

// publishPaced publishes n events at a rate per second, regardless of response times as
// long as there is an idle publisher.
func publishPaced(n, perSecond int, t target) error {
	began, workers := time.Now(), cmp.Or(t.publishers, publishers)
	return runEach(workers, []target{t}, func(p *publisher, t *target, worker int) error {
		for i := worker; i < n; i += workers {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
			if err := p.publish(t, i); err != nil {
				return err
			}
		}
		return nil
	})
}
