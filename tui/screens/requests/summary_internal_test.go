package requests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
)

// The line above the list has the rate, the 95th percentile and the errors of the service.
func TestSummary(t *testing.T) {
	var rows []client.Row
	for i := range 100 {
		text := fmt.Sprintf(`{"DateTime":"2026-07-01T14:00:%02d.0000000","StatusCode":%d,"RequestDuration":"PT0.%03dS"}`,
			59-i/2, 200+i/98*300, i+1)
		row, err := client.ParseRow([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	var line strings.Builder
	for _, span := range summary(rows) {
		line.WriteString(span.Text)
	}
	if got, want := line.String(), "2.0/s   p95 95 ms   2 x 5xx"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got := summary(nil); len(got) != 1 || got[0].Text != "" {
		t.Errorf("the summary without requests is %+v, want an empty text", got)
	}
}

// The bar of a duration grows with its logarithm up to a second.
func TestDurationBar(t *testing.T) {
	th := theme.New(theme.ASCII, theme.Mono)
	for text, want := range map[string]string{
		"0.6 ms":   "          0.6 ms",
		"4.1 ms":   "##        4.1 ms",
		"100 ms":   "####      100 ms",
		"1,000 ms": "######  1,000 ms",
		"9,999 ms": "######  9,999 ms",
		"":         "",
	} {
		cell := grid.Cell{Text: text}
		paintDuration(th, &cell)
		if cell.Text != want {
			t.Errorf("the cell of %q is %q, want %q", text, cell.Text, want)
		}
		if blanks := strings.TrimLeft(cell.Text, "#"); cell.Bar+blanks != cell.Text {
			t.Errorf("the bar of %q is %q, want the start of %q", text, cell.Bar, cell.Text)
		}
	}
}
