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
	a, b := New(Config{Store: s, LeaseTerm: time.Minute}).writer.ids, New(Config{Store: s, LeaseTerm: time.Minute}).writer.ids
	first, _ := a.allocate(t.Context(), 1)
	if other, _ := b.allocate(t.Context(), 1); other-first > 4096 {
		t.Errorf("the other daemon's first ID is %d higher", other-first)
	}
	many, _ := a.allocate(t.Context(), 10_000)
	if next, _ := b.allocate(t.Context(), 4096); many <= first || next-many < 10_000 && many-next < 4096 {
		t.Errorf("IDs from %d and from %d overlap", many, next)
	}
}
