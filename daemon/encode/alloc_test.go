//go:build !race

// The race detector empties pools at random, including the scanner pool of
// json.Valid, which adds allocations.

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
				continue // an escape inside nested JSON is the only value that JSV cannot copy
			}
			e := f.New(mixed())
			dst := e.Begin(make([]byte, 0, 1<<16), Head{})
			allocs := testing.AllocsPerRun(100, func() { dst = e.Row(dst[:0], cells) })
			if allocs != 0 {
				t.Errorf("%s: row %d makes %v allocations, want 0", f.Name, i, allocs)
			}
		}
	}
}

// TestNewJSONAllocates checks that the names of the columns have one buffer.
func TestNewJSONAllocates(t *testing.T) {
	s, _ := totals()
	if allocs := testing.AllocsPerRun(100, func() { newJSON(s) }); allocs > 5 {
		t.Errorf("%v allocations", allocs)
	}
}
