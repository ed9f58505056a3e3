package theme

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Panels share their edges; the titles are in them, and are cut where there is no room.
func TestPanelsShareEdges(t *testing.T) {
	panels := []Panel{
		{
			Width: 10, Height: 3, Focused: true,
			Title: []Span{{Text: "List"}},
			Note:  []Span{{Text: "1"}},
			Lines: []string{"0123456789", "0123456789", "0123456789"},
		},
		{X: 11, Width: 7, Height: 1, Title: []Span{{Text: "too long"}}, Lines: []string{"0123456"}},
		{X: 11, Y: 2, Width: 7, Height: 1, Lines: []string{"0123456"}},
	}
	for set, want := range map[string][]string{
		Full: {
			"╭ List ─ 1 ┬ too… ─╮",
			"│0123456789│0123456│",
			"│0123456789├───────┤",
			"│0123456789│0123456│",
			"╰──────────┴───────╯",
		},
		ASCII: {
			"+ List - 1 + too~ -+",
			"|0123456789|0123456|",
			"|0123456789+-------+",
			"|0123456789|0123456|",
			"+----------+-------+",
		},
	} {
		var got []string
		for _, line := range NewIn(TrueColour, set, Dark).Panels(20, 5, panels) {
			got = append(got, ansi.Strip(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", set, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
