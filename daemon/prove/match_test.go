package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// texts and ints return the operands of a condition.
func texts(operands ...string) (values []wire.Value) {
	for _, text := range operands {
		values = append(values, wire.Value{Text: text})
	}
	return values
}

func ints(operands ...int64) (values []wire.Value) {
	for _, n := range operands {
		values = append(values, wire.Value{Int: n})
	}
	return values
}

// textRow returns a row with one field, a text.
func textRow(text string) []value { return []value{{Value: wire.Value{Text: text}}} }

// TestMatches compares the evaluation without a database with the expected one, in which
// text is unknown unless it is the same in every collation.
func TestMatches(t *testing.T) {
	const (
		lastTick  = "2025-12-31T23:59:59.9999999"
		firstTick = "2026-01-01T00:00:00.0000000"
		upperGUID = "ABCDEF00-0000-0000-0000-000000000000"
		lowerGUID = "abcdef00-0000-0000-0000-000000000000"
	)
	null := value{null: true}
	five := value{Value: wire.Value{Int: 5}}
	oneByte := value{Value: wire.Value{Bytes: []byte{1}}}
	text := func(s string) value { return value{Value: wire.Value{Text: s}} }
	for _, c := range []struct {
		fieldType record.Type
		op        record.Operator
		operands  []wire.Value
		value     value
		want      match
	}{
		{record.Int, record.Equal, ints(5), five, yes},
		{record.Int, record.Equal, ints(6), five, no},
		{record.Int, record.Equal, ints(5), null, no},
		{record.Int, record.NotEqualTo, ints(6), null, no},
		{record.Int, record.NotEqualTo, ints(6), five, yes},
		{record.Int, record.IsNull, nil, null, yes},
		{record.Int, record.IsNull, nil, five, no},
		{record.Int, record.IsNotNull, nil, five, yes},
		{record.Int, record.GreaterThan, ints(5), five, no},
		{record.Int, record.GreaterThanOrEqualTo, ints(5), five, yes},
		{record.Int, record.LessThan, ints(5), five, no},
		{record.Int, record.LessThanOrEqualTo, ints(5), five, yes},
		{record.Int, record.In, ints(4, 5), five, yes},
		{record.Int, record.In, ints(4), five, no},
		{record.Int, record.Between, ints(5, 5), five, yes},
		{record.Decimal, record.Equal, texts("1.50"), text("1.5"), yes},
		{record.Decimal, record.GreaterThan, texts("9"), text("10"), yes},
		{record.DateTime, record.LessThan, texts(firstTick), text(lastTick), yes},
		{record.Guid, record.Equal, texts(upperGUID), text(lowerGUID), yes},
		{record.Bytes, record.Equal, []wire.Value{{Bytes: []byte{1, 0}}}, oneByte, no},
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
		{record.Text, record.Like, texts("[[]%"), text("["), yes},
		{record.Text, record.Like, texts("[[]a]%"), text("[a] 1"), yes},
		{record.Text, record.Like, texts("[[]a%"), text("[ab"), unknown},
	} {
		condition := query.Condition{Operator: c.op, Operands: c.operands}
		if got := matches(c.fieldType, condition, c.value); got != c.want {
			t.Errorf("%v %v %v of type %v: got %d, want %d",
				c.value, c.op, c.operands, c.fieldType, got, c.want)
		}
	}
}

// TestConditions checks the operands of filters, and that a filter matches the row that its
// operands are taken from.
func TestConditions(t *testing.T) {
	kind := &record.Kind{Fields: []record.Field{
		{Name: "Name", Type: record.Text, Filter: record.TextFilter},
	}}
	nullRow := []value{{null: true}}
	accented := textRow("\u00c4rger")
	plain := textRow("100% no 1 x")
	filled := &table{kind: kind, rows: [][]value{nullRow, accented, plain}}
	empty := &table{kind: kind, rows: [][]value{nullRow}}

	for op, want := range map[record.Operator]string{
		record.Equal:      "\u00c4rger",
		record.StartsWith: "100",
		record.Contains:   "100",
		record.EndsWith:   "1 x",
		record.Like:       "100%",
	} {
		c, ok := filled.condition(0, op)
		if !ok || len(c.Operands) != 1 || c.Operands[0].Text != want {
			t.Errorf("condition with %v: got operands %v (%v), want %q", op, c.Operands, ok, want)
		}
		// Operands of a search are taken from the third row, which is missing here.
		err := filled.compare(c, [][]value{accented})
		if isSearch(op) && err == nil {
			t.Errorf("%v %q finds only the second row: got no error", op, want)
		}
		if !isSearch(op) && err != nil {
			t.Errorf("%v %q finds only the second row: got error %v", op, want, err)
		}
		if err := filled.compare(c, [][]value{accented, plain}); err != nil {
			t.Errorf("%v %q finds both rows with values: got error %v", op, want, err)
		}
	}

	if c, ok := empty.condition(0, record.Equal); ok {
		t.Errorf("condition without values: got operands %v, want none", c.Operands)
	}
	isNotNull := query.Condition{Operator: record.IsNotNull}
	if err := filled.compare(isNotNull, [][]value{nullRow}); err == nil {
		t.Error("IsNotNull finds a row with NULL: got no error")
	}
}

