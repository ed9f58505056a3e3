package queries

import (
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestKindIsFoundInAnyCase looks for kinds by their own names and those of their operations, in other
// letters that count as the same, as the registry of kinds finds them.
func TestKindIsFoundInAnyCase(t *testing.T) {
	h := new(Handler)
	for _, p := range []edge.Param{
		{Name: edge.ParamKind, Value: "in_colours"},
		{Name: edge.ParamKind, Value: "İn_Colours"},
		{Name: edge.ParamOperation, Value: "İn_ColoursQuery"},
	} {
		kind, err := h.Kind(new(edge.Options), nil, edge.Params{p})
		if err != nil || kind == nil || kind.Name != "IN_Colours" {
			t.Errorf("the kind of %s %s: got %v, %v, want IN_Colours", p.Name, p.Value, kind, err)
		}
	}
}
