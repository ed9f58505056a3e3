package filter

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
)

func TestSplitSeparatesConditions(t *testing.T) {
	f := readerOf(t, "SO_Totals")
	for line, want := range map[string][]string{
		"":                                      nil,
		"  ":                                    nil,
		"InvoiceID=D1":                          {"InvoiceID=D1"},
		"InvoiceTotal>=10000 InvoiceID^=D1":     {"InvoiceTotal>=10000", "InvoiceID^=D1"},
		"InvoiceTotal >= 10000 InvoiceID ^= D1": {"InvoiceTotal >= 10000", "InvoiceID ^= D1"},
		"InvoiceTotal between 1, 20 InvoiceID in A, B": {"InvoiceTotal between 1, 20", "InvoiceID in A, B"},
		"InvoiceTotal in 1..2  InvoiceID starts D":     {"InvoiceTotal in 1..2", "InvoiceID starts D"},
		`InvoiceID="D1 InvoiceTotal=5" InvoiceTotal=6`: {`InvoiceID="D1 InvoiceTotal=5"`, "InvoiceTotal=6"},
		"InvoiceID=a b c":                {"InvoiceID=a b c"},
		"InvoiceID=see InvoiceTotal":     {"InvoiceID=see InvoiceTotal"}, // a field without an operator is a value
		"InvoiceID= InvoiceTotal=5":      {"InvoiceID= InvoiceTotal=5"},  // the condition before has no value
		"Nonsense InvoiceTotal=5":        {"Nonsense InvoiceTotal=5"},
		`InvoiceID="open InvoiceTotal=5`: {`InvoiceID="open InvoiceTotal=5`},
	} {
		if got := f.Split(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestSplitAtSingleBlanks splits random conditions joined by single blanks.
func TestSplitAtSingleBlanks(t *testing.T) {
	f := readerOf(t, "SO_Totals")
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for _, field := range f.Kind.Fields[:rapid.IntRange(1, 3).Draw(t, "fields")] {
			value := rapid.SampledFrom([]string{"1", "2.50", "10,20"}).Draw(t, "number")
			operator := "in"
			if field.Filter == record.TextFilter {
				operator = rapid.SampledFrom([]string{"=", "^=", "contains"}).Draw(t, "operator")
				value = rapid.SampledFrom([]string{"D1", `"two  blanks InvoiceID=x"`, `"a ""quote"""`, "a b"}).Draw(t, "text")
			}
			texts = append(texts, field.Name+" "+operator+" "+value)
		}
		want, err := f.ParseAll(texts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.ParseAll(f.Split(strings.Join(texts, " ")))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v, %v; want %v", texts, got, err, want)
		}
		for i := range got {
			if Text(got[i]) != Text(want[i]) {
				t.Errorf("%s, want %s", Text(got[i]), Text(want[i]))
			}
		}
	})
}
