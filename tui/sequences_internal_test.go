package tui

import (
	"os"
	"strings"
	"testing"
	"time"
)

// testTime is the time of the first input of a test.
var testTime = time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)

// keysOf returns the keys of tokens; esc is ESC that is a key.
func keysOf(tokens []inputToken) string {
	var text strings.Builder
	for _, next := range tokens {
		switch next.kind {
		case keyInput:
			text.Write(next.text)
		case escapeInput:
			text.WriteString("<esc>")
		}
	}
	return text.String()
}

// Sequences that arrive in pieces are returned as a whole, at any cut and byte by byte, also after
// ESC was taken for a key.
func TestSequencesAreJoined(t *testing.T) {
	const gap = 150 * time.Millisecond
	for _, sequence := range []string{
		"\x1b[<0;10;5M", "\x1b[<64;120;33m", "\x1b[M !!", "\x1b[200~text\x1b[201~", "\x1b[A", "\x1bOP", "\x1b[1;5C",
		"\x1b[[A", "\x1b[7$",
	} {
		for cut := 1; cut < len(sequence); cut++ {
			var s sequences
			got := keysOf(s.add([]byte(sequence[:cut]), testTime))
			got += keysOf(s.add([]byte(sequence[cut:]+"j"), testTime.Add(gap)))
			if want := sequence + "j"; got != want {
				t.Errorf("%q cut after %d bytes is read as %q, want %q", sequence, cut, got, want)
			}
		}
		var s sequences
		var got string
		for i := range len(sequence) {
			got += keysOf(s.add([]byte{sequence[i]}, testTime.Add(time.Duration(i)*gap)))
		}
		if got != sequence {
			t.Errorf("%q byte by byte is read as %q", sequence, got)
		}
	}

	var s sequences
	got := keysOf(s.add([]byte("\x1b"), testTime)) + keysOf(s.release(testTime.Add(gap)))
	got += keysOf(s.add([]byte("["), testTime.Add(2*gap)))
	got += keysOf(s.add([]byte("<0;10;5Mj"), testTime.Add(3*gap)))
	if want := "<esc>\x1b[<0;10;5Mj"; got != want {
		t.Errorf("a mouse report after ESC was released is read as %q, want %q", got, want)
	}
}

