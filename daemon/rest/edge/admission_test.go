package edge

import (
	"testing"

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
