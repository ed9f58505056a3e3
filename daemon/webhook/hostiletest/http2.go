package hostiletest

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// stream2 is an HTTP/2 connection of a receiver, and the stream of the request that was awaited.
type stream2 struct {
	conn   *Conn
	framer *http2.Framer
	id     uint32
}

// start reads the client's preface and sends settings.
func (c *Conn) start(settings ...http2.Setting) (*stream2, bool) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.in, preface); err != nil {
		return nil, false
	}
	s := &stream2{conn: c, framer: http2.NewFramer(c.Conn, c.in)}
	return s, s.framer.WriteSettings(settings...) == nil
}

// awaitRequest reads frames until a request has begun.
func (s *stream2) awaitRequest() bool {
	return s.readUntil(func(frame http2.Frame) bool {
		_, hasBegun := frame.(*http2.HeadersFrame)
		return hasBegun
	})
}

// awaitWholeRequest reads frames until a request has ended.
func (s *stream2) awaitWholeRequest() bool {
	return s.readUntil(func(frame http2.Frame) bool {
		switch f := frame.(type) {
		case *http2.HeadersFrame:
			return f.StreamEnded()
		case *http2.DataFrame:
			return f.StreamEnded()
		}
		return false
	})
}

// readUntil reads and acknowledges frames until one is the last. It returns false if the connection
// is broken.
func (s *stream2) readUntil(isLast func(http2.Frame) bool) bool {
	for {
		frame, err := s.framer.ReadFrame()
		if err != nil {
			return false
		}
		err = s.acknowledge(frame)
		if err != nil {
			return false
		}
		if isLast(frame) {
			s.id = frame.Header().StreamID // another request may have begun since
			return true
		}
	}
}

// acknowledge answers settings and pings, counts requests, and allows the client to send more data.
func (s *stream2) acknowledge(frame http2.Frame) error {
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return s.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return s.framer.WritePing(true, f.Data)
		}
	case *http2.HeadersFrame:
		s.conn.server.countRequest()
	case *http2.DataFrame:
		if n := uint32(f.Length); n > 0 {
			return errors.Join(
				s.framer.WriteWindowUpdate(0, n),
				s.framer.WriteWindowUpdate(f.StreamID, n))
		}
	}
	return nil
}

// answer sends the head of a response.
func (s *stream2) answer(status string, end bool) bool {
	return s.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID:      s.id,
		BlockFragment: block(":status", status),
		EndHeaders:    true,
		EndStream:     end,
	}) == nil
}

// serveOthers answers pings and ignores everything else until the connection is closed.
func (s *stream2) serveOthers() {
	for {
		frame, err := s.framer.ReadFrame()
		if err != nil {
			return
		}
		if f, ok := frame.(*http2.PingFrame); ok && !f.IsAck() {
			_ = s.framer.WritePing(true, f.Data)
		}
	}
}

// block returns a header block of one field.
func block(name, value string) []byte {
	var b bytes.Buffer
	_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: name, Value: value})
	return b.Bytes()
}

