package ui_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The program screen limits the length of a sequence.
func TestScreenSequencesAreSplit(t *testing.T) {
	const limit = 256                                     // bytes of a piece
	for size, want := range map[int]int{570: 3, 573: 4} { // bytes of the text; three pieces are full
		text := strings.Repeat("a", size)
		var sent strings.Builder
		c := ui.Clipboard{
			Context: t.Context(),
			Env:     tuitest.Environment("STY=1.pts", "WHCTL_CLIPBOARD=osc52"),
			Output:  &sent,
		}
		if _, err := c.Copy(text); err != nil {
			t.Fatal(err)
		}
		pieces := strings.Split(sent.String(), "\x1bP")[1:]
		if len(pieces) != want {
			t.Fatalf("a text of %d bytes is sent in %d pieces, want %d", size, len(pieces), want)
		}
		var joined strings.Builder
		for i, piece := range pieces {
			content, hasEnd := strings.CutSuffix(piece, "\x1b\\")
			if !hasEnd || len(content) > limit {
				t.Errorf("piece %d is %q, want at most %d bytes and an end", i+1, piece, limit)
			}
			joined.WriteString(content)
		}
		sequence := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
		if got := joined.String(); got != sequence {
			t.Errorf("the pieces add up to %q, want %q", got, sequence)
		}
	}
}
