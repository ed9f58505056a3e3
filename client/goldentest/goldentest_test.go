package goldentest

import (
	"fmt"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	var long strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "row %d\n", i)
	}
	for _, c := range []struct{ name, want, got, difference string }{
		{"a changed line", "a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "line 1:\n  a\n  b\n- c\n+ C\n  d\n  e"},
		{"an added line", "a\nb\n", "a\nnew\nb\n", "line 1:\n  a\n+ new\n  b\n  "},
		{"a removed line", "a\nold\nb\n", "a\nb\n", "line 1:\n  a\n- old\n  b\n  "},
		{"a line far below", long.String(), strings.Replace(long.String(), "row 900\n", "row\n", 1),
			"line 899:\n  row 898\n  row 899\n- row 900\n+ row\n  row 901\n  row 902"},
		{"two lines", long.String(), strings.NewReplacer("row 10\n", "", "row 500\n", "row\n").Replace(long.String()),
			"line 9:\n  row 8\n  row 9\n- row 10\n  row 11\n  row 12\nline 499:\n  row 498\n  row 499\n- row 500\n+ row\n  row 501\n  row 502"},
		{"no line break at the end", "a\n", "a", "line 1:\n- a\n- \n+ a\\ no line break at the end"},
	} {
		if got := Difference(c.want, c.got); got != c.difference {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.difference)
		}
	}
	if got := Difference("", long.String()); strings.Count(got, "\n") != maxLines+1 || !strings.HasSuffix(got, "more lines") {
		t.Errorf("the difference of 1,000 lines has %d lines: %.100s", strings.Count(got, "\n")+1, got)
	}
}
