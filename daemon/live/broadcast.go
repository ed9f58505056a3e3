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

// setStatsRunning starts or stops broadcasting stats. The lock is held.
func (h *Hub) setStatsRunning(isRead bool) {
	if h.config.Stats == nil {
		return
	}
	if !isRead && h.stopStats != nil {
		h.stopStats()
		h.stopStats = nil
	} else if isRead && h.stopStats == nil {
		ctx, stop := context.WithCancel(h.ctx)
		h.stopStats = stop
		h.tasks.Go(func() { h.broadcastStats(ctx) })
	}
}

// broadcastStats broadcasts stats at intervals until ctx is done.
func (h *Hub) broadcastStats(ctx context.Context) {
	tick := time.NewTicker(statsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.broadcastStatsOnce()
	}
}

// broadcastStatsOnce broadcasts stats if they have changed, or if a reader has joined.
func (h *Hub) broadcastStatsOnce() {
	h.mu.Lock()
	isRequested := h.statsRequested
	h.statsRequested = false
	h.mu.Unlock()

	data, changed := h.config.Stats()
	if changed || isRequested {
		h.Broadcast(Stats, wire.EventStats, data)
	}
}
