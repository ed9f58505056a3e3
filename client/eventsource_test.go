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
		"single event":           {"event: a\ndata: b\nid: 1\n\n", []string{"a: b"}, "1", 0},
		"no name":                {"data: b\n\n", []string{"message: b"}, "", 0},
		"empty name":             {"event: x\nevent\ndata: b\n\n", []string{"message: b"}, "", 0},
		"name without data":      {"event: a\n\ndata: b\n\n", []string{"message: b"}, "", 0},
		"ID without data":        {"id: 7\n\n", nil, "7", 0},
		"ID of earlier event":    {"id: 7\ndata: a\n\ndata: b\n\n", []string{"message: a", "message: b"}, "7", 0},
		"ID reset":               {"id: 7\ndata: a\n\nid\ndata: b\n\n", []string{"message: a", "message: b"}, "", 0},
		"ID with null character": {"id: 7\x00\ndata: a\n\n", []string{"message: a"}, "", 0},
		"several data lines":     {"data: a\ndata:b\ndata\ndata:  c\n\n", []string{"message: a\nb\n\n c"}, "", 0},
		"carriage returns":       {"event: a\r\ndata: b\r\n\r\n", []string{"a: b"}, "", 0},
		"comments":               {":\n: x\nevent: a\n:data: z\ndata: b\n\n:\n\n", []string{"a: b"}, "", 0},
		"unknown fields":         {"events: x\n data: y\ndata: b\n\n", []string{"message: b"}, "", 0},
		"byte order mark":        {"\ufeffdata: b\n\n\ufeffdata: c\n\n", []string{"message: b"}, "", 0},
		"retry":                  {"retry: 1500\n\nretry: soon\n\nretry: -1\n\n", nil, "", 1500 * time.Millisecond},
		"truncated event":        {"data: a\n\ndata: b\n", []string{"message: a"}, "", 0},
		"truncated line":         {"data: a\n\nid: 12", []string{"message: a"}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEventSource(iotest.OneByteReader(strings.NewReader(test.text)))
			events, err := readEvents(s)
			if !slices.Equal(events, test.events) || err != io.EOF || s.lastID != test.lastID || s.retry != test.retry {
				t.Errorf("%q, %v, id %q, retry %v", events, err, s.lastID, s.retry)
			}
		})
	}
}

func TestLongEventIsAnError(t *testing.T) {
	longest := strings.Repeat("x", maxEvent-len("data: \n"))
	if events, err := readEvents(newEventSource(strings.NewReader("data: " + longest + "\n\n"))); err != io.EOF || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
	for name, text := range map[string]string{
		"one line":         "data: " + longest + "x\n\n",
		"many lines":       strings.Repeat("data: "+longest[:1000]+"\n", 66) + "\n",
		"line without end": strings.Repeat("x", 2*maxEvent),
	} {
		if events, err := readEvents(newEventSource(strings.NewReader("data: a\n\n" + text))); !errors.Is(err, errLongEvent) || len(events) != 1 {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
	}
}

// FuzzEventSource checks that the size of reads does not matter, and that parsed events
// can be formatted and parsed again.
func FuzzEventSource(f *testing.F) {
	f.Add([]byte("retry: 2000\n:   \n\nid: k3v9-1\nevent: message\ndata: {\"Status\":1}\n\n"))
	f.Add([]byte("\ufeffdata: a\r\ndata\r\n\r\nid\nid: \x00\n\nevent:\ndata: :\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole := newEventSource(strings.NewReader(string(text)))
		events, err := readEvents(whole)
		short := newEventSource(iotest.HalfReader(strings.NewReader(string(text))))
		reread, errReread := readEvents(short)
		if !slices.Equal(events, reread) || !errors.Is(errReread, err) || whole.lastID != short.lastID || whole.retry != short.retry {
			t.Fatalf("%q, %v\nwith short reads %q, %v", events, err, reread, errReread)
		}
		var written strings.Builder
		for _, e := range events {
			name, data, _ := strings.Cut(e, ": ")
			if strings.Contains(name+data, "\r") || strings.Contains(e, ": : ") {
				return // the name cannot be separated from the data
			}
			fmt.Fprintf(&written, "event: %s\ndata: %s\n\n", name, strings.ReplaceAll(data, "\n", "\ndata: "))
		}
		if reparsed, err := readEvents(newEventSource(strings.NewReader(written.String()))); !slices.Equal(reparsed, events) || err != io.EOF {
			t.Fatalf("%q\nformatted and parsed: %q, %v", events, reparsed, err)
		}
	})
}
