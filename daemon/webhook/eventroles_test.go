package webhook

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// earlierRoles is a store with the role of an event that was captured before.
type earlierRoles struct{ err error }

func (s *earlierRoles) KeepEventRoles(
	_ context.Context, current map[string]string,
) (map[string]string, error) {
	if s.err != nil {
		return nil, s.err
	}
	kept := maps.Clone(current)
	kept["price.updated"] = "admin"
	return kept, nil
}

// TestEventRoles checks that the roles of earlier kinds are kept, also while the store fails.
func TestEventRoles(t *testing.T) {
	store := new(earlierRoles)
	roles := NewEventRoles(store, map[string]string{"debtor.created": "writer"})
	expect := func(step string, want map[string]string) {
		t.Helper()
		if got := roles.Required(); !maps.Equal(got, want) {
			t.Errorf("%s: got the roles %v, want %v", step, got, want)
		}
	}
	expect("at first", map[string]string{"debtor.created": "writer"})

	if err := roles.Keep(t.Context(), map[string]string{"debtor.created": "writer"}); err != nil {
		t.Fatal(err)
	}
	expect("after reading the store", map[string]string{"debtor.created": "writer", "price.updated": "admin"})

	store.err = errors.New("the store is away")
	if err := roles.Keep(t.Context(), map[string]string{"debtor.created": "admin"}); !errors.Is(err, store.err) {
		t.Errorf("got the error %v, want %v", err, store.err)
	}
	expect("while the store fails", map[string]string{"debtor.created": "admin", "price.updated": "admin"})
}

// TestRequiredRoles checks that events require the roles of the kinds that publish them.
func TestRequiredRoles(t *testing.T) {
	events := []record.Event{{Name: "Debtor.Created"}, {Name: "order.posted"}, {Name: "price.updated"}}
	captured := map[string]*record.Kind{
		"debtor.created": {Name: "Debtor", Role: "writer"},
		"price.updated":  {Name: "Price"},
	}
	want := map[string]string{"Debtor.Created": "writer", "price.updated": ""}
	if got := RequiredRoles(events, captured); !maps.Equal(got, want) {
		t.Errorf("got the roles %v, want %v", got, want)
	}
}
