package ui_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// screen limits the length of a sequence.
func TestScreenSequencesAreSplit(t *testing.T) {
	const limit = 256
	for size, count := range map[int]int{570: 3, 573: 4} { // of the text and of the pieces; three are full
		text := strings.Repeat("a", size)
		var sent strings.Builder
		c := ui.Clipboard{Context: t.Context(), Env: tuitest.Environment("STY=1.pts", "WHCTL_CLIPBOARD=osc52"), Output: &sent}
		if _, err := c.Copy(text); err != nil {
			t.Fatal(err)
		}
		pieces := strings.Split(sent.String(), "\x1bP")
		if len(pieces) != count+1 {
			t.Fatalf("%d pieces, want %d", len(pieces)-1, count)
		}
		var got strings.Builder
		for _, piece := range pieces[1:] {
			text, ended := strings.CutSuffix(piece, "\x1b\\")
			if !ended || len(text) > limit {
				t.Errorf("piece %q", piece)
			}
			got.WriteString(text)
		}
		if got.String() != "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a" {
			t.Error("the pieces do not add up to the sequence")
		}
	}
}
