package tui

import (
	"io"
	"os"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"
)

// wholeSequences reads a terminal so that no read ends within a control sequence. Slow
// connections deliver mouse reports, marks of pastes and responses to queries in pieces, which
// bubbletea would take for keys.
type wholeSequences struct {
	*os.File
	pieces pieces
}

// newWholeSequences returns a reader of whole control sequences. Only files are read as a
// terminal; other input is returned unchanged.
func newWholeSequences(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	return &wholeSequences{File: file}
}

// Read returns no bytes if only the start of a sequence has arrived.
func (w *wholeSequences) Read(b []byte) (int, error) {
	room := len(b) - maxSequence // leaves room for the start that was kept back
	if room <= 0 {
		return w.File.Read(b)
	}
	n, err := w.File.Read(b[:room])
	if n == 0 || err != nil {
		return n, err
	}
	return copy(b, w.pieces.add(b[:n], time.Now())), nil
}

// maxSequence is the maximum length in bytes of the start of a sequence that is kept back.
const maxSequence = 128

// Maximum pauses within a sequence. The pause after ESC is shorter, since ESC is also a key.
const (
	maxPause         = time.Second
	maxPauseAfterESC = 200 * time.Millisecond
)

// pieces joins the pieces of control sequences, and the bytes of characters.
type pieces struct {
	partial   []byte    // start of a sequence or a character
	partialAt time.Time // when it arrived
}

const escape = "\x1b"

var (
	// sequenceStart is the start of a sequence at the end of the input: of a response, a key, or
	// a mouse report in its old form, after which three bytes follow.
	sequenceStart = regexp.MustCompile("(?s)\x1b(O|\\][^\x07\x1b]*\x1b?|\\[[ -?]*|\\[M.{0,2})?$")
	// terminalResponse is a response to a query, such as that of the background.
	terminalResponse = regexp.MustCompile("\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")
)

// add returns the complete sequences and characters of the input, and keeps an incomplete one at
// its end for the next call. A sequence that is not continued in time is dropped. ESC alone is
// returned, too, because it is a key. Responses of the terminal are left out.
func (p *pieces) add(input []byte, now time.Time) []byte {
	if p.isContinuedBy(input, now) {
		input = slices.Concat(p.partial, input)
	}
	end := completeEnd(input)
	p.partial = slices.Clone(input[end:])
	p.partialAt = now
	if string(p.partial) == escape {
		end = len(input)
	}
	return terminalResponse.ReplaceAll(input[:end], nil)
}

// isContinuedBy reports whether input belongs to the start that was kept.
func (p *pieces) isContinuedBy(input []byte, now time.Time) bool {
	pause := now.Sub(p.partialAt)
	if string(p.partial) == escape { // it was returned as a key
		isSequence := input[0] == '[' || input[0] == ']'
		return isSequence && pause < maxPauseAfterESC
	}
	return pause < maxPause
}

// completeEnd returns the length of input without an incomplete sequence or character at its
// end. An incomplete sequence that is longer than maxSequence counts as complete.
func completeEnd(input []byte) int {
	end := len(input)
	if location := sequenceStart.FindIndex(input); location != nil {
		end = location[0]
	} else if last := lastRune(input); !utf8.FullRune(input[last:]) {
		end = last
	}
	if len(input)-end > maxSequence {
		return len(input)
	}
	return end
}

// lastRune returns the index of the last byte that can start a character.
func lastRune(input []byte) int {
	for i := len(input) - 1; i > 0; i-- {
		if utf8.RuneStart(input[i]) {
			return i
		}
	}
	return 0
}
