package query

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
)

// TestTree checks the SQL of trees: they use no index but that on the first field, and only
// leaves are negated. Package erptest compares the rows with a naive implementation.
func TestTree(t *testing.T) {
	kind, _ := registry.Lookup("SO_Totals")
	id := Condition{Field: 0, Operator: record.Equal, Operands: []wire.Value{{Text: "a"}}}
	total := Condition{Field: 1, Operator: record.GreaterThan, Operands: []wire.Value{{Text: "5"}}}
	null := Condition{Field: 1, Operator: record.IsNull}
	all := Condition{Join: And, Parts: []Condition{id, total, null}}
	hidden := dialect.SQLite()
	hidden.File.HideFields = true
	for _, c := range []struct {
		where Condition
		want  string
	}{
		{total, `"InvoiceTotal" > ?1`},
		{all, `("InvoiceID" = ?1 AND +"InvoiceTotal" > ?2 AND +"InvoiceTotal" IS NULL)`},
		{Not(all), `((NOT ("InvoiceID" = ?1) OR "InvoiceID" IS NULL) OR (NOT (+"InvoiceTotal" > ?2) OR +"InvoiceTotal" IS NULL) OR "InvoiceTotal" IS NOT NULL)`},
		{Not(Not(all)), `("InvoiceID" = ?1 AND +"InvoiceTotal" > ?2 AND +"InvoiceTotal" IS NULL)`},
		{Condition{Join: Or, Parts: []Condition{total, Not(id)}}, `(+"InvoiceTotal" > ?1 OR (NOT ("InvoiceID" = ?2) OR "InvoiceID" IS NULL))`},
		{Condition{Join: And}, `1 = 1`},
		{Not(Condition{Join: And}), `1 = 0`},
	} {
		st, err := CompileCount(&Plan{Kind: kind, Where: []Condition{c.where}}, hidden, "t")
		if want := "SELECT COUNT(*) FROM t WHERE " + c.want; err != nil || st.SQL != want {
			t.Errorf("compiling %+v:\ngot  %s (%v)\nwant %s", c.where, st.SQL, err, want)
		}
	}
}

func TestTreeWithTooManyParameters(t *testing.T) {
	kind, _ := registry.Lookup("SO_Totals")
	d := dialect.SQLite()
	long := Condition{Field: 0, Operator: record.In, Operands: make([]wire.Value, d.MaxParams+1)}
	tree := Condition{Join: Or, Parts: []Condition{long}}
	if _, err := CompileCount(&Plan{Kind: kind, Where: []Condition{tree}}, d, "t"); !fault.Is(err, fault.Invalid) {
		t.Errorf("compiling a list of %d values: got the error %v, want a fault of kind %v",
			len(long.Operands), err, fault.Invalid)
	}
}

// TestFoldedBoundIsKept checks that a bound without regard to case does not follow from the
// position of a cursor: rows after the position may be before the bound.
func TestFoldedBoundIsKept(t *testing.T) {
	bound := Condition{Operator: record.GreaterThan}
	folded := bound
	folded.Folded = true
	got := markImplied([]Condition{bound, folded}, bound)
	if len(got) != 2 || !got[0].Implied || !got[1].Folded || got[1].Implied {
		t.Errorf("kept %+v, want the folded bound, and the other as implied", got)
	}
}
