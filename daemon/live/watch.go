package live

import "time"

// linger is how long a hub counts as watched after its last reader of messages
// has gone. Most that were cut off are back by then.
const linger = time.Minute

// Watched reports whether somebody reads messages, or has done so a minute ago.
func (h *Hub) Watched() bool { return h.watched.Load() }

// watch follows whether somebody reads messages.
func (h *Hub) watch(read bool) {
	switch {
	case h.life.Err() != nil:
		h.stopLinger()
		h.setWatched(false)
	case read:
		h.stopLinger()
		h.setWatched(true)
	case h.Watched() && h.lingering == nil:
		h.lingering = time.AfterFunc(linger, h.forget)
	}
}

func (h *Hub) stopLinger() {
	if h.lingering != nil {
		h.lingering.Stop()
		h.lingering = nil
	}
}

// forget ends being watched, unless somebody has come in the meantime.
func (h *Hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lingering != nil {
		h.lingering = nil
		h.setWatched(false)
	}
}

func (h *Hub) setWatched(on bool) {
	if was := h.watched.Swap(on); on && !was && h.config.Shared {
		h.epoch = newEpoch() // what others did meanwhile is missing
	}
}

// Joined says that from now on the changes of other daemons are published too.
// Readers that began before get a reset, since they have missed some.
func (h *Hub) Joined() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.readers {
		r.joined = true
		r.nudge()
	}
}

// takeJoined reports whether a reader is still to be told, once.
func (h *Hub) takeJoined(r *Reader) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := r.joined
	r.joined = false
	return was
}
