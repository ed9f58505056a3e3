package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

func texts(all ...string) (values []wire.Value) {
	for _, text := range all {
		values = append(values, wire.Value{Text: text})
	}
	return values
}

// TestMatches compares the evaluation without a database with the expected one, in which
// text is unknown unless it is the same in every collation.
func TestMatches(t *testing.T) {
	null, five := value{null: true}, value{Value: wire.Value{Int: 5}}
	text := func(s string) value { return value{Value: wire.Value{Text: s}} }
	for _, c := range []struct {
		of       record.Type
		op       record.Operator
		operands []wire.Value
		value    value
		want     match
	}{
		{record.Int, record.Equal, []wire.Value{{Int: 5}}, five, yes},
		{record.Int, record.Equal, []wire.Value{{Int: 6}}, five, no},
		{record.Int, record.Equal, []wire.Value{{Int: 5}}, null, no},
		{record.Int, record.NotEqualTo, []wire.Value{{Int: 6}}, null, no},
		{record.Int, record.NotEqualTo, []wire.Value{{Int: 6}}, five, yes},
		{record.Int, record.IsNull, nil, null, yes},
		{record.Int, record.IsNull, nil, five, no},
		{record.Int, record.IsNotNull, nil, five, yes},
		{record.Int, record.GreaterThan, []wire.Value{{Int: 5}}, five, no},
		{record.Int, record.GreaterThanOrEqualTo, []wire.Value{{Int: 5}}, five, yes},
		{record.Int, record.LessThan, []wire.Value{{Int: 5}}, five, no},
		{record.Int, record.LessThanOrEqualTo, []wire.Value{{Int: 5}}, five, yes},
		{record.Int, record.In, []wire.Value{{Int: 4}, {Int: 5}}, five, yes},
		{record.Int, record.In, []wire.Value{{Int: 4}}, five, no},
		{record.Int, record.Between, []wire.Value{{Int: 5}, {Int: 5}}, five, yes},
		{record.Decimal, record.Equal, texts("1.50"), text("1.5"), yes},
		{record.Decimal, record.GreaterThan, texts("9"), text("10"), yes},
		{record.DateTime, record.LessThan, texts("2026-01-01T00:00:00.0000000"), text("2025-12-31T23:59:59.9999999"), yes},
		{record.Guid, record.Equal, texts("ABCDEF00-0000-0000-0000-000000000000"), text("abcdef00-0000-0000-0000-000000000000"), yes},
		{record.Bytes, record.Equal, []wire.Value{{Bytes: []byte{1, 0}}}, value{Value: wire.Value{Bytes: []byte{1}}}, no},
		{record.Text, record.Equal, texts("Abc"), text("Abc"), yes},
		{record.Text, record.Equal, texts("Abc"), text("abc"), unknown},
		{record.Text, record.Equal, texts("Abc"), null, no},
		{record.Text, record.In, texts("x", "Abc"), text("Abc"), yes},
		{record.Text, record.GreaterThan, texts("Abc"), text("Abd"), unknown},
		{record.Text, record.StartsWith, texts("Abc"), text("Abc"), yes},
		{record.Text, record.StartsWith, texts("Abc"), text("Abc 1"), yes},
		{record.Text, record.StartsWith, texts("Abc"), text("Abch"), unknown}, // ch is one letter in some collations
		{record.Text, record.EndsWith, texts("hde"), text("Achde"), unknown},
		{record.Text, record.StartsWith, texts("Abc"), text("abcd"), unknown},
		{record.Text, record.StartsWith, texts("Abc"), text("Abc\u0301"), unknown},
		{record.Text, record.EndsWith, texts("bcd"), text("A bcd"), yes},
		{record.Text, record.Contains, texts("Abc"), text("Abc 1"), yes},
		{record.Text, record.Like, texts("50[%]%"), text("50% off"), yes},
		{record.Text, record.Like, texts("50[%]%"), text("500"), unknown},
	} {
		if got := matches(c.of, query.Condition{Operator: c.op, Operands: c.operands}, c.value); got != c.want {
			t.Errorf("%v %v %v of %v: %d, want %d", c.value, c.op, c.operands, c.of, got, c.want)
		}
	}
}

