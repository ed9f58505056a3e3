package fault

import (
	"errors"
	"testing"
)

// TestJoin checks which of several failures a client gets.
func TestJoin(t *testing.T) {
	about := func(kind Kind, members ...string) error {
		e := New(kind, "first")
		for _, name := range members {
			e.Fields = append(e.Fields, Field{Name: name, Message: "is wrong"})
		}
		return e
	}
	forbidden := New(Forbidden, "no")
	for _, tt := range []struct {
		name    string
		errs    []error
		kind    Kind
		fields  int
		message string
	}{
		{"one", []error{nil, about(Invalid, "a"), nil}, Invalid, 1, "first"},
		{"two", []error{about(Invalid, "a"), about(Invalid, "b", "c")}, Invalid, 3, InvalidMembers},
		{"a missing one", []error{about(Missing, "a"), about(Invalid, "b")}, Invalid, 2, InvalidMembers},
		{"missing ones", []error{about(Missing, "a"), about(Missing, "b")}, Missing, 2, MissingMembers},
		{"no right", []error{about(Invalid, "a"), forbidden, errors.New("b")}, Forbidden, 0, "no"},
		{"without members", []error{about(Invalid), about(Invalid, "a")}, Invalid, 0, "first"},
	} {
		got := From(Join(tt.errs...))
		if got.Kind != tt.kind || len(got.Fields) != tt.fields || got.Message != tt.message {
			t.Errorf("%s: kind %d, %d members, %q", tt.name, got.Kind, len(got.Fields), got.Message)
		}
	}
	if err := Join(nil, nil); err != nil {
		t.Errorf("none: %v", err)
	}
}
