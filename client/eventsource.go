package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxEvent is the length that one line of a live stream may have, and that the
// data of one event may have.
const maxEvent = 64 << 10

var errLongEvent = fmt.Errorf("an event is longer than %d KiB", maxEvent>>10)

// eventSource reads a stream of server-sent events.
type eventSource struct {
	in     *bufio.Reader
	begun  bool
	lastID string        // the id that holds for the last event
	retry  time.Duration // how soon the server wants to be asked again; 0 where it has not said
}

func newEventSource(r io.Reader) *eventSource {
	return &eventSource{in: bufio.NewReaderSize(r, maxEvent)}
}

// sourceEvent is one event.
type sourceEvent struct {
	name string
	data []byte
}

// next reads up to the end of the next event. What comes behind the last one is
// no event, and gives io.EOF.
func (s *eventSource) next() (sourceEvent, error) {
	e := sourceEvent{name: "message"}
	for {
		line, err := s.line()
		if err != nil {
			return sourceEvent{}, err
		}
		if len(line) == 0 {
			if len(e.data) > 0 {
				e.data = e.data[:len(e.data)-1] // the last line break
				return e, nil
			}
			e.name = "message"
			continue
		}
		if err := s.field(&e, line); err != nil {
			return sourceEvent{}, err
		}
	}
}

// line reads a line, without its end. It is valid until the next one is read.
func (s *eventSource) line() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errLongEvent
	case err != nil:
		return nil, err
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// field takes one line of an event: "name: value". One without a name is a
// comment.
func (s *eventSource) field(e *sourceEvent, line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		if e.name = string(value); e.name == "" {
			e.name = "message"
		}
	case "data":
		if len(e.data)+len(value) >= maxEvent {
			return errLongEvent
		}
		e.data = append(append(e.data, value...), '\n')
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
