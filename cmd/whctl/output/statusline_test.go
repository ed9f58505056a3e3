package output

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestStatusLine shows texts on a terminal of 12 cells, which becomes narrower. Each line fits, and
// leaves nothing of the text before.
func TestStatusLine(t *testing.T) {
	var screen strings.Builder
	width := 12
	line := &StatusLine{out: &screen, width: func() int { return width }}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{do: line.Clear, want: ""},
		{do: func() { line.Show("loading, 10 rows") }, want: "\rloading, 10\r"},
		{do: func() { line.Show("current") }, want: "\rcurrent    \r"},
		{do: func() { line.Show("倉庫倉庫倉庫") }, want: "\r倉庫倉庫倉\r"},
		{do: func() { line.Show("a\x1b[2Jb") }, want: "\ra^[[2Jb   \r"},
		{do: func() { line.Print(func() { screen.WriteString("notice\n") }) }, want: "\r       \rnotice\n"},
		{do: line.Clear, want: ""},
		{do: func() { line.Show("loading") }, want: "\rloading\r"},
		{
			do: func() {
				width = 5
				line.Show("current")
			},
			want: "\rcurr\r",
		},
	} {
		screen.Reset()
		step.do()
		if got := screen.String(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
		for text := range strings.SplitSeq(screen.String(), "\r") {
			if cells := ansi.StringWidth(text); cells >= width {
				t.Errorf("%q has %d cells, want less than %d", text, cells, width)
			}
		}
	}
}

// TestNoStatusLine checks that a nil line shows nothing, but prints notices.
func TestNoStatusLine(t *testing.T) {
	var line *StatusLine
	line.Show("text")
	line.Clear()
	isPrinted := false
	line.Print(func() { isPrinted = true })
	if !isPrinted {
		t.Error("the notice was not printed")
	}
}
