package goldentest

import (
	"fmt"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	long := numberedRows(1000)
	for name, c := range map[string]struct{ want, got, difference string }{
		"changed line": {
			want:       "a\nb\nc\nd\ne\n",
			got:        "a\nb\nC\nd\ne\n",
			difference: "line 1:\n  a\n  b\n- c\n+ C\n  d\n  e",
		},
		"added line": {
			want:       "a\nb\n",
			got:        "a\nnew\nb\n",
			difference: "line 1:\n  a\n+ new\n  b\n  ",
		},
		"removed line": {
			want:       "a\nold\nb\n",
			got:        "a\nb\n",
			difference: "line 1:\n  a\n- old\n  b\n  ",
		},
		"line far below": {
			want: long,
			got:  strings.Replace(long, "row 900\n", "row\n", 1),
			difference: "line 899:\n  row 898\n  row 899\n" +
				"- row 900\n+ row\n" +
				"  row 901\n  row 902",
		},
		"two lines": {
			want: long,
			got:  strings.NewReplacer("row 10\n", "", "row 500\n", "row\n").Replace(long),
			difference: "line 9:\n  row 8\n  row 9\n" +
				"- row 10\n" +
				"  row 11\n  row 12\n" +
				"line 499:\n  row 498\n  row 499\n" +
				"- row 500\n+ row\n" +
				"  row 501\n  row 502",
		},
		"no line break at the end": {
			want:       "a\n",
			got:        "a",
			difference: "line 1:\n- a\n- \n+ a\\ no line break at the end",
		},
	} {
		if got := Difference(c.want, c.got); got != c.difference {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.difference)
		}
	}
}

func TestDifferenceIsLimited(t *testing.T) {
	got := Difference("", numberedRows(1000))
	if n := strings.Count(got, "\n"); n != maxLines+1 { // with the heading and the remark at the end
		t.Errorf("the difference of 1,000 lines has %d line breaks, want %d", n, maxLines+1)
	}
	if !strings.HasSuffix(got, "more lines") {
		t.Errorf("the difference of 1,000 lines is %s, want a remark at the end", got)
	}
}

// numberedRows returns the lines "row 0", "row 1" and so on.
func numberedRows(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "row %d\n", i)
	}
	return text.String()
}
