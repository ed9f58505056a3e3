package delivery

import (
	"strconv"
	"strings"
	"testing"
)

// TestRotation adds queues, named by subscriber and number, and takes them in turn.
func TestRotation(t *testing.T) {
	for name, tt := range map[string]struct {
		queues string // in the order in which they become ready
		full   string // subscribers that may not start an attempt
		remove string
		want   string
	}{
		"one subscriber":                {queues: "a1 a2 a3", want: "a1 a2 a3"},
		"subscribers take turns":        {queues: "a1 a2 a3 a4 b1 c1", want: "a1 b1 c1 a2 a3 a4"},
		"a full one is passed over":     {queues: "a1 a2 b1 c1 b2", full: "a", want: "b1 c1 b2"},
		"all are full":                  {queues: "a1 b1", full: "ab", want: ""},
		"removed from the middle":       {queues: "a1 a2 b1", remove: "a2", want: "a1 b1"},
		"the last one of a subscriber":  {queues: "a1 b1", remove: "a1", want: "b1"},
		"one that is not ready anymore": {queues: "a1", remove: "c7", want: "a1"},
	} {
		t.Run(name, func(t *testing.T) {
			queues := make(map[string]*queue)
			named := func(name string) *queue {
				if queues[name] == nil {
					id, _ := strconv.ParseInt(name[1:], 10, 64)
					queues[name] = &queue{id: id, subscriber: name[:1]}
				}
				return queues[name]
			}
			r := newRotation()
			for _, name := range strings.Fields(tt.queues) {
				r.add(named(name))
			}
			if tt.remove != "" {
				r.remove(named(tt.remove))
			}
			var got []string
			for {
				q := r.next(func(subscriber string) bool { return !strings.Contains(tt.full, subscriber) })
				if q == nil {
					break
				}
				got = append(got, q.subscriber+strconv.FormatInt(q.id, 10))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: got %q, want %q", tt.queues, got, tt.want)
			}
			if tt.full == "" && len(r.turns)+len(r.bySubscriber) > 0 {
				t.Errorf("%d subscribers are left in the rotation", len(r.turns))
			}
		})
	}
}

// TestSlotsOfSubscribers lets subscribers take as many slots as they may, one after the other.
func TestSlotsOfSubscribers(t *testing.T) {
	for _, tt := range []struct {
		max  int
		want []int // of each subscriber
	}{
		{1, []int{1, 0}},
		{2, []int{1, 1, 0}},
		{8, []int{2, 2, 1, 1, 1, 1, 0}},
		{1000, []int{250, 188, 141, 106, 79, 59, 45, 33}},
	} {
		s := newSlots(tt.max)
		for i, want := range tt.want {
			subscriber := strconv.Itoa(i)
			got := 0
			for s.allow(subscriber) {
				s.take(subscriber)
				got++
			}
			if got != want {
				t.Errorf("of %d slots, subscriber %d got %d, want %d", tt.max, i, got, want)
			}
		}
		for i, n := range tt.want {
			for range n { // as many as were taken
				s.release(strconv.Itoa(i))
			}
		}
		if s.inFlight != 0 || len(s.bySubscriber) != 0 {
			t.Errorf("of %d slots, %d stay taken after all are released", tt.max, s.inFlight)
		}
	}
}
