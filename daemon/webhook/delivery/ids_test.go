package delivery

import (
	"context"
	"testing"
	"time"
)

// idStore allocates IDs.
type idStore struct {
	Store
	last int64
}

func (s *idStore) AllocateIDs(_ context.Context, n int) (int64, error) {
	s.last += int64(n)
	return s.last - int64(n) + 1, nil
}

// TestIDsOfSharedStore checks that two daemons, which use their blocks of IDs in turn, are
// never far apart, and that a larger request gets consecutive IDs.
func TestIDsOfSharedStore(t *testing.T) {
	s := new(idStore)
	config := Config{Store: s, LeaseTerm: time.Minute}
	a := &New(config).writer.ids
	b := &New(config).writer.ids
	first := expectIDs(t, a, 1)
	other := expectIDs(t, b, 1)
	if other-first > 4096 {
		t.Errorf("the other daemon's first ID is %d higher, want at most 4096", other-first)
	}
	many := expectIDs(t, a, 10_000)
	if many <= first {
		t.Errorf("a daemon's IDs from %d are not after its first one, %d", many, first)
	}
	next := expectIDs(t, b, 4096)
	if next < many+10_000 && many < next+4096 {
		t.Errorf("10,000 IDs from %d and 4,096 from %d overlap", many, next)
	}
}

// expectIDs returns the first one of a number of consecutive IDs.
func expectIDs(t *testing.T, ids *idAllocator, n int) int64 {
	t.Helper()
	first, err := ids.allocate(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return first
}
