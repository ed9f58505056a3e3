package client

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

var errLongEvent = fmt.Errorf("an event is longer than %d KiB", maxEvent>>10)

// eventSource parses a stream of server-sent events.
type eventSource struct {
	in     *bufio.Reader
	begun  bool          // a line has been read
	lastID string        // ID of the last event
	retry  time.Duration // reconnection time of the server; 0 if it sent none
}

func newEventSource(r io.Reader) *eventSource {
	return &eventSource{in: bufio.NewReaderSize(r, maxEvent)}
}

// defaultEvent is the name of an event that has none.
const defaultEvent = "message"

// sourceEvent is a server-sent event.
type sourceEvent struct {
	name string
	data []byte
}

// next returns the next event. An incomplete event at the end is dropped; next then
// returns io.EOF.
func (s *eventSource) next() (sourceEvent, error) {
	e := sourceEvent{name: defaultEvent}
	for {
		line, err := s.line()
		if err != nil {
			return sourceEvent{}, err
		}
		if len(line) > 0 {
			if err := s.field(&e, line); err != nil {
				return sourceEvent{}, err
			}
			continue
		}
		if len(e.data) > 0 {
			e.data = e.data[:len(e.data)-1] // the last line break
			return e, nil
		}
		e.name = defaultEvent // the event ends without data and is dropped
	}
}

// line returns a line without its line break. It is valid until the next call.
func (s *eventSource) line() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errLongEvent
	}
	if err != nil {
		return nil, err
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// field parses a line of an event: "name: value". A line without name is a comment.
func (s *eventSource) field(e *sourceEvent, line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = cmp.Or(string(value), defaultEvent)
	case "data":
		if len(e.data)+len(value) >= maxEvent {
			return errLongEvent
		}
		e.data = append(e.data, value...)
		e.data = append(e.data, '\n')
	case "id":
		if id := string(value); !strings.ContainsRune(id, 0) {
			s.lastID = id
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			s.retry = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}
