package ui

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"
)

// ClipMax is how many characters of base64 terminals take.
const ClipMax = 74994

// clipTimeout is how long the clipboard of the computer may take.
const clipTimeout = 3 * time.Second

// errTooLong says that a terminal would not take a text, or only a part of it.
var errTooLong = errors.New("it is too long for a terminal to copy")

// Clipboard is where copies go, by what the environment says of the terminal.
type Clipboard struct {
	Context context.Context
	Env     func(string) string
	Output  io.Writer // of the terminal
}

// clipMethod is one way to the clipboard: it gives its name for people.
type clipMethod func(c Clipboard, text string) (how string, err error)

// The ways, by the names that WHCTL_CLIPBOARD has for them. A file is the last
// resort: it holds every text.
var clipMethods = map[string]clipMethod{"native": nativeClip, "osc52": terminalClip, "file": fileClip}

// order is which ways are tried. Over ssh the clipboard of this computer is
// not the user's, so there the terminal comes first.
func (c Clipboard) order() []string {
	set := c.Env("WHCTL_CLIPBOARD")
	switch {
	case clipMethods[set] != nil:
		return []string{set, "file"}
	case c.Env("SSH_TTY") != "" || c.Env("SSH_CONNECTION") != "":
		return []string{"osc52", "file"}
	}
	return []string{"native", "osc52", "file"}
}

// Copy copies a text in the first way that takes it, and says which that was.
func (c Clipboard) Copy(text string) (how string, err error) {
	for _, name := range c.order() {
		how, wrong := clipMethods[name](c, text)
		if wrong == nil {
			return how, nil
		}
		err = errors.Join(err, wrong)
	}
	return "", err
}

// terminalClip sends the sequence by which terminals copy, also over ssh. What
// stands between, tmux or screen, is told to hand it on.
func terminalClip(c Clipboard, text string) (string, error) {
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	if len(encoded) > ClipMax {
		return "", errTooLong
	}
	sequence, how := "\x1b]52;c;"+encoded+"\a", "via OSC 52"
	switch {
	case c.Env("TMUX") != "":
		sequence, how = throughTmux(sequence), how+" through tmux"
	case c.Env("STY") != "":
		sequence, how = throughScreen(sequence), how+" through screen"
	}
	_, err := io.WriteString(c.Output, sequence)
	return how, err
}

// throughTmux wraps a sequence so that tmux hands it on as it is.
func throughTmux(sequence string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// screenChunk is how much screen takes in one piece.
const screenChunk = 256

// throughScreen wraps a sequence in pieces that screen hands on.
func throughScreen(sequence string) string {
	var out strings.Builder
	for len(sequence) > 0 {
		n := min(len(sequence), screenChunk)
		out.WriteString("\x1bP" + sequence[:n] + "\x1b\\")
		sequence = sequence[n:]
	}
	return out.String()
}

// fileClip writes the text to a file that only the user may read.
func fileClip(_ Clipboard, text string) (string, error) {
	file, err := os.CreateTemp("", "whctl-copy-*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return "to " + file.Name(), errors.Join(err, file.Close())
}

// nativeClip gives the text to the program that keeps this computer's clipboard.
func nativeClip(c Clipboard, text string) (string, error) {
	ctx, cancel := context.WithTimeout(c.Context, clipTimeout)
	defer cancel()
	var all error
	for _, p := range clipPrograms(c.Env) {
		err := p.write(ctx, text)
		if err == nil {
			return "via " + p.argv[0], nil
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", p.argv[0], err))
	}
	if all == nil {
		all = errors.New("no desktop whose clipboard could be used")
	}
	return "", all
}

// clipProgram is a program that takes a text on its standard input and puts it
// on the clipboard.
type clipProgram struct {
	argv  []string
	utf16 bool // it wants UTF-16
}

// clipPrograms are those of this computer, the likeliest first.
func clipPrograms(env func(string) string) []clipProgram {
	switch runtime.GOOS {
	case "windows":
		return []clipProgram{{[]string{"clip.exe"}, true}}
	case "darwin":
		return []clipProgram{{[]string{"pbcopy"}, false}}
	}
	var programs []clipProgram
	if env("WAYLAND_DISPLAY") != "" {
		programs = append(programs, clipProgram{[]string{"wl-copy"}, false})
	}
	if env("DISPLAY") != "" {
		programs = append(programs, clipProgram{[]string{"xclip", "-in", "-selection", "clipboard"}, false}, clipProgram{[]string{"xsel", "--input", "--clipboard"}, false})
	}
	return programs
}

func (p clipProgram) write(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.WaitDelay = clipTimeout
	if p.utf16 {
		text = utf16Text(text)
	}
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// utf16Text is a text in UTF-16 with its mark, which Windows takes for what it is.
func utf16Text(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}
