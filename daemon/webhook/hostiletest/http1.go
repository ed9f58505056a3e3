package hostiletest

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// readHead reads the head of a request, and returns its body.
func (c *Conn) readHead() (io.ReadCloser, bool) {
	request, err := http.ReadRequest(c.in)
	if err != nil {
		return nil, false
	}
	c.server.countRequest()
	return request.Body, true
}

// readRequest reads a whole request.
func (c *Conn) readRequest() bool {
	body, ok := c.readHead()
	if !ok {
		return false
	}
	_, err := io.Copy(io.Discard, body)
	return err == nil
}

// write writes a text, and reports whether the connection is open.
func (c *Conn) write(text string) bool {
	_, err := io.WriteString(c.Conn, text)
	return err == nil
}

// writeForever repeats a text until the connection breaks.
func (c *Conn) writeForever(text string) {
	text = strings.Repeat(text, 100)
	for {
		if !c.write(text) {
			return
		}
	}
}

// way is how a receiver misbehaves in a phase of the exchange.
type way struct {
	name string
	do   func(*Conn)
}

// filler is written slowly, or without an end. It is valid in a header and in a body.
const filler = "x"

const dripInterval = 20 * time.Millisecond

var ways = []way{
	{"stall", (*Conn).hang},
	{"drip", (*Conn).drip},
	{"close", func(c *Conn) { c.Close() }},
	{"reset", func(c *Conn) { reset(c.Conn) }},
	{"garbage", (*Conn).writeGarbage},
	{"endless", func(c *Conn) { c.writeForever(filler) }},
}

// drip writes the filler again and again, with pauses, until the connection breaks.
func (c *Conn) drip() {
	for c.pause(dripInterval) {
		if !c.write(filler) {
			return
		}
	}
}

// writeGarbage writes text that is not HTTP.
func (c *Conn) writeGarbage() {
	c.write("\x00\xff\x16\x03\r\nnot HTTP\r\n\r\n")
	discard(c.Conn)
}

