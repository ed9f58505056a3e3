package webhook

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestSnapshotWithChanges compares snapshots that were changed incrementally with new
// ones.
func TestSnapshotWithChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	patterns := []string{"debtor.updated", "Debtor.*", "*", "stock.created"}
	current := make(map[int64]*Subscription)
	s, first := NewSnapshot(1, nil), NewSnapshot(1, nil)
	for version := int64(2); version < 100; version++ {
		changed := make(map[int64]*Subscription)
		for range 1 + random.IntN(30) {
			id := 1 + random.Int64N(900)
			changed[id] = nil
			delete(current, id)
			if random.IntN(4) > 0 {
				sub := &Subscription{ID: id, Pattern: patterns[random.IntN(len(patterns))]}
				changed[id] = sub
				current[id] = sub
			}
		}
		before, size := s, len(slices.Collect(s.Subscriptions))
		s = s.With(version, changed)
		if len(slices.Collect(before.Subscriptions)) != size {
			t.Fatal("an existing snapshot was changed")
		}
		want := NewSnapshot(version, current)
		if !slices.Equal(slices.Collect(s.Subscriptions), slices.Collect(want.Subscriptions)) {
			t.Fatalf("version %d has other subscriptions", version)
		}
		for _, event := range []string{"debtor.updated", "debtor.deleted", "STOCK.created", "bill"} {
			if !slices.Equal(s.Match(event), want.Match(event)) {
				t.Fatalf("version %d matches %s with others", version, event)
			}
		}
		for id := range changed {
			if s.Subscription(id) != current[id] {
				t.Fatalf("version %d returns another subscription %d", version, id)
			}
		}
	}
	if s.Version != 99 || first.Subscription(1) != nil {
		t.Errorf("version %d", s.Version)
	}
}

// TestSnapshotSharesUnchangedChunks counts the entries that a changed snapshot does not
// share with its predecessor.
func TestSnapshotSharesUnchangedChunks(t *testing.T) {
	subs := make(map[int64]*Subscription)
	for id := range int64(5000) {
		subs[id+1] = &Subscription{ID: id + 1, Pattern: "*"}
	}
	s := NewSnapshot(1, subs)
	for _, change := range []map[int64]*Subscription{
		{7: {ID: 7, Pattern: "*", URL: "https://a.example"}}, {7: nil}, {9000: {ID: 9000, Pattern: "*"}}, {4000: {ID: 4000, Pattern: "debtor.*"}},
	} {
		next := s.With(2, change)
		for name, sets := range map[string][2]set{"all": {s.sets[all], next.sets[all]}, "*": {s.sets["*"], next.sets["*"]}} {
			known := make(map[**Subscription]bool)
			for _, chunk := range sets[0] {
				known[&chunk[0]] = true
			}
			copied := 0
			for _, chunk := range sets[1] {
				if !known[&chunk[0]] {
					copied += len(chunk)
				}
			}
			if copied > chunkSize {
				t.Errorf("%v: %d entries of %s were copied", change, copied, name)
			}
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"https://a.example/x", "https://a.example/y?z=1", true},
		{"https://a.example/x", "https://A.example:443", true},
		{"http://a.example/", "http://a.example:80/", true},
		{"http://[::1]/", "http://[::1]:80/", true},
		{"https://a.example/", "http://a.example/", false},
		{"https://a.example/", "http://a.example:443/", false},
		{"https://a.example/", "https://a.example:8443/", false},
		{"https://a.example/", "https://b.example/", false},
		{"https://a.example/", "https://a.example./", false},
		{"https://a.example/", "https://a.example.b.example/", false},
	} {
		if SameOrigin(tt.a, tt.b) != tt.same || SameOrigin(tt.b, tt.a) != tt.same {
			t.Errorf("%s and %s: want %v", tt.a, tt.b, tt.same)
		}
	}
}

func TestCheckKeepFor(t *testing.T) {
	for _, d := range []time.Duration{0, time.Second, DefaultKeepFor, MaxKeepFor} {
		if err := CheckKeepFor(d); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{-1, MaxKeepFor + 1} {
		if CheckKeepFor(d) == nil {
			t.Errorf("%v is accepted, want it refused", d)
		}
	}
}
