package tui

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// How long ESC alone is kept before it is a key. A terminal that responds to queries within
// queryTimeout delivers sequences as a whole.
const (
	fastEscapeDelay = 50 * time.Millisecond
	slowEscapeDelay = 200 * time.Millisecond
)

// terminalInput reads a terminal for bubbletea: keys and mouse reports as a whole, without the
// responses to queries. It also switches the mode of the terminal, since the screens query the
// terminal before bubbletea starts, and keys that are typed until then must not be echoed.
//
// bubbletea calls Read from one goroutine at a time. It ends reading at io.EOF, and starts again
// with another goroutine when it takes the terminal back.
type terminalInput struct {
	file   *os.File
	cooked *term.State // mode of the terminal before; nil if it is no terminal

	reader cancelreader.CancelReader // nil while the terminal is not read
	pieces chan []byte               // bytes of the terminal; closed when reading ends
	ended  error                     // why reading has ended, set before pieces is closed
	stop   chan struct{}             // closed to stop reading

	sequences   sequences
	escapeDelay time.Duration // how long ESC alone is kept
	keys        [][]byte      // for Read
	responded   bool          // the terminal has responded to the query
	themes      chan string   // themes for the backgrounds that the terminal reports
}

// terminalFile returns the file of an input, false if bubbletea reads it: it reads the Windows
// console as events.
func terminalFile(in io.Reader) (*os.File, bool) {
	file, ok := in.(*os.File)
	return file, ok && runtime.GOOS != "windows"
}

// newTerminalInput returns an input that is read from now on, in raw mode if it is a terminal.
func newTerminalInput(file *os.File) (*terminalInput, error) {
	in := &terminalInput{file: file, escapeDelay: slowEscapeDelay, themes: make(chan string, 1)}
	if err := in.resume(); err != nil {
		return nil, err
	}
	return in, nil
}

// resume switches the terminal to raw mode and reads it.
func (in *terminalInput) resume() error {
	descriptor := int(in.file.Fd())
	if term.IsTerminal(descriptor) {
		cooked, err := term.MakeRaw(descriptor)
		if err != nil {
			return err
		}
		in.cooked = cooked
	}
	reader, err := cancelreader.NewReader(in.file)
	if err != nil {
		in.restoreMode()
		return err
	}
	in.reader = reader
	in.pieces = make(chan []byte)
	in.stop = make(chan struct{})
	go in.receive(reader, in.pieces, in.stop)
	return nil
}

// suspend stops reading and restores the mode of the terminal. Read returns io.EOF until resume.
func (in *terminalInput) suspend() {
	if in.reader != nil {
		close(in.stop)
		in.reader.Cancel()
		for range in.pieces { // is closed when reading has ended
		}
		_ = in.reader.Close()
		in.reader = nil
	}
	in.restoreMode()
}

// restoreMode restores the mode that the terminal had before.
func (in *terminalInput) restoreMode() {
	if in.cooked != nil {
		_ = term.Restore(int(in.file.Fd()), in.cooked)
	}
}

// receive passes on the bytes of the terminal.
func (in *terminalInput) receive(reader io.Reader, pieces chan<- []byte, stop <-chan struct{}) {
	defer close(pieces)
	buffer := make([]byte, 256)
	for {
		n, err := reader.Read(buffer)
		if n > 0 {
			select {
			case pieces <- slices.Clone(buffer[:n]):
			case <-stop:
				err = io.EOF
			}
		}
		if err != nil {
			in.ended = err
			return
		}
	}
}

// Read returns keys.
func (in *terminalInput) Read(b []byte) (int, error) {
	for len(in.keys) == 0 {
		if err := in.await(nil); err != nil {
			return 0, err
		}
	}
	next := in.keys[0]
	end := len(next)
	// A read that fills the buffer looks to bubbletea as if more bytes of a sequence followed.
	if end >= len(b) {
		end = len(b) - 1
		end -= len(partialEnd(next[:end]))
	}
	n := copy(b, next[:end])
	in.keys[0] = next[end:]
	if end == len(next) {
		in.keys = in.keys[1:]
	}
	return n, nil
}

// partialEnd returns the incomplete sequence or character at the end of keys.
func partialEnd(keys []byte) []byte {
	var s sequences
	s.add(keys, time.Time{})
	return s.partial
}

// await waits for input, until ESC alone is a key, or for the deadline.
func (in *terminalInput) await(deadline <-chan time.Time) error {
	var released <-chan time.Time
	if in.sequences.holdsEscape() {
		timer := time.NewTimer(in.escapeDelay)
		defer timer.Stop()
		released = timer.C
	}
	select {
	case piece, ok := <-in.pieces:
		if !ok {
			return in.readError()
		}
		in.accept(in.sequences.add(piece, time.Now()))
	case <-released:
		in.accept(in.sequences.release(time.Now()))
	case <-in.stop:
		return io.EOF
	case <-deadline:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// readError returns the error that ended reading. On Linux, a terminal that is gone is read with
// an error; its end is reported by SIGHUP.
func (in *terminalInput) readError() error {
	select {
	case <-in.stop:
		return io.EOF
	default:
		return in.ended
	}
}

// accept keeps keys for Read, and handles responses.
func (in *terminalInput) accept(tokens []inputToken) {
	isAppended := false // the last element of keys can be continued
	for _, next := range tokens {
		switch next.kind {
		case keyInput:
			if isAppended {
				last := len(in.keys) - 1
				in.keys[last] = append(in.keys[last], next.text...)
				continue
			}
			in.keys = append(in.keys, slices.Clone(next.text))
			isAppended = true
		case escapeInput: // is a key only if it is read alone
			in.keys = append(in.keys, next.text)
			isAppended = false
		case responseInput:
			in.acceptResponse(next.text)
		}
	}
}

// acceptResponse reports the theme for the background. Only the last one is kept.
func (in *terminalInput) acceptResponse(text []byte) {
	if attributes.Match(text) {
		in.responded = true
		return
	}
	theme, ok := parseTheme(text)
	if !ok {
		return
	}
	select {
	case <-in.themes:
	default:
	}
	in.themes <- theme
}

// backgroundMsg reports the theme for the background of the terminal.
type backgroundMsg struct{ theme string }

// sendThemes sends the themes for the backgrounds that the terminal reports late.
func (in *terminalInput) sendThemes(ctx context.Context, program *tea.Program) {
	for {
		select {
		case reported := <-in.themes:
			program.Send(backgroundMsg{theme: reported})
		case <-ctx.Done():
			return
		}
	}
}
