//go:build !race

// The race detector empties pools at random, such as the one that json.Valid
// keeps its scanners in, and so makes allocations of its own.

package encode

import (
	"bytes"
	"testing"

	"github.com/bizhook/whd/client/record"
)

func TestRowDoesNotAllocate(t *testing.T) {
	for _, f := range Formats() {
		for i, cells := range mixedRows() {
			if f.Name == "jsv" && bytes.Contains(cells[record.Dictionary].Data, []byte(`\`)) {
				continue // an escape inside nested JSON is the one thing that JSV cannot copy
			}
			e := f.New(mixed())
			dst := make([]byte, 0, 1<<16)
			allocs := testing.AllocsPerRun(100, func() { dst = e.Row(dst[:0], cells) })
			if allocs != 0 {
				t.Errorf("%s: row %d allocates %v times", f.Name, i, allocs)
			}
		}
	}
}
