package live

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// notesKept is how many events without an id wait for one reader.
const notesKept = 64

// Note shows readers of a topic an event that has no id: it does not come
// again, and a reader that is slow may not get it. The data is what
// encoding/json can write.
func (h *Hub) Note(topic Topics, name string, data any) {
	if !h.Wanted(topic) {
		return
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic("live: " + name + ": " + err.Error()) // a mistake in the program
	}
	event := appendEvent(nil, "", name, text)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.readers {
		if !r.topics.Has(topic) {
			continue
		}
		select {
		case r.notes <- event:
		default:
			h.counts.Skipped++
		}
	}
}

// measureEvery is the time between two events of stats.
const measureEvery = time.Second

// Measure says where the events stats come from. While somebody reads them,
// figures is asked once a second what they are and whether there is news; they
// are shown then, and to somebody who has just come.
func (h *Hub) Measure(figures func() (data any, news bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.figures = figures
}

// measure begins or ends to ask for figures.
func (h *Hub) measure(read bool) {
	switch {
	case !read && h.measuring != nil:
		h.measuring()
		h.measuring = nil
	case read && h.measuring == nil:
		ctx, stop := context.WithCancel(h.life)
		h.measuring = stop
		h.work.Go(func() { h.showFigures(ctx) })
	}
}

func (h *Hub) showFigures(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		figures, newcomer := h.figures, h.newcomer
		h.newcomer = newcomer && figures == nil // else somebody who has come gets figures now
		h.mu.Unlock()
		if figures == nil {
			continue
		}
		if data, news := figures(); news || newcomer {
			h.Note(Stats, wire.EventStats, data)
		}
	}
}
