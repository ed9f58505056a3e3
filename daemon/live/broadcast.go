package live

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// broadcastBuffer is the number of unread broadcasts kept for each reader.
const broadcastBuffer = 64

// Broadcast sends an event without an ID to the readers of a topic. It cannot be
// resumed, and slow readers may miss it. data is encoded with encoding/json.
func (h *Hub) Broadcast(topic Topics, name string, data any) {
	if !h.Wanted(topic) {
		return
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic("live: " + name + ": " + err.Error()) // a programming error
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

// statsInterval is the time between two stats events.
const statsInterval = time.Second

// SetStatsSource sets the source of stats events. While there are readers of stats,
// source is called once a second. Its data is broadcast if it has changed, or if a
// reader has joined.
func (h *Hub) SetStatsSource(source func() (data any, changed bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statsSource = source
}

// setStatsRunning starts or stops broadcasting stats.
func (h *Hub) setStatsRunning(read bool) {
	if !read && h.stopStats != nil {
		h.stopStats()
		h.stopStats = nil
	} else if read && h.stopStats == nil {
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
		h.statsRequested = requested && source == nil // without a source, readers still have to get stats later
		h.mu.Unlock()
		if source == nil {
			continue
		}
		if data, changed := source(); changed || requested {
			h.Broadcast(Stats, wire.EventStats, data)
		}
	}
}
