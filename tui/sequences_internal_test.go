package tui

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A control sequence that arrives in pieces is returned as a whole, at any cut.
func TestSequencesAreJoined(t *testing.T) {
	start := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	const gap = 150 * time.Millisecond
	for _, sequence := range []string{
		"\x1b[<0;10;5M", "\x1b[<64;120;33m", "\x1b[M !!", "\x1b[200~text\x1b[201~", "\x1b[A", "\x1bOP", "\x1b[1;5C",
	} {
		for cut := 2; cut < len(sequence); cut++ {
			if sequence[cut-1:cut] == escape { // is a key
				continue
			}
			var p pieces
			got := string(p.add([]byte(sequence[:cut]), start))
			got += string(p.add([]byte(sequence[cut:]+"j"), start.Add(gap)))
			if want := sequence + "j"; got != want {
				t.Errorf("%q cut after %d bytes is read as %q, want %q", sequence, cut, got, want)
			}
		}

		var p pieces
		var got strings.Builder
		for i := range len(sequence) {
			got.Write(p.add([]byte{sequence[i]}, start.Add(time.Duration(i)*gap)))
		}
		// ESC is a key, and is returned at once.
		if want := "\x1b" + sequence; strings.HasPrefix(sequence, "\x1b[<") && got.String() != want {
			t.Errorf("%q byte by byte is read as %q, want %q", sequence, got.String(), want)
		}
	}
}

// ESC is returned at once, keys after it are keys, and the start of a lost sequence is dropped.
func TestSequencesKeepKeys(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	type piece struct {
		text  string
		after time.Duration // since the previous piece
		want  string
	}
	tooLong := "\x1b[" + strings.Repeat("1", 2*maxSequence)
	for name, input := range map[string][]piece{
		"text":             {{"SO_Totals ü", 0, "SO_Totals ü"}},
		"ESC and a key":    {{"\x1b", 0, "\x1b"}, {"j", 100 * time.Millisecond, "j"}},
		"ESC, later a key": {{"\x1b", 0, "\x1b"}, {"[", 300 * time.Millisecond, "["}},
		"alt and a key":    {{"\x1bx", 0, "\x1bx"}},
		"a lost sequence":  {{"jj\x1b[<0;1", 0, "jj"}, {"k", 2 * time.Second, "k"}},
		"a response":       {{"j\x1b]11;rgb:1e1e/1e1e/1e1e\ak", 0, "jk"}},
		"a response in pieces": {
			{"j\x1b]11;rgb:1e1e/1e", 0, "j"}, {"1e/1e1e\x1b\\k", 50 * time.Millisecond, "k"},
		},
		"a response cut in its end": {
			{"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b", 0, ""}, {"\\k", 50 * time.Millisecond, "k"},
		},
		"a character in pieces": {{"j\xc3", 0, "j"}, {"\xbck", 50 * time.Millisecond, "ük"}},
		"no end":                {{tooLong, 0, tooLong}},
	} {
		var p pieces
		for _, next := range input {
			now = now.Add(next.after)
			if got := string(p.add([]byte(next.text), now)); got != next.want {
				t.Errorf("%s: %q is read as %q, want %q", name, next.text, got, next.want)
			}
		}
	}
}

// A terminal is read in whole sequences.
func TestTerminalReadsWholeSequences(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	reader := newWholeSequences(in)
	buffer := make([]byte, 256)
	for _, piece := range []struct{ text, want string }{
		{"j\x1b[<0;10", "j"},
		{";5", ""},
		{"Mk", "\x1b[<0;10;5Mk"},
	} {
		if _, err := keys.WriteString(piece.text); err != nil {
			t.Fatal(err)
		}
		n, err := reader.Read(buffer)
		if err != nil || string(buffer[:n]) != piece.want {
			t.Errorf("after %q, %q is read, error %v; want %q", piece.text, buffer[:n], err, piece.want)
		}
	}
}