// overHTTP2 are ways to misbehave that HTTP/2 offers. serve runs once for each request; it returns
// false to close the connection.
var overHTTP2 = []struct {
	name     string
	body     int // bytes of the request body that it needs
	settings []http2.Setting
	early    bool // misbehave before the body has arrived
	serve    func(s *stream2) bool
	want     []Outcome
}{
	{
		name: "hangs",
		want: timeout,
		serve: func(s *stream2) bool {
			s.serveOthers()
			return false
		},
	},
	{
		name: "hangs without answers to pings",
		want: timeout,
		serve: func(s *stream2) bool {
			discard(s.conn)
			return false
		},
	},
	{
		name:  "early answer that does not end",
		body:  100 << 10,
		early: true,
		want:  accepted,
		serve: func(s *stream2) bool {
			s.answer("200", false)
			s.conn.hang()
			return false
		},
	},
	{
		name:  "answer that does not end",
		want:  accepted,
		serve: func(s *stream2) bool { return s.answer("200", false) },
	},
	{
		name: "endless body",
		want: slices.Concat(accepted, timeout, invalid),
		serve: func(s *stream2) bool {
			ok := s.answer("200", false)
			data := make([]byte, 1024)
			for ok {
				ok = s.framer.WriteData(s.id, false, data) == nil
			}
			return false
		},
	},
	{
		name:     "window of zero",
		body:     1,
		early:    true,
		settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}},
		want:     timeout,
		serve: func(s *stream2) bool {
			s.serveOthers()
			return false
		},
	},
	{
		name:  "101",
		want:  timeout,
		serve: func(s *stream2) bool { return s.answer("101", false) },
	},
	{
		name: "103 without end",
		want: slices.Concat(invalid, timeout),
		serve: func(s *stream2) bool {
			for s.answer("103", false) {
			}
			return false
		},
	},
	{
		name:  "refuses streams",
		early: true,
		want:  broken,
		serve: func(s *stream2) bool {
			return s.framer.WriteRSTStream(s.id, http2.ErrCodeRefusedStream) == nil
		},
	},
	{
		name: "cancels streams",
		want: broken,
		serve: func(s *stream2) bool {
			return s.framer.WriteRSTStream(s.id, http2.ErrCodeCancel) == nil
		},
	},
	{
		name:  "GOAWAY before each request is processed",
		early: true,
		want:  broken,
		serve: func(s *stream2) bool {
			_ = s.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
			discard(s.conn)
			return false
		},
	},
	{
		name: "GOAWAY with an error",
		want: broken,
		serve: func(s *stream2) bool {
			_ = s.framer.WriteGoAway(0, http2.ErrCodeInternal, nil)
			return false
		},
	},
	{
		name: "GOAWAY that claims a lost connection",
		want: broken,
		serve: func(s *stream2) bool {
			_ = s.framer.WriteGoAway(0, http2.ErrCodeInternal, []byte("http2: client connection lost; REFUSED_STREAM; "))
			return false
		},
	},
	{
		name:  "closes without an answer",
		want:  broken,
		serve: func(*stream2) bool { return false },
	},
	{
		name: "pings without end",
		want: timeout,
		serve: func(s *stream2) bool {
			for s.framer.WritePing(false, [8]byte{}) == nil && s.conn.pause(dripInterval) {
			}
			return false
		},
	},
	{
		name: "settings without end",
		want: timeout,
		serve: func(s *stream2) bool {
			for s.framer.WriteSettings() == nil && s.conn.pause(dripInterval) {
			}
			return false
		},
	},
	{
		name: "CONTINUATION without end",
		want: invalid,
		serve: func(s *stream2) bool {
			head := http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block(":status", "200")}
			err := s.framer.WriteHeaders(head)
			filler := bytes.Repeat(block("x-filler", "0123456789"), 200)
			for err == nil {
				err = s.framer.WriteContinuation(s.id, false, filler)
			}
			return false
		},
	},
	{
		name: "frame that is too large",
		want: invalid,
		serve: func(s *stream2) bool {
			_ = s.framer.WriteRawFrame(http2.FrameData, 0, s.id, make([]byte, 1<<20))
			discard(s.conn)
			return false
		},
	},
	{
		name: "garbage",
		want: invalid,
		serve: func(s *stream2) bool {
			s.conn.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			discard(s.conn)
			return false
		},
	},
}

// http2Receivers returns the receivers of HTTP/2.
func http2Receivers() []Receiver {
	receivers := []Receiver{
		{
			Name:     "no settings",
			Protocol: HTTP2,
			Want:     timeout,
			handles:  func(c *Conn) { discard(c.Conn) },
		},
		{
			Name:     "reads nothing",
			Protocol: HTTP2,
			Want:     timeout,
			Body:     largeBody,
			handles:  func(c *Conn) { c.hang() },
		},
	}
	for _, receiver := range overHTTP2 {
		await := (*stream2).awaitWholeRequest
		if receiver.early {
			await = (*stream2).awaitRequest
		}
		receivers = append(receivers, Receiver{
			Name:     receiver.name,
			Protocol: HTTP2,
			Want:     receiver.want,
			Body:     receiver.body,
			handles: func(c *Conn) {
				s, ok := c.start(receiver.settings...)
				for ok && await(s) {
					ok = receiver.serve(s)
				}
			},
		})
	}
	return receivers
}
