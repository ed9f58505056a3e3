// Package executortest runs queries in tests and formats their results as texts.
package executortest

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Selector executes plans.
type Selector interface {
	Select(ctx context.Context, plan *query.Plan) (*executor.Result, error)
}

// Run parses, plans and executes a request, and returns its rows as texts.
func Run(t *testing.T, opened Selector, kind *record.Kind, members query.Members) ([]string, executor.Tail) {
	t.Helper()
	req, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatalf("parsing a request for %s with %v: %v", kind.Name, members, err)
	}
	plan, err := query.NewPlan(req, true)
	if err != nil {
		t.Fatalf("planning a request for %s with %v: %v", kind.Name, members, err)
	}
	return Read(t, opened, plan)
}

// Tester is a test, also one of generated data.
type Tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Read executes a plan and returns its rows as texts.
func Read(t Tester, opened Selector, plan *query.Plan) ([]string, executor.Tail) {
	t.Helper()
	result, err := opened.Select(t.Context(), plan)
	if err != nil {
		t.Fatalf("executing a plan of %s: %v", plan.Kind.Name, err)
	}
	defer result.Close()
	var rows []string
	types := plan.Types()
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatalf("reading row %d of a plan of %s: %v", len(rows)+1, plan.Kind.Name, err)
		}
		if cells == nil {
			break
		}
		rows = append(rows, cellsText(cells, types))
	}
	tail, err := result.Tail(int64(len(rows)))
	if err != nil {
		t.Fatalf("reading the total and the aggregates of a plan of %s: %v", plan.Kind.Name, err)
	}
	return rows, tail
}

// Member returns a member of a request, as a list unless it has exactly one text.
func Member(name string, texts ...string) query.Member {
	return query.Member{Name: name, Texts: texts, List: len(texts) != 1}
}

// OperandText formats a value as the text of a member.
func OperandText(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case string:
		return v
	}
	panic(fmt.Sprintf("executortest: an operand is a %T: %[1]v", v))
}

// RowText formats a row's values; equal rows have equal texts.
func RowText(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteString("null;")
			continue
		}
		fmt.Fprintf(&b, "%q;", OperandText(v))
	}
	return b.String()
}

// cellsText is RowText of a row. A value that is not of its column's type has its text, marked so that
// it differs from a value of the type.
func cellsText(cells []row.Cell, types []record.Type) string {
	values := make([]any, len(cells))
	for i, c := range cells {
		switch {
		case c.Null:
		case c.Misfit:
			values[i] = "misfit " + string(c.Data)
		case types[i].Stored().Integer() || types[i] == record.Bool:
			values[i] = c.Int
		case types[i] == record.Bytes:
			values[i] = c.Data
		default:
			values[i] = string(c.Data)
		}
	}
	return RowText(values)
}
