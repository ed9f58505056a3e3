package delivery

import (
	"bufio"
	"bytes"
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
	bodySize   = 512
	timeDigits = 19
	markDigits = 9
)

// The body of an event is text: when it was published, its number, and filling.
func since(body []byte, now time.Time) time.Duration {
	nanos, err := strconv.ParseInt(string(body[:timeDigits]), 10, 64)
	if err != nil {
		return 0 // nobody published it
	}
	return now.Sub(time.Unix(0, nanos))
}

// mark is an event's number, as text.
func mark(body []byte) string { return string(body[timeDigits : timeDigits+markDigits]) }

// target is where events are published.
type target struct {
	address string // host and port
	path    string
	key     string
	events  []string // names, which take turns; none for the floor, which takes the body alone
}

// publisher is one connection. It does less than net/http's client.
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

// filling fills bodies up to their size.
var filling = strings.Repeat("x", bodySize-timeDigits-markDigits)

// publish publishes the n-th event and waits for the answer.
func (p *publisher) publish(t *target, n int) error {
	body := fmt.Sprintf("%0*d%0*d%s", timeDigits, time.Now().UnixNano(), markDigits, n, filling)
	if len(t.events) > 0 {
		body = `{"EventName":"` + t.events[n%len(t.events)] + `","Body":"` + body + `"}`
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

// answer reads an answer, which must be 201.
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

// publishers is the number of publishers at once.
const publishers = 32

// each runs something for each of the publishers.
func each(targets []target, run func(p *publisher, t *target, who int) error) error {
	errs := make([]error, publishers)
	var all sync.WaitGroup
	for who := range publishers {
		all.Go(func() {
			t := &targets[who%len(targets)]
			p, err := dial(t.address)
			if err != nil {
				errs[who] = err
				return
			}
			defer p.Close()
			errs[who] = run(p, t, who)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// flood publishes n events as fast as it goes.
func flood(n int, targets ...target) error {
	var next atomic.Int64
	return each(targets, func(p *publisher, t *target, _ int) error {
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

// calmly publishes n events, so many in a second, whatever the answers take.
func calmly(n, perSecond int, t target) error {
	began := time.Now()
	return each([]target{t}, func(p *publisher, t *target, who int) error {
		for i := who; i < n; i += publishers {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
			if err := p.publish(t, i); err != nil {
				return err
			}
		}
		return nil
	})
}
