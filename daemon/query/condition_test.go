package query

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
)

// TestTree checks the SQL of trees: they use no index but that on the first field, and only
// leaves are negated. Package erptest compares the rows with a naive implementation.
func TestTree(t *testing.T) {
	kind, _ := registry.Lookup("SO_Totals")
	id := Condition{Field: 0, Operator: record.Equal, Operands: []wire.Value{{Text: "a"}}}
	total := Condition{Field: 1, Operator: record.GreaterThan, Operands: []wire.Value{{Text: "5"}}}
	null := Condition{Field: 1, Operator: record.IsNull}
	both := Condition{Join: And, Parts: []Condition{id, total, null}}
	hidden := dialect.SQLite()
	hidden.File.HideFields = true
	for _, c := range []struct {
		where Condition
		want  string
	}{
		{total, `"InvoiceTotal" > ?1`},
		{both, `("InvoiceID" = ?1 AND +"InvoiceTotal" > ?2 AND +"InvoiceTotal" IS NULL)`},
		{Not(both), `((NOT ("InvoiceID" = ?1) OR "InvoiceID" IS NULL) OR (NOT (+"InvoiceTotal" > ?2) OR +"InvoiceTotal" IS NULL) OR "InvoiceTotal" IS NOT NULL)`},
		{Not(Not(both)), `("InvoiceID" = ?1 AND +"InvoiceTotal" > ?2 AND +"InvoiceTotal" IS NULL)`},
		{Condition{Join: Or, Parts: []Condition{total, Not(id)}}, `(+"InvoiceTotal" > ?1 OR (NOT ("InvoiceID" = ?2) OR "InvoiceID" IS NULL))`},
		{Condition{Join: And}, `1 = 1`},
		{Not(Condition{Join: And}), `1 = 0`},
	} {
		st, err := CompileCount(&Plan{Kind: kind, Where: []Condition{c.where}}, hidden, "t")
		if want := "SELECT COUNT(*) FROM t WHERE " + c.want; err != nil || st.SQL != want {
			t.Errorf("got  %s (%v)\nwant %s", st.SQL, err, want)
		}
	}
	long := Condition{Field: 0, Operator: record.In, Operands: make([]wire.Value, 40_000)}
	if _, err := CompileCount(&Plan{Kind: kind, Where: []Condition{{Join: Or, Parts: []Condition{long}}}}, hidden, "t"); err == nil {
		t.Error("a statement with too many parameters was compiled")
	}
}

// TestFoldedBoundIsKept: the rows after a cursor are not those after a bound without regard
// to case.
func TestFoldedBoundIsKept(t *testing.T) {
	bound := Condition{Operator: record.GreaterThan}
	folded := bound
	folded.Folded = true
	got := markImplied([]Condition{bound, folded}, bound)
	if len(got) != 2 || !got[0].Implied || !got[1].Folded || got[1].Implied {
		t.Errorf("kept %+v, want the folded bound, and the other as implied", got)
	}
}