// reset makes the close of a connection a reset.
func reset(conn net.Conn) {
	for {
		secured, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// phase is a phase of the exchange, in which a receiver misbehaves after it has done all before.
type phase struct {
	name   string
	body   int // bytes that the phase needs
	before func(c *Conn) bool
	want   map[string][]Outcome // keyed by way
}

// Outcomes of attempts without a response, and of one with a status.
var (
	timeout  = []Outcome{{Cause: webhook.TimedOut}}
	broken   = []Outcome{{Cause: webhook.ConnectionReset}}
	noTLS    = []Outcome{{Cause: webhook.TLSFailed}}
	invalid  = []Outcome{{Cause: webhook.InvalidResponse}}
	accepted = []Outcome{{Code: http.StatusOK}}
)

const largeBody = 4 << 20 // more than the buffers of the sockets hold

// badAnswer is the outcome of an answer that is no HTTP and comes while the request is being sent:
// either end may notice it first.
var badAnswer = slices.Concat(invalid, broken)

var phases = []phase{
	{
		name:   "request head",
		before: func(*Conn) bool { return true },
		body:   largeBody,
		want: map[string][]Outcome{
			"stall":   timeout,
			"drip":    slices.Concat(timeout, invalid), // invalid if the first byte precedes the request
			"close":   broken,
			"reset":   broken,
			"garbage": badAnswer,
			"endless": badAnswer,
		},
	},
	{
		name: "request body",
		before: func(c *Conn) bool {
			_, ok := c.readHead()
			return ok
		},
		body: largeBody,
		want: map[string][]Outcome{
			"stall":   timeout,
			"drip":    timeout,
			"close":   broken,
			"reset":   broken,
			"garbage": badAnswer,
			"endless": badAnswer,
		},
	},
	{
		name:   "answer head",
		before: func(c *Conn) bool { return c.readRequest() && c.write("HTTP/1.1 200 OK\r\nX-Filler: ") },
		want: map[string][]Outcome{
			"stall":   timeout,
			"drip":    timeout,
			"close":   broken,
			"reset":   broken,
			"garbage": invalid,
			"endless": invalid,
		},
	},
	{
		name: "answer body",
		before: func(c *Conn) bool {
			return c.readRequest() && c.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
		},
		want: map[string][]Outcome{
			"stall":   accepted,
			"drip":    accepted,
			"close":   accepted,
			"reset":   accepted,
			"garbage": accepted,
			"endless": accepted,
		},
	},
	{ // the next attempt may use the connection
		name: "idle connection",
		before: func(c *Conn) bool {
			return c.readRequest() && c.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		},
		want: map[string][]Outcome{
			"stall":   slices.Concat(accepted, timeout),
			"drip":    slices.Concat(accepted, timeout, invalid),
			"close":   accepted,
			"reset":   accepted,
			"garbage": slices.Concat(accepted, badAnswer),
			"endless": slices.Concat(accepted, badAnswer),
		},
	},
}

// handshake is how a receiver behaves before or during the TLS handshake.
type handshake struct {
	do   func(net.Conn)
	want []Outcome
}

// handshakes are handshakes by name.
var handshakes = map[string]handshake{
	"stall":   {do: func(net.Conn) {}, want: timeout},
	"drip":    {do: dripRecord, want: timeout},
	"close":   {do: func(c net.Conn) { c.Close() }, want: broken},
	"reset":   {do: reset, want: broken},
	"garbage": {do: writesText("220 mail.example ESMTP\r\n"), want: noTLS},
	"endless": {do: writeRecords, want: noTLS},
	"alert":   {do: writesText(handshakeFailure), want: noTLS},
}

// Texts of TLS.
const (
	recordHead       = "\x16\x03\x03\x40\x00" // of a record of 16 KiB in a handshake
	handshakeFailure = "\x15\x03\x03\x00\x02\x02\x28"
)

// writesText returns a function that writes a text.
func writesText(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// writeRecords writes heads of TLS records until the connection breaks.
func writeRecords(c net.Conn) {
	records := strings.Repeat(recordHead, 1024)
	for {
		_, err := io.WriteString(c, records)
		if err != nil {
			return
		}
	}
}

// dripRecord writes a TLS record, a byte at a time.
func dripRecord(c net.Conn) {
	_, err := io.WriteString(c, recordHead)
	for err == nil {
		time.Sleep(dripInterval)
		_, err = c.Write([]byte{2})
	}
}

// answer is an answer that holds up or confuses a client of HTTP/1.1.
type answer struct {
	text     string
	repeated string // follows the text without an end; empty for nothing
	want     []Outcome
}

const (
	switching  = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
	earlyHints = "HTTP/1.1 103 Early Hints\r\n\r\n"
	emptyOK    = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
)

// answers are answers by name.
var answers = map[string]answer{
	"101": {
		text: switching,
		want: invalid,
	},
	"101 and an endless stream": {
		text:     switching,
		repeated: "x",
		want:     invalid,
	},
	"one 103, then nothing": {
		text: earlyHints,
		want: timeout,
	},
	"103 without end": {
		text:     earlyHints,
		repeated: earlyHints,
		want:     invalid,
	},
	"chunks without end": {
		text:     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		repeated: "1\r\nx\r\n",
		want:     accepted,
	},
	"204 with a body": {
		text: "HTTP/1.1 204 No Content\r\n\r\nbody",
		want: []Outcome{{Code: http.StatusNoContent}},
	},
	"events without end": {
		text:     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
		repeated: "data: x\n\n",
		want:     accepted,
	},
	"two answers": {
		text: emptyOK + emptyOK,
		want: accepted,
	},
	"claims GOAWAY": {
		text: "HTTP/1.1 GOAWAY\r\n\r\n",
		want: invalid,
	},
	"claims a lost connection": {
		text: "HTTP/1.1 200 OK\r\n@: http2: client connection lost\r\n\r\n",
		want: invalid,
	},
	"claims a refused stream": {
		text: "HTTP/1.1 REFUSED_STREAM\r\n\r\n",
		want: invalid,
	},
	"status without a number": {
		text: "HTTP/1.1 fine\r\n\r\n",
		want: invalid,
	},
}

// handle answers all requests of a connection.
func (a answer) handle(c *Conn) {
	for c.readRequest() && c.write(a.text) {
		if a.repeated != "" {
			c.writeForever(a.repeated)
			return
		}
	}
}

// http1 returns the receivers of HTTP/1.1, ordered by name.
func http1() []Receiver {
	receivers := []Receiver{{
		Name:     "connect: refused",
		Protocol: Plain,
		Want:     []Outcome{{Cause: webhook.ConnectionRefused}},
		refuses:  true,
	}}
	for name, h := range handshakes {
		receivers = append(receivers, Receiver{
			Name:     "TLS: " + name,
			Protocol: TLS,
			Want:     h.want,
			raw:      h.do,
		})
	}
	for _, protocol := range []Protocol{Plain, TLS} {
		receivers = append(receivers, inPhases(protocol)...)
		for name, a := range answers {
			receivers = append(receivers, Receiver{
				Name:     name,
				Protocol: protocol,
				Want:     a.want,
				handles:  a.handle,
			})
		}
		receivers = append(receivers, Receiver{
			Name:     "closes without an answer",
			Protocol: protocol,
			Want:     broken,
			handles:  func(c *Conn) { c.readRequest() },
		})
	}
	slices.SortStableFunc(receivers, func(a, b Receiver) int { return strings.Compare(a.Name, b.Name) })
	return receivers
}

// outcomes returns the acceptable outcomes of a way to misbehave in the phase.
func (p phase) outcomes(w way) []Outcome {
	want, ok := p.want[w.name]
	if !ok {
		panic("hostiletest: the phase " + p.name + " has no outcomes of " + w.name)
	}
	return want
}

// inPhases returns receivers that misbehave in each way in each phase.
func inPhases(protocol Protocol) []Receiver {
	var receivers []Receiver
	for _, p := range phases {
		for _, w := range ways {
			receivers = append(receivers, Receiver{
				Name:     p.name + ": " + w.name,
				Protocol: protocol,
				Want:     p.outcomes(w),
				Body:     p.body,
				handles: func(c *Conn) {
					if p.before(c) {
						w.do(c)
					}
				},
			})
		}
	}
	return receivers
}

// Table returns all receivers.
func Table() []Receiver { return slices.Concat(http1(), http2Receivers()) }