// TestConditions checks the operands that filters have, and that they match the row that
// these are taken from.
func TestConditions(t *testing.T) {
	kind := &record.Kind{Fields: []record.Field{{Name: "Name", Type: record.Text, Filter: record.TextFilter}}}
	a := &table{kind: kind, rows: [][]value{{{null: true}}, {{Value: wire.Value{Text: "\u00c4rger"}}}, {{Value: wire.Value{Text: "100% no 1 x"}}}}}
	for op, want := range map[record.Operator]string{
		record.Equal: "\u00c4rger", record.StartsWith: "100", record.Contains: "100", record.EndsWith: "1 x", record.Like: "100%",
	} {
		c, ok := a.condition(0, op)
		if !ok || len(c.Operands) != 1 || c.Operands[0].Text != want {
			t.Errorf("%v: %v %v, want %q", op, ok, c.Operands, want)
		}
		if err := a.compare(c, a.rows[1:2]); isSearch(op) == (err == nil) {
			t.Errorf("%v finds the second row only: %v", op, err)
		}
		if err := a.compare(c, a.rows[1:]); err != nil {
			t.Errorf("%v: %v", op, err)
		}
	}
	if c, ok := (&table{kind: kind, rows: a.rows[:1]}).condition(0, record.Equal); ok {
		t.Errorf("%v has operands without values", c)
	}
	if err := a.compare(query.Condition{Operator: record.IsNotNull}, a.rows[:1]); err == nil {
		t.Error("a row that does not match is not found")
	}
}

// TestResultsHideMessages checks that results contain no messages of servers.
func TestResultsHideMessages(t *testing.T) {
	const secret = "the secret"
	for _, c := range []struct {
		err  error
		want check.Status
	}{
		{nil, check.OK},
		{failed("text"), check.Failed},
		{warning("text"), check.Warning},
		{errors.Join(notChecked("text"), errors.New(secret)), check.NotChecked},
		{&mssql.Error{Number: 8134, Message: secret}, check.Failed},
		{&mssql.Error{Number: 229, Message: secret}, check.NotChecked},
		{fault.Wrap(&mssql.Error{Number: 1222, Message: secret}, fault.Unavailable, secret), check.NotChecked},
		{fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), check.NotChecked},
		{fmt.Errorf("%s: %w", secret, mssql.ErrLost), check.Failed},
		{fault.New(fault.Timeout, secret), check.NotChecked},
		{fmt.Errorf("%s: %w", secret, sql.ErrNoRows), check.Failed},
	} {
		if r := resultOf("", c.err); r.Status != c.want || r.Detail != "" && c.err == nil || len(r.Detail) > 60 || r.Detail == secret {
			t.Errorf("%v: %+v, want %s", c.err, r, c.want)
		}
	}
}

func TestIsSeek(t *testing.T) {
	const plan = `<ShowPlanXML><RelOp NodeId="0" PhysicalOp="Nested Loops"><RelOp PhysicalOp="%s"/><RelOp PhysicalOp="%s"/></RelOp></ShowPlanXML>`
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Index Seek", "RID Lookup", true},
		{"Clustered Index Seek", "Compute Scalar", true},
		{"Index Seek", "Index Scan", false},
		{"Table Scan", "Filter", false},
		{"Clustered Index Scan", "Filter", false},
	} {
		if got := isSeek(fmt.Sprintf(plan, c.a, c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// TestDifferencesAreOfChecks checks that each known difference belongs to a check.
func TestDifferencesAreOfChecks(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range checks {
		functions := 0
		for _, has := range []bool{c.server != nil, c.kind != nil, c.store != nil} {
			if has {
				functions++
			}
		}
		if names[c.name] || c.proves == "" || functions != 1 || (c.units == "") != (c.kind == nil) || (c.store != nil) != (c.side == storeSide) {
			t.Errorf("%s is incomplete or not the only one", c.name)
		}
		names[c.name] = true
	}
	for name, reason := range differences {
		if !names[name] || reason == "" {
			t.Errorf("no check or no reason: %s", name)
		}
	}
}

// TestFindVarying checks that a field counts as varying only if it differs in all rows of
// the same keys: other programs may change some rows.
func TestFindVarying(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{Name: "K", OrderField: "ID", Fields: []record.Field{{Name: "ID", Type: record.Int}, {Name: "Now", Type: record.Int}, {Name: "Amount", Type: record.Int}}})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("K")
	rows := func(numbers ...[3]int64) (all [][]value) {
		for _, n := range numbers {
			all = append(all, []value{{Value: wire.Value{Int: n[0]}}, {Value: wire.Value{Int: n[1]}}, {Value: wire.Value{Int: n[2]}}})
		}
		return all
	}
	for _, c := range []struct {
		name  string
		after [][]value
		want  []bool
	}{
		{"clock", rows([3]int64{1, 11, 5}, [3]int64{2, 11, 5}), []bool{false, true, false}},
		{"clock and one update", rows([3]int64{1, 11, 6}, [3]int64{2, 11, 5}), []bool{false, true, false}},
		{"other rows", rows([3]int64{3, 11, 6}, [3]int64{4, 11, 6}), []bool{false, false, false}},
		{"fewer rows", rows([3]int64{1, 11, 6}), []bool{false, false, false}},
	} {
		table := &table{kind: kind, rows: rows([3]int64{1, 10, 5}, [3]int64{2, 10, 5}), varying: make([]bool, 3)}
		table.findVarying(c.after)
		if fmt.Sprint(table.varying) != fmt.Sprint(c.want) {
			t.Errorf("%s: varying fields %v, want %v", c.name, table.varying, c.want)
		}
	}
}
