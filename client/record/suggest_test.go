package record

import (
	"slices"
	"testing"
)

// TestSuggestEvents suggests events that differ in few letters of the family or of the change, but
// none of another family.
func TestSuggestEvents(t *testing.T) {
	names := []string{"debtor.created", "debtor.updated", "product.created", "salesorder.created"}
	for _, test := range []struct {
		name string
		want []string
	}{
		{"jobcard.created", nil},
		{"debtors.created", []string{"debtor.created"}},
		{"debtor.udpated", []string{"debtor.updated"}},
		{"salesorders.create", []string{"salesorder.created"}},
		{"product", []string{"product.created"}},
	} {
		got := Suggest(test.name, names)
		if !slices.Equal(got, test.want) {
			t.Errorf("suggesting names like %s: got %q, want %q", test.name, got, test.want)
		}
	}
}
