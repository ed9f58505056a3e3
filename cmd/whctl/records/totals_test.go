package records

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestTotalValue checks which zeros of a number are left out.
func TestTotalValue(t *testing.T) {
	for _, tt := range []struct {
		typ  record.Type
		text string
		want any
	}{
		{record.Decimal, "12.5000", json.RawMessage("12.5")},
		{record.Decimal, "120.0000", json.RawMessage("120")},
		{record.Decimal, "120", json.RawMessage("120")},
		{record.Decimal, "", nil},
		{record.Double, "1.5e-10", json.RawMessage("1.5e-10")},
		{record.Double, "2.5E+20", json.RawMessage("2.5E+20")},
		{record.Text, "1.50", "1.50"},
	} {
		if got := totalValue(tt.typ, tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v %q: got %s, want %s", tt.typ, tt.text, got, tt.want)
		}
	}
}
