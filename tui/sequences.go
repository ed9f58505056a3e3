package tui

import (
	"io"
	"os"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"
)

// wholeSequences is a terminal with reads that do not end within a control sequence: slow
// connections deliver mouse reports, marks of pastes and responses to queries in pieces, which
// bubbletea would take for keys.
type wholeSequences struct {
	*os.File
	pieces pieces
}

// newWholeSequences returns a reader of whole control sequences, or the input if it is no file.
func newWholeSequences(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	return &wholeSequences{File: file}
}

// Read returns no bytes if only the start of a sequence has arrived.
func (w *wholeSequences) Read(b []byte) (int, error) {
	room := len(b) - maxSequence // for the start that was kept
	if room <= 0 {
		return w.File.Read(b)
	}
	n, err := w.File.Read(b[:room])
	if n == 0 || err != nil {
		return n, err
	}
	return copy(b, w.pieces.add(b[:n], time.Now())), nil
}

// maxSequence is the length of a sequence from which it is no longer kept back.
const maxSequence = 128

// Maximum pauses within a sequence. That after ESC is shorter, since it is a key, too.
const (
	maxPause         = time.Second
	maxPauseAfterESC = 200 * time.Millisecond
)

// pieces joins the pieces of control sequences, and the bytes of characters.
type pieces struct {
	partial   []byte // start of a sequence or a character
	partialAt time.Time
}

const escape = "\x1b"

var (
	// sequenceStart is the start of a sequence at the end of the input: of a response, a key, or
	// a mouse report in its old form, after which three bytes follow.
	sequenceStart = regexp.MustCompile("(?s)\x1b(O|\\][^\x07\x1b]*\x1b?|\\[[ -?]*|\\[M.{0,2})?$")
	// terminalResponse is a response to a query, such as that of the background.
	terminalResponse = regexp.MustCompile("\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")
)

// add returns the input up to the start of a sequence at its end, and joins that with the next
// input. The rest of a sequence that does not arrive in time was lost. ESC alone is returned,
// too, because it is a key. Responses of the terminal are left out.
func (p *pieces) add(input []byte, now time.Time) []byte {
	pause := now.Sub(p.partialAt)
	isRest := pause < maxPause
	if string(p.partial) == escape {
		isRest = pause < maxPauseAfterESC && (input[0] == '[' || input[0] == ']')
	}
	if isRest {
		input = slices.Concat(p.partial, input)
	}

	start := len(input)
	if at := sequenceStart.FindIndex(input); at != nil {
		start = at[0]
	} else if last := lastRune(input); !utf8.FullRune(input[last:]) {
		start = last
	}
	if len(input)-start > maxSequence {
		start = len(input)
	}
	p.partial = slices.Clone(input[start:])
	p.partialAt = now
	if string(p.partial) == escape {
		start = len(input)
	}
	return terminalResponse.ReplaceAll(input[:start], nil)
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
