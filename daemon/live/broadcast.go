package live

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// broadcastBuffer is how many events without an id wait for one reader.
const broadcastBuffer = 64

// Broadcast shows readers of a topic an event that has no id: it does not come
// again, and a reader that is slow may not get it. The data is what
// encoding/json can write.
func (h *Hub) Broadcast(topic Topics, name string, data any) {
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
		case r.broadcasts <- event:
		default:
			h.counts.Skipped++
		}
	}
}

// statsInterval is the time between two events of stats.
const statsInterval = time.Second

// SetStatsSource says where the events stats come from. While somebody reads them,
// figures is asked once a second what they are and whether there is news; they
// are shown then, and to somebody who has just come.
func (h *Hub) SetStatsSource(source func() (data any, changed bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statsSource = source
}

// setStatsRunning begins or ends to ask for figures.
func (h *Hub) setStatsRunning(read bool) {
	switch {
	case !read && h.stopStats != nil:
		h.stopStats()
		h.stopStats = nil
	case read && h.stopStats == nil:
		ctx, stop := context.WithCancel(h.ctx)
		h.stopStats = stop
		h.tasks.Go(func() { h.broadcastStats(ctx) })
	}
}

func (h *Hub) broadcastStats(ctx context.Context) {
	tick := time.NewTicker(statsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		source, requested := h.statsSource, h.statsRequested
		h.statsRequested = requested && source == nil // else somebody who has come gets figures now
		h.mu.Unlock()
		if source == nil {
			continue
		}
		if data, changed := source(); changed || requested {
			h.Broadcast(Stats, wire.EventStats, data)
		}
	}
}
