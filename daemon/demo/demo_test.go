package demo

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
)

// allRows contains the rows of each kind, for tests that do not modify them.
var allRows = sync.OnceValue(func() map[string][][]any {
	rows := make(map[string][][]any)
	for _, kind := range Kinds().Kinds() {
		rows[kind.Name] = slices.Collect(Rows(kind))
	}
	return rows
})

// formatRow formats a row independently of encoders and stores.
func formatRow(cells []any) string {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case nil:
			texts[i] = "-"
		case string:
			texts[i] = fmt.Sprintf("%+q", v)
		case []byte:
			texts[i] = fmt.Sprintf("x%x", v)
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(texts, " ") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, "testdata/"+name, got)
}

func forEachKind(t *testing.T, test func(t *testing.T, kind *record.Kind)) {
	for _, kind := range Kinds().Kinds() {
		t.Run(kind.Name, func(t *testing.T) { test(t, kind) })
	}
}

// TestDigests detects changes of any value.
func TestDigests(t *testing.T) {
	var got strings.Builder
	for _, kind := range Kinds().Kinds() {
		sum := sha256.New()
		count := 0
		for cells := range Rows(kind) {
			sum.Write([]byte(formatRow(cells)))
			count++
		}
		fmt.Fprintf(&got, "%s %d %x\n", kind.Name, count, sum.Sum(nil))
	}
	golden(t, "digests.golden", got.String())
}

// TestRowsGolden compares the first rows of each kind, and all extreme values, with a golden
// file.
func TestRowsGolden(t *testing.T) {
	var got strings.Builder
	for _, kind := range Kinds().Kinds() {
		fmt.Fprintf(&got, "== %s\n%s\n", kind.Name, strings.Join(kind.FieldNames(), " "))
		for n, cells := range allRows()[kind.Name] {
			if n >= 5 && kind != Extremes() {
				break
			}
			fmt.Fprintf(&got, "%5d", n)
			for i := range cells {
				text := strings.TrimSuffix(formatRow(cells[i:i+1]), "\n")
				got.WriteString(" " + shorten(text))
			}
			got.WriteString("\n")
		}
	}
	golden(t, "rows.golden", got.String())
}

func shorten(word string) string {
	if len(word) > 200 {
		return fmt.Sprintf("%s...(%d)", word[:60], len(word))
	}
	return word
}

// TestCounts checks the number of rows of each kind and of all kinds.
func TestCounts(t *testing.T) {
	total := 0
	forEachKind(t, func(t *testing.T, kind *record.Kind) {
		n := len(allRows()[kind.Name])
		if n != Count(kind.Name) || n == 0 {
			t.Errorf("%d rows, want as many as Count, %d, and not 0", n, Count(kind.Name))
		}
		total += n
	})
	if total < 45_000 || total > 55_000 {
		t.Errorf("%d rows in total, want about 50,000", total)
	}
	if got := Count("SO_Totals"); got != 12_000 {
		t.Errorf("SO_Totals has %d rows, want 12000", got)
	}
	if got := Count("Nothing"); got != 0 {
		t.Errorf("an unknown kind has %d rows, want 0", got)
	}
}

// TestFields checks that the table matches the registry.
func TestFields(t *testing.T) {
	if got, want := len(business), len(record.Kinds()); got != want {
		t.Errorf("%d kinds, want %d", got, want)
	}
	forEachKind(t, func(t *testing.T, kind *record.Kind) {
		var names []string
		for _, f := range find(kind.Name).fields {
			names = append(names, f.name)
		}
		got, want := strings.Join(names, "\n"), strings.Join(kind.FieldNames(), "\n")
		if got != want {
			t.Errorf("fields are\n%s\nwant\n%s", got, want)
		}
	})
}

// TestRowsOfUnknownFields checks that a field that the demo does not have is nil, and that a
// kind that it does not have is empty.
func TestRowsOfUnknownFields(t *testing.T) {
	kind := &record.Kind{Name: "IN_Colours", Fields: []record.Field{
		{Name: "ColourCode", Type: record.Text, Filter: record.TextFilter, Null: record.Nullable},
		{Name: "Weight", Type: record.Decimal, Filter: record.OrderedFilter, Null: record.Nullable},
	}}
	for cells := range Rows(kind) {
		if len(cells) != 2 || cells[0] != "WHT" || cells[1] != nil {
			t.Errorf("first row is %v, want [WHT <nil>]", cells)
		}
		break
	}
	for cells := range Rows(&record.Kind{Name: "Nothing"}) {
		t.Errorf("an unknown kind has the row %v", cells)
	}
}

// TestRowsAreFresh checks that callers may keep and modify a row.
func TestRowsAreFresh(t *testing.T) {
	kind, _ := record.Builtin().Lookup("BM_Inputs")
	for range 2 {
		var kept [][]any
		for cells := range Rows(kind) {
			kept = append(kept, cells)
		}
		if a, b := formatRow(kept[0]), formatRow(kept[1]); a == b {
			t.Errorf("two rows are equal: %s", a)
		}
		for _, cells := range kept {
			cells[0] = "changed"
		}
	}
}
