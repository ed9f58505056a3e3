package client

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readEvents reads a stream to its end, each event as "name: data".
func readEvents(s *eventSource) (events []string, err error) {
	for {
		e, err := s.next()
		if err != nil {
			return events, err
		}
		events = append(events, e.name+": "+string(e.data))
	}
}

func TestEventSourceParsesFields(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		events []string
		lastID string
		retry  time.Duration
	}{
		"single event": {
			text:   "event: a\ndata: b\nid: 1\n\n",
			events: []string{"a: b"},
			lastID: "1",
		},
		"no name": {
			text:   "data: b\n\n",
			events: []string{"message: b"},
		},
		"empty name": {
			text:   "event: x\nevent\ndata: b\n\n",
			events: []string{"message: b"},
		},
		"name without data": {
			text:   "event: a\n\ndata: b\n\n",
			events: []string{"message: b"},
		},
		"ID without data": {
			text:   "id: 7\n\n",
			lastID: "7",
		},
		"ID of earlier event": {
			text:   "id: 7\ndata: a\n\ndata: b\n\n",
			events: []string{"message: a", "message: b"},
			lastID: "7",
		},
		"ID reset": {
			text:   "id: 7\ndata: a\n\nid\ndata: b\n\n",
			events: []string{"message: a", "message: b"},
		},
		"ID with null character": {
			text:   "id: 7\x00\ndata: a\n\n",
			events: []string{"message: a"},
		},
		"several data lines": {
			text:   "data: a\ndata:b\ndata\ndata:  c\n\n",
			events: []string{"message: a\nb\n\n c"},
		},
		"carriage returns": {
			text:   "event: a\r\ndata: b\r\n\r\n",
			events: []string{"a: b"},
		},
		"comments": {
			text:   ":\n: x\nevent: a\n:data: z\ndata: b\n\n:\n\n",
			events: []string{"a: b"},
		},
		"unknown fields": {
			text:   "events: x\n data: y\ndata: b\n\n",
			events: []string{"message: b"},
		},
		"byte order mark": {
			text:   "\ufeffdata: b\n\n\ufeffdata: c\n\n",
			events: []string{"message: b"},
		},
		"retry": {
			text:  "retry: 1500\n\nretry: soon\n\nretry: -1\n\n",
			retry: 1500 * time.Millisecond,
		},
		"truncated event": {
			text:   "data: a\n\ndata: b\n",
			events: []string{"message: a"},
		},
		"truncated line": {
			text:   "data: a\n\nid: 12",
			events: []string{"message: a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEventSource(iotest.OneByteReader(strings.NewReader(test.text)))
			events, err := readEvents(s)
			if err != io.EOF {
				t.Errorf("the stream %q ended with %v, want EOF", test.text, err)
			}
			if !slices.Equal(events, test.events) {
				t.Errorf("the stream %q has the events %q, want %q", test.text, events, test.events)
			}
			if s.lastID != test.lastID || s.retry != test.retry {
				t.Errorf("after the stream %q: last ID %q, retry %v, want %q, %v",
					test.text, s.lastID, s.retry, test.lastID, test.retry)
			}
		})
	}
}

func TestLongEventIsAnError(t *testing.T) {
	longest := strings.Repeat("x", maxEvent-len("data: \n"))
	events, err := readEvents(newEventSource(strings.NewReader("data: " + longest + "\n\n")))
	if err != io.EOF || len(events) != 1 {
		t.Errorf("the longest event: got %d events, %v, want one", len(events), err)
	}
	for name, text := range map[string]string{
		"one line":         "data: " + longest + "x\n\n",
		"many lines":       strings.Repeat("data: "+longest[:1000]+"\n", 66) + "\n",
		"line without end": strings.Repeat("x", 2*maxEvent),
	} {
		events, err := readEvents(newEventSource(strings.NewReader("data: a\n\n" + text)))
		if !errors.Is(err, errLongEvent) || len(events) != 1 {
			t.Errorf("%s: got %d events, %v, want the event before and %v", name, len(events), err, errLongEvent)
		}
	}
}

// FuzzEventSource checks that the size of reads does not matter, and that parsed events
// can be formatted and parsed again.
func FuzzEventSource(f *testing.F) {
	f.Add([]byte("retry: 2000\n:   \n\nid: k3v9-1\nevent: message\ndata: {\"Status\":1}\n\n"))
	f.Add([]byte("\ufeffdata: a\r\ndata\r\n\r\nid\nid: \x00\n\nevent:\ndata: :\n\n"))
	f.Add([]byte("event:: 0\ndata:\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole := newEventSource(strings.NewReader(string(text)))
		events, err := readEvents(whole)
		short := newEventSource(iotest.HalfReader(strings.NewReader(string(text))))
		reread, errReread := readEvents(short)
		if !slices.Equal(events, reread) || !errors.Is(errReread, err) {
			t.Fatalf("%q, %v\nwith short reads %q, %v", events, err, reread, errReread)
		}
		if whole.lastID != short.lastID || whole.retry != short.retry {
			t.Fatalf("last ID %q, retry %v\nwith short reads %q, %v",
				whole.lastID, whole.retry, short.lastID, short.retry)
		}

		var written strings.Builder
		for _, e := range events {
			name, data, _ := strings.Cut(e, ": ")
			if name == "" || strings.Contains(name+data, "\r") || strings.Contains(e, ": : ") {
				return // the name cannot be separated from the data
			}
			fmt.Fprintf(&written, "event: %s\ndata: %s\n\n", name, strings.ReplaceAll(data, "\n", "\ndata: "))
		}
		reparsed, err := readEvents(newEventSource(strings.NewReader(written.String())))
		if !slices.Equal(reparsed, events) || err != io.EOF {
			t.Fatalf("%q\nformatted and parsed: %q, %v", events, reparsed, err)
		}
	})
}
