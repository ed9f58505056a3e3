package ui

import (
	"strings"
	"testing"
)

// screen limits the length of a sequence.
func TestScreenSequencesAreSplit(t *testing.T) {
	sequence := strings.Repeat("a", 3*screenChunk+1)
	pieces := strings.Split(throughScreen(sequence), "\x1bP")
	if len(pieces) != 5 {
		t.Fatalf("%d pieces", len(pieces)-1)
	}
	var got strings.Builder
	for _, piece := range pieces[1:] {
		text, ended := strings.CutSuffix(piece, "\x1b\\")
		if !ended || len(text) > screenChunk {
			t.Errorf("piece %q", piece)
		}
		got.WriteString(text)
	}
	if got.String() != sequence {
		t.Error("the pieces do not add up to the sequence")
	}
}