// Responses of the terminal are never keys, whenever and however they arrive.
func TestSequencesSwallowResponses(t *testing.T) {
	for _, response := range []string{
		"\x1b]11;rgb:1e1e/1e1e/1e1e\a", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b[?62;22c", "\x1b[>0;10;1c", "\x1b[?2026;2$y",
	} {
		for _, gap := range []time.Duration{0, 150 * time.Millisecond, time.Second - 1} {
			var s sequences
			var tokens []inputToken
			now := testTime
			for _, b := range []byte("j" + response + "k") {
				tokens = append(tokens, s.add([]byte{b}, now)...)
				now = now.Add(gap)
			}
			if got := keysOf(tokens); got != "jk" {
				t.Errorf("%q with pauses of %s is read as %q, want jk", response, gap, got)
			}
		}
		for cut := 3; cut < len(response); cut++ {
			var s sequences
			got := keysOf(s.add([]byte("j"+response[:cut]), testTime))
			got += keysOf(s.add([]byte(response[cut:]+"k"), testTime.Add(4*time.Second)))
			if got != "jk" {
				t.Errorf("%q with its end after 4 s is read as %q, want jk", response, got)
			}
		}
	}
}

// ESC is a key if it does not start a sequence, keys after it are keys, and a sequence that is
// cut off is dropped.
func TestSequencesKeepKeys(t *testing.T) {
	type piece struct {
		text  string
		after time.Duration // since the previous piece
		want  string
	}
	const escAlone = "\x1b"
	for name, input := range map[string][]piece{
		"text":                {{"SO_Totals ü", 0, "SO_Totals ü"}},
		"ESC and a key":       {{escAlone, 0, ""}, {"j", 20 * time.Millisecond, "<esc>j"}},
		"ESC twice":           {{"\x1b\x1b", 0, "<esc>"}, {"j", 20 * time.Millisecond, "<esc>j"}},
		"ESC and an arrow":    {{escAlone, 0, ""}, {"\x1b[A", 20 * time.Millisecond, "<esc>\x1b[A"}},
		"ESC, then the mouse": {{"\x1b\x1b[<0;1;2M", 0, "<esc>\x1b[<0;1;2M"}},
		"alt and a key":       {{"\x1bx", 0, "\x1bx"}},
		"alt and an arrow":    {{"\x1b\x1b[A", 0, "\x1b\x1b[A"}},
		"a lost sequence":     {{"jj\x1b[<0;1", 0, "jj"}, {"k", 6 * time.Second, "k"}},
		"a report in another": {{"\x1b[<0;1\x1b[<0;2;3Mj", 0, "\x1b[<0;2;3Mj"}},
		"no report":           {{"\x1b[<0;1xj", 0, "j"}},
		"ctrl+c in a report":  {{"\x1b[<0;1", 0, ""}, {"\x03", time.Second, "\x03"}},
		"ctrl+c in a command": {{"\x1b]11;rgb", 0, ""}, {"\x03", time.Second, "\x03"}},
		"a character":         {{"j\xc3", 0, "j"}, {"\xbck", 50 * time.Millisecond, "ük"}},
		"no end":              {{"\x1b[?" + strings.Repeat("1", 2*maxSequence), 0, ""}, {"1cj", time.Second, "j"}},
	} {
		var s sequences
		now := testTime
		for _, next := range input {
			now = now.Add(next.after)
			if got := keysOf(s.add([]byte(next.text), now)); got != next.want {
				t.Errorf("%s: %q is read as %q, want %q", name, next.text, got, next.want)
			}
		}
	}
}

// A terminal is read in whole sequences, and ESC that is a key is read alone.
func TestTerminalReadsWholeSequences(t *testing.T) {
	file, terminal, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer terminal.Close()
	in, err := newTerminalInput(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.suspend()
	for _, piece := range []string{"j\x1b[<0;10", ";5", "Mk", "\x1b\x1b", "j\x1b]11;rgb:ffff/ffff/ffff\al"} {
		in.accept(in.sequences.add([]byte(piece), testTime))
	}
	var got []string
	buffer := make([]byte, 256)
	for len(in.keys) > 0 {
		n, err := in.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(buffer[:n]))
	}
	want := "j|\x1b[<0;10;5Mk|\x1b|\x1b|jl"
	if strings.Join(got, "|") != want {
		t.Errorf("read %q, want %q", got, strings.Split(want, "|"))
	}

	long := strings.Repeat("ü", 127) + "\x1b[<0;10;5M" // longer than the buffer of bubbletea
	in.accept(in.sequences.add([]byte(long), testTime))
	got = nil
	for len(in.keys) > 0 {
		n, err := in.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(buffer[:n]))
	}
	if len(got) != 2 || got[0] != strings.Repeat("ü", 127) {
		t.Errorf("a long input is read as %q", got)
	}
}

// Reading ends when the terminal is suspended, and continues afterwards.
func TestSuspendedTerminalIsNotRead(t *testing.T) {
	file, terminal, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer terminal.Close()
	in, err := newTerminalInput(file)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	buffer := make([]byte, 256)
	go func() {
		_, err := in.Read(buffer)
		read <- err
	}()
	in.suspend()
	if err := <-read; err == nil {
		t.Error("a suspended terminal is read without an error")
	}
	if _, err := terminal.WriteString("j"); err != nil {
		t.Fatal(err)
	}
	if err := in.resume(); err != nil {
		t.Fatal(err)
	}
	defer in.suspend()
	if n, err := in.Read(buffer); err != nil || string(buffer[:n]) != "j" {
		t.Errorf("after that, %q is read, error %v; want j", buffer[:n], err)
	}
}
