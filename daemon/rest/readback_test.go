package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	demorecords "github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

// extremesFile has the kind of extreme values.
const extremesFile = "../demo/extremes.toml"

// longKind is the number of rows of a kind from which its complete export is read in one
// format, and its first rows in the others.
const longKind = 600

// TestExportsReadBack exports every kind in every format, reads it with an
// independent parser, and compares each value with the loaded one.
func TestExportsReadBack(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t, "--demo", "--erp-kinds", extremesFile))
	const all = "?Take=1000000" // without it an HTML page has few rows
	for n, kind := range demorecords.Kinds().Kinds() {
		stored := slices.Collect(demorecords.Rows(kind))
		isLong := len(stored) >= longKind
		take := all
		if isLong {
			take = fmt.Sprint("?Take=", longKind)
		}
		sorted := inOrder(t, c.do("GET /json/reply/"+kind.Operation()+take, "").body, kind, stored)
		for i, f := range encode.Formats() {
			query, want := "", stored
			isComplete := !isLong || i == n%len(encode.Formats())
			if f.Name == "html" || !isComplete {
				query, want = take, sorted
			}
			reply := c.do("GET /Queries/"+kind.Name+f.Suffix+query, "").want(t, 200)
			for _, d := range encodetest.Differences(f.Name, []byte(reply.body), kind, want) {
				t.Errorf("%s as %s: %s", kind.Name, f.Name, d)
			}
		}
	}
}

// inOrder sorts rows in the order of a JSON response: with Take the rows are sorted.
func inOrder(t *testing.T, reply string, kind *record.Kind, stored [][]any) [][]any {
	t.Helper()
	rows, err := encodetest.Rows("json", []byte(reply), kind.FieldNames())
	if err != nil {
		t.Fatal(err)
	}
	byText := make(map[string][]any)
	for _, values := range stored {
		row := make(encodetest.Row)
		for i, f := range kind.Fields {
			if values[i] != nil {
				row[f.Name] = encodetest.Text(f.Type, values[i])
			}
		}
		byText[rowKey(kind, row)] = values
	}
	var sorted [][]any
	for _, row := range rows {
		sorted = append(sorted, byText[rowKey(kind, row)])
	}
	if i := slices.IndexFunc(sorted, func(values []any) bool { return values == nil }); i >= 0 {
		t.Fatalf("%s: unknown row %d: %q", kind.Name, i+1, rows[i])
	}
	return sorted
}

// rowKey returns a key that is equal for equal rows.
func rowKey(kind *record.Kind, row encodetest.Row) string {
	var b strings.Builder
	for _, f := range kind.Fields {
		text, there := row[f.Name]
		fmt.Fprintf(&b, "%v %q,", there, text)
	}
	return b.String()
}
