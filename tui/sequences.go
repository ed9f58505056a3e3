package tui

import (
	"bytes"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"
)

// sequences divides the bytes of a terminal into keys and responses. Slow connections and busy
// terminal multiplexers deliver control sequences in pieces, which bubbletea would take for keys,
// and terminals respond to queries whenever they get to it.
type sequences struct {
	partial    []byte    // the start of a sequence or of a character
	partialAt  time.Time // when its last byte arrived
	releasedAt time.Time // when ESC was returned as a key, since nothing had followed it
}

// inputToken is a part of the input.
type inputToken struct {
	kind tokenKind
	text []byte
}

// tokenKind is the kind of a token.
type tokenKind uint8

// The kinds of tokens.
const (
	incompleteInput tokenKind = iota // the start of a sequence or of a character
	keyInput                         // text, keys and mouse reports
	escapeInput                      // ESC that does not start a sequence
	responseInput                    // the response to a query
	brokenInput                      // a sequence that another one, or a control character, has cut off
)

const (
	escape = '\x1b'
	bell   = '\a'
)

// maxSequence is the maximum length in bytes of the start of a sequence that is kept. Of a longer
// one, the bytes after that are dropped.
const maxSequence = 128

// Maximum pauses within a sequence. Two bytes such as ESC and [ can be a key pressed with alt, so
// that the next key must not be lost for long; users do not type the start of a mouse report.
const (
	maxPause             = 5 * time.Second
	maxPauseAfterTwo     = time.Second
	maxPauseAfterRelease = 300 * time.Millisecond
)

// add returns the tokens of the input. An incomplete one at its end is kept for the next call.
func (s *sequences) add(input []byte, now time.Time) []inputToken {
	if len(input) == 0 {
		return nil
	}
	var tokens []inputToken
	if s.holdsEscape() && !continuesEscape(input) {
		tokens = s.release(now)
	}
	isReleased := !s.releasedAt.IsZero() && now.Sub(s.releasedAt) < maxPauseAfterRelease
	isContinued := len(s.partial) > 0 && now.Sub(s.partialAt) < s.timeout()
	if isContinued {
		input = slices.Concat(s.partial, input)
	} else if isReleased && continuesEscape(input) {
		input = slices.Concat([]byte{escape}, input)
	}
	s.releasedAt = time.Time{}
	for len(input) > 0 {
		next := scan(input)
		if next.kind == incompleteInput {
			break
		}
		tokens = append(tokens, next)
		input = input[len(next.text):]
	}
	s.partial = slices.Clone(input[:min(len(input), maxSequence)])
	s.partialAt = now
	return tokens
}

// holdsEscape reports whether ESC is kept, which is a key unless more bytes follow soon.
func (s *sequences) holdsEscape() bool { return len(s.partial) == 1 && s.partial[0] == escape }

// release returns ESC that is kept as a key.
func (s *sequences) release(now time.Time) []inputToken {
	if !s.holdsEscape() {
		return nil
	}
	s.partial = nil
	s.releasedAt = now
	return []inputToken{{kind: escapeInput, text: []byte{escape}}}
}

// continuesEscape reports whether input that arrives after ESC belongs to a sequence. Other
// input is a key that the user pressed after esc.
func continuesEscape(input []byte) bool { return bytes.IndexByte([]byte("[]O"), input[0]) >= 0 }

// timeout returns how long the rest of the partial sequence is awaited.
func (s *sequences) timeout() time.Duration {
	if len(s.partial) <= 2 {
		return maxPauseAfterTwo
	}
	return maxPause
}

// scan returns the first token of an input.
func scan(input []byte) inputToken {
	if input[0] != escape {
		return scanText(input)
	}
	if len(input) == 1 {
		return inputToken{kind: incompleteInput, text: input}
	}
	switch input[1] {
	case '[':
		return scanControl(input)
	case ']':
		return scanCommand(input)
	case 'O':
		return exactly(3, input)
	case escape:
		return scanEscapes(input)
	}
	character := input[1:] // pressed with alt
	if !utf8.FullRune(character) {
		return inputToken{kind: incompleteInput, text: input}
	}
	_, size := utf8.DecodeRune(character)
	return inputToken{kind: keyInput, text: input[:1+size]}
}