// TestResultsHideMessages checks that results contain no messages of servers.
func TestResultsHideMessages(t *testing.T) {
	const (
		secret    = "the secret"
		maxLength = 60
	)
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
		{fmt.Errorf("%s: %w", secret, mssql.ErrLost), check.NotChecked},
		{fault.New(fault.Timeout, secret), check.NotChecked},
		{fmt.Errorf("%s: %w", secret, sql.ErrNoRows), check.Failed},
	} {
		r := resultOf("", c.err)
		if r.Status != c.want {
			t.Errorf("result of %v: got status %s, want %s", c.err, r.Status, c.want)
		}
		if c.err == nil && r.Detail != "" {
			t.Errorf("result without an error: got detail %q, want none", r.Detail)
		}
		if strings.Contains(r.Detail, secret) || len(r.Detail) > maxLength {
			t.Errorf("result of %v: got detail %q, want a short one without the message", c.err, r.Detail)
		}
	}
}

func TestIsSeek(t *testing.T) {
	const plan = `<ShowPlanXML><RelOp NodeId="0" PhysicalOp="Nested Loops">` +
		`<RelOp PhysicalOp="%s"/><RelOp PhysicalOp="%s"/></RelOp></ShowPlanXML>`
	for _, c := range []struct {
		first, second string // operators
		want          bool
	}{
		{"Index Seek", "RID Lookup", true},
		{"Clustered Index Seek", "Compute Scalar", true},
		{"Index Seek", "Index Scan", false},
		{"Table Scan", "Filter", false},
		{"Clustered Index Scan", "Filter", false},
	} {
		if got := isSeek(fmt.Sprintf(plan, c.first, c.second)); got != c.want {
			t.Errorf("a plan with %s and %s: got %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

// TestDifferencesAreOfChecks checks that checks are complete, and that each known difference
// belongs to one.
func TestDifferencesAreOfChecks(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range checks {
		if names[c.name] {
			t.Errorf("several checks have the name %s", c.name)
		}
		names[c.name] = true
		functions := 0
		for _, isSet := range []bool{c.server != nil, c.kind != nil, c.store != nil} {
			if isSet {
				functions++
			}
		}
		if functions != 1 {
			t.Errorf("the check %s has %d functions, want 1", c.name, functions)
		}
		if c.proves == "" {
			t.Errorf("the check %s lacks the statement that it proves", c.name)
		}
		if (c.units != "") != (c.kind != nil) {
			t.Errorf("the check %s has units %q; want units exactly if it runs for each kind", c.name, c.units)
		}
		if (c.store != nil) != (c.side == storeSide) {
			t.Errorf("the check %s of the side %s has a function of the other side", c.name, c.side)
		}
	}
	for name, reason := range differences {
		if !names[name] || reason == "" {
			t.Errorf("the difference %s has no check or no reason", name)
		}
	}
}

// TestFindVarying checks that a field counts as varying only if it differs in all rows of
// the same keys: other programs may change some rows.
func TestFindVarying(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{
		Name:       "K",
		OrderField: "ID",
		Fields: []record.Field{
			{Name: "ID", Type: record.Int},
			{Name: "Now", Type: record.Int},
			{Name: "Amount", Type: record.Int},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("K")
	row := func(id, now, amount int64) []value {
		return []value{
			{Value: wire.Value{Int: id}},
			{Value: wire.Value{Int: now}},
			{Value: wire.Value{Int: amount}},
		}
	}
	before := [][]value{row(1, 10, 5), row(2, 10, 5)}

	for _, c := range []struct {
		name  string
		after [][]value
		want  []bool
	}{
		{"clock", [][]value{row(1, 11, 5), row(2, 11, 5)}, []bool{false, true, false}},
		{"clock and one update", [][]value{row(1, 11, 6), row(2, 11, 5)}, []bool{false, true, false}},
		{"other rows", [][]value{row(3, 11, 6), row(4, 11, 6)}, []bool{false, false, false}},
		{"fewer rows", [][]value{row(1, 11, 6)}, []bool{false, false, false}},
	} {
		table := &table{kind: kind, rows: before, varying: make([]bool, len(kind.Fields))}
		table.findVarying(c.after)
		if !slices.Equal(table.varying, c.want) {
			t.Errorf("%s: got varying fields %v, want %v", c.name, table.varying, c.want)
		}
	}
}

// TestStampIndexes checks that an index of another column does not count, also if the
// rowversion column has no field.
func TestStampIndexes(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{
		Name:       "K",
		OrderField: "ID",
		Fields:     []record.Field{{Name: "ID", Type: record.Int}},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("K")
	columns := []mssql.Column{{Name: "ID", Type: "int"}, {Name: "Version", Type: "rowversion"}}
	for _, c := range []struct {
		leading []string
		want    int
		status  check.Status
	}{
		{[]string{"ID"}, 0, check.Warning},
		{[]string{"ID", "version"}, 1, check.OK},
	} {
		table := &table{kind: kind, columns: columns, size: maxSearched, leading: c.leading}
		got, err := stampIndexes(nil, table)
		if status := resultOf("", err).Status; got != c.want || status != c.status {
			t.Errorf("indexes that start with %q: got %d indexes and status %s, want %d and %s",
				c.leading, got, status, c.want, c.status)
		}
	}
}
