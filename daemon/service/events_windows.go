package service

import (
	"bytes"
	"context"
	"log/slog"
	"sync"

	"golang.org/x/sys/windows/svc/eventlog"
)

// eventHandler writes warnings and errors to the Windows event log. Lower levels, such as
// the line for each request, are left out.
type eventHandler struct {
	slog.Handler // writes a line into the buffer
	line         *line
	events       *eventlog.Log
}

// line buffers the text of one entry.
type line struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func newEventHandler(events *eventlog.Log) slog.Handler {
	l := new(line)
	options := &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTimeAndLevel}
	return eventHandler{slog.NewTextHandler(&l.text, options), l, events}
}

// withoutTimeAndLevel removes the time and level, which entries of the event log have anyway.
func withoutTimeAndLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
		return slog.Attr{}
	}
	return a
}

func (h eventHandler) Handle(ctx context.Context, r slog.Record) error {
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	h.line.text.Reset()
	if err := h.Handler.Handle(ctx, r); err != nil {
		return err
	}
	text := eventText(h.line.text.String())
	if r.Level >= slog.LevelError {
		return h.events.Error(eventError, text)
	}
	return h.events.Warning(eventWarning, text)
}

func (h eventHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return eventHandler{h.Handler.WithAttrs(attributes), h.line, h.events}
}

func (h eventHandler) WithGroup(name string) slog.Handler {
	return eventHandler{h.Handler.WithGroup(name), h.line, h.events}
}