// exactly returns keys of a length.
func exactly(length int, input []byte) inputToken {
	if len(input) < length {
		return inputToken{kind: incompleteInput, text: input}
	}
	return inputToken{kind: keyInput, text: input[:length]}
}

// scanText returns the characters before the next sequence.
func scanText(input []byte) inputToken {
	end := bytes.IndexByte(input, escape)
	if end >= 0 {
		return inputToken{kind: keyInput, text: input[:end]}
	}
	last := lastRune(input)
	if utf8.FullRune(input[last:]) {
		return inputToken{kind: keyInput, text: input}
	}
	if last == 0 {
		return inputToken{kind: incompleteInput, text: input}
	}
	return inputToken{kind: keyInput, text: input[:last]}
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

// scanEscapes returns the first of several ESC. Two before a sequence are a cursor key pressed with
// alt, unless that is a mouse report.
func scanEscapes(input []byte) inputToken {
	first := inputToken{kind: escapeInput, text: input[:1]}
	next := scan(input[1:])
	isSequence := next.kind == keyInput && len(next.text) > 2
	if isSequence && next.text[2] != '<' && next.text[2] != 'M' {
		return inputToken{kind: keyInput, text: input[:1+len(next.text)]}
	}
	return first
}

// mouseReport is a mouse report in the format that the screens request.
var mouseReport = regexp.MustCompile("^\x1b\\[<[0-9]+;[0-9]+;[0-9]+[Mm]$")

// x10Report is the length of a mouse report in its old format.
const x10Report = len("\x1b[M") + 3

// consoleKey is the length of a function key of the Linux console.
const consoleKey = len("\x1b[[A")

// scanControl returns a sequence that starts with ESC [.
func scanControl(input []byte) inputToken {
	const start = len("\x1b[")
	if len(input) > start {
		switch input[start] {
		case 'M':
			return exactly(x10Report, input)
		case '[':
			return exactly(consoleKey, input)
		}
	}
	for i := start; i < len(input); i++ {
		b := input[i]
		isRxvtKey := b == '$' && isDigit(input[i-1]) && isDigit(input[start]) // home or end with shift
		switch {
		case b >= '@' && b <= '~':
			return controlToken(input[:i+1])
		case isRxvtKey:
			return inputToken{kind: keyInput, text: input[:i+1]}
		case b < ' ' || b > '~':
			return inputToken{kind: brokenInput, text: input[:i]}
		}
	}
	return inputToken{kind: incompleteInput, text: input}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// controlToken returns the token of a complete sequence that starts with ESC [.
func controlToken(sequence []byte) inputToken {
	switch sequence[2] {
	case '?', '>', '=': // private parameters, which no key has
		return inputToken{kind: responseInput, text: sequence}
	case '<':
		if !mouseReport.Match(sequence) {
			return inputToken{kind: brokenInput, text: sequence}
		}
	}
	return inputToken{kind: keyInput, text: sequence}
}

// scanCommand returns a sequence that starts with ESC ], which ends with BEL or with ESC \.
func scanCommand(input []byte) inputToken {
	for i := len("\x1b]"); i < len(input); i++ {
		isLast := i == len(input)-1
		switch {
		case input[i] == bell:
			return inputToken{kind: responseInput, text: input[:i+1]}
		case input[i] == escape && isLast:
			return inputToken{kind: incompleteInput, text: input}
		case input[i] == escape && input[i+1] == '\\':
			return inputToken{kind: responseInput, text: input[:i+2]}
		case input[i] < ' ':
			return inputToken{kind: brokenInput, text: input[:i]}
		}
	}
	return inputToken{kind: incompleteInput, text: input}
}
