package edge

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// inWork is a Gauge.
type inWork int

func (g *inWork) Inc() { *g++ }
func (g *inWork) Dec() { *g-- }

// TestSlots checks the shares of anonymous requests and of streams.
func TestSlots(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		size                     int
		anonymous, stream        bool
		slots, streams, slotsToo int // that one of the kind gets, and others then get
	}{
		{name: "known", size: 8, slots: 8},
		{name: "anonymous", size: 8, anonymous: true, slots: 4, slotsToo: 4},
		{name: "streams", size: 8, stream: true, slots: 8, streams: 6},
		{name: "anonymous, a single slot", size: 1, anonymous: true, slots: 1},
		{name: "streams, two slots", size: 2, stream: true, slots: 2, streams: 2},
	} {
		a, gauge := NewAdmission(tt.size, nil, nil), new(inWork)
		var held []*Slot
		take := func(anonymous bool) int {
			before := len(held)
			for {
				slot, err := a.takeSlot(gauge, anonymous)
				if err != nil {
					if !fault.Is(err, fault.Unavailable) {
						t.Fatalf("%s: %v, want Unavailable", tt.name, err)
					}
					return len(held) - before
				}
				held = append(held, slot)
			}
		}

		if got := take(tt.anonymous); got != tt.slots {
			t.Errorf("%s: %d slots of %d, want %d", tt.name, got, tt.size, tt.slots)
		}
		if got := take(false); got != tt.slotsToo {
			t.Errorf("%s: others get %d slots of %d, want %d", tt.name, got, tt.size, tt.slotsToo)
		}

		streams := 0
		for _, slot := range held {
			if tt.stream && slot.Stream() == nil {
				streams++
			}
		}
		if streams != tt.streams {
			t.Errorf("%s: %d streams in %d slots, want %d", tt.name, streams, tt.size, tt.streams)
		}

		for i, slot := range held {
			if i%2 == 0 {
				slot.Release()
				slot.Release()
			}
			slot.End()
		}

		if used := len(a.slots) + len(a.anonymous) + len(a.streams); used > 0 || *gauge != 0 {
			t.Errorf("%s: after the end %d places are in use, and the gauge has changed by %d", tt.name, used, *gauge)
		}
	}
}

// TestResponsesWithoutMemory checks that responses for which there is no memory fail, except those
// of requests that change something, which keep their slots until they are sent.
func TestResponsesWithoutMemory(t *testing.T) {
	for _, tt := range []struct {
		name        string
		size        int
		changes     bool
		fails, keep bool // keep: the slot is not released
	}{
		{name: "query", size: replyFree + 1, fails: true, keep: true},
		{name: "short response to a query", size: replyFree},
		{name: "change", size: replyFree + 1, changes: true, keep: true},
		{name: "short response to a change", size: replyFree, changes: true},
	} {
		a, gauge := NewAdmission(1, NewBudget(0), nil), new(inWork)
		slot, err := a.takeSlot(gauge, true)
		if err != nil {
			t.Fatal(err)
		}
		x := &Context{
			Response: NewResponse(httptest.NewRecorder(), time.Minute),
			Call:     Call{Route: &CompiledRoute{Route: Route{Changes: tt.changes}}},
		}
		x.Response.Slot = slot
		release, err := a.holdReply(x, tt.size)
		if fault.Is(err, fault.Unavailable) != tt.fails {
			t.Errorf("%s: %v, want Unavailable: %v", tt.name, err, tt.fails)
		}
		if kept := len(a.slots) > 0; kept != tt.keep {
			t.Errorf("%s: it keeps its slot: %v, want %v", tt.name, kept, tt.keep)
		}
		if release != nil {
			release()
		}
		if held := a.replies.Held(); held != 0 {
			t.Errorf("%s: %v bytes are reserved after release", tt.name, held)
		}
	}
}
