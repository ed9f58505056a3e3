package erp

import (
	"iter"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Rows gives rows of a kind, with values in column order: nil, string, int64
// (also for bools) or []byte, as package wire writes them.
type Rows = func(*record.Kind) iter.Seq[[]any]

// Seeded is what Seed has done.
type Seeded struct {
	Rows    int64
	Changed int64 // values that the tables cannot hold, which became the nearest that they can
}

// extent is what a column has to hold.
type extent struct {
	units           int  // the longest text, in code units of UTF-16
	wide            bool // some text is not ASCII
	whole, fraction int  // digits on either side of a decimal's point
}

// extents reads rows to find what their columns have to hold.
func extents(kind *record.Kind, rows Rows) []extent {
	all := make([]extent, len(kind.Fields))
	for values := range rows(kind) {
		for i, v := range values {
			text, ok := v.(string)
			switch {
			case !ok:
			case kind.Fields[i].Type == record.Decimal:
				whole, fraction := digitsOf(text)
				all[i].whole, all[i].fraction = max(all[i].whole, whole), max(all[i].fraction, fraction)
			case kind.Fields[i].Type == record.Text:
				all[i].units = max(all[i].units, len(text)) // of UTF-8, which is as many or more
				all[i].wide = all[i].wide || !isASCII(text)
			}
		}
	}
	return all
}

func digitsOf(text string) (whole, fraction int) {
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return len(strings.TrimLeft(before, "0")), len(after)
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' && r != '\r' && r != '\t' }) < 0
}
