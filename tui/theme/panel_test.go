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

// A title is omitted where no cell is left for it. Lines beyond the height are not drawn, and
// missing ones are blank.
func TestPanelsWithoutRoom(t *testing.T) {
	title := []Span{{Text: "Title"}}
	for _, test := range []struct {
		name  string
		panel Panel
		want  []string
	}{
		{
			name:  "room for a cell of the title",
			panel: Panel{Width: 4, Height: 1, Title: title, Lines: []string{"0123"}},
			want:  []string{"+ ~ -+ ", "|0123| ", "+----+ "},
		},
		{
			name:  "no room for the title",
			panel: Panel{Width: 3, Height: 1, Title: title, Lines: []string{"012"}},
			want:  []string{"+---+  ", "|012|  ", "+---+  "},
		},
		{
			name:  "too many lines",
			panel: Panel{X: 2, Width: 3, Height: 1, Lines: []string{"012", "345", "678"}},
			want:  []string{"  +---+", "  |012|", "  +---+"},
		},
		{
			name:  "too few lines",
			panel: Panel{Width: 3, Height: 2, Lines: []string{"012"}},
			want:  []string{"+---+  ", "|012|  ", "|   |  ", "+---+  "},
		},
		{
			name:  "wider than the canvas",
			panel: Panel{X: 3, Width: 4, Height: 1, Lines: []string{"0123"}},
			want:  []string{"   +---", "   |   ", "   +---"},
		},
	} {
		var got []string
		for _, line := range New(ASCII, Mono).Panels(7, len(test.want), []Panel{test.panel}) {
			got = append(got, ansi.Strip(line))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}
