package browse

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
)

// A long value is cut between two characters.
func TestShortRowKeepsCharacters(t *testing.T) {
	value := "x" + strings.Repeat("я", maxCellBytes)
	row, err := client.ParseRow([]byte(`{"Notes":"` + value + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	short, cut := shortRow(row)
	got := short.Text("Notes")
	if !cut || !strings.HasPrefix(value, got) || len(got) < maxCellBytes-2 {
		t.Errorf("a value of %d bytes is cut: %v, to %d bytes that end with %q; want its first %d or %d",
			len(value), cut, len(got), got[len(got)-3:], maxCellBytes-1, maxCellBytes)
	}
}
