package ui

import (
	"cmp"
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

// ClipMax is the maximum length of base64 text that terminals accept in OSC 52.
const ClipMax = 74994

// clipTimeout is the timeout of clipboard programs.
const clipTimeout = 3 * time.Second

// errTooLong is returned for text that a terminal would reject or truncate.
var errTooLong = errors.New("text is too long for OSC 52")

// Clipboard copies text by the best method for the environment.
type Clipboard struct {
	Context context.Context
	Env     func(string) string
	Output  io.Writer // the terminal
}

// clipMethod copies text and returns a description of how. A description starts with
// "copied" only if the text is known to be in the clipboard.
type clipMethod func(c Clipboard, text string) (how string, err error)

// clipMethods maps the values of WHCTL_CLIPBOARD to methods. The file method is the
// last resort, since it has no size limit.
var clipMethods = map[string]clipMethod{
	"native": nativeClip,
	"osc52":  terminalClip,
	"file":   fileClip,
}

// order returns the methods to try, in order. Over ssh, the terminal is tried instead
// of the clipboard of this computer, which is not the user's.
func (c Clipboard) order() []string {
	configured := c.Env("WHCTL_CLIPBOARD")
	if clipMethods[configured] != nil {
		return []string{configured, "file"}
	}
	if c.Env("SSH_TTY") != "" || c.Env("SSH_CONNECTION") != "" {
		return []string{"osc52", "file"}
	}
	return []string{"native", "osc52", "file"}
}

// Copy copies text by the first method that succeeds and returns a description of it.
func (c Clipboard) Copy(text string) (how string, err error) {
	for _, name := range c.order() {
		how, methodErr := clipMethods[name](c, text)
		if methodErr == nil {
			return how, nil
		}
		err = errors.Join(err, methodErr)
	}
	return "", err
}

// terminalClip sends OSC 52, which also works over ssh. screen passes the sequence on only in a
// wrapper. tmux sends the sequence itself when it loads the text. If that fails, both the plain
// and the wrapped sequence are written: the options of tmux determine which one it accepts.
func terminalClip(c Clipboard, text string) (string, error) {
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	if len(encoded) > ClipMax {
		return "", errTooLong
	}
	sequence := "\x1b]52;c;" + encoded + "\a"
	how := "sent to the terminal via OSC 52"
	if c.Env("TMUX") != "" {
		how += " through tmux"
		if tmuxClip(c.Context, text) == nil {
			return how, nil
		}
		sequence += throughTmux(sequence)
	} else if c.Env("STY") != "" {
		how += " through screen"
		sequence = throughScreen(sequence)
	}
	_, err := io.WriteString(c.Output, sequence)
	return how, err
}

// tmuxClip makes tmux copy the text to the clipboard of its terminal.
func tmuxClip(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, clipTimeout)
	defer cancel()
	program := clipProgram{argv: []string{"tmux", "load-buffer", "-w", "-"}}
	return program.write(ctx, text)
}

// throughTmux wraps a sequence so that tmux passes it on.
func throughTmux(sequence string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// screenChunk is the maximum length of a sequence in screen.
const screenChunk = 256

// throughScreen splits and wraps a sequence so that screen passes it on.
func throughScreen(sequence string) string {
	var out strings.Builder
	for len(sequence) > 0 {
		n := min(len(sequence), screenChunk)
		out.WriteString("\x1bP" + sequence[:n] + "\x1b\\")
		sequence = sequence[n:]
	}
	return out.String()
}

// fileClip writes the text to a file that only the user can read.
func fileClip(_ Clipboard, text string) (string, error) {
	file, err := os.CreateTemp("", "whctl-copy-*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return "written to " + file.Name(), errors.Join(err, file.Close())
}

// nativeClip pipes the text to the clipboard program of the desktop.
func nativeClip(c Clipboard, text string) (string, error) {
	ctx, cancel := context.WithTimeout(c.Context, clipTimeout)
	defer cancel()
	var all error
	for _, p := range clipPrograms(c.Env) {
		err := p.write(ctx, text)
		if err == nil {
			return "copied via " + p.argv[0], nil
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", p.argv[0], err))
	}
	return "", cmp.Or(all, errors.New("no clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set"))
}

// clipProgram is a program that copies its standard input to the clipboard.
type clipProgram struct {
	argv  []string
	utf16 bool // expects UTF-16
}

// clipPrograms returns the clipboard programs to try, in order.
func clipPrograms(env func(string) string) []clipProgram {
	switch runtime.GOOS {
	case "windows":
		return []clipProgram{{argv: []string{"clip.exe"}, utf16: true}}
	case "darwin":
		return []clipProgram{{argv: []string{"pbcopy"}}}
	}
	var programs []clipProgram
	if env("WAYLAND_DISPLAY") != "" {
		programs = append(programs, clipProgram{argv: []string{"wl-copy"}})
	}
	if env("DISPLAY") != "" {
		programs = append(programs,
			clipProgram{argv: []string{"xclip", "-in", "-selection", "clipboard"}},
			clipProgram{argv: []string{"xsel", "--input", "--clipboard"}})
	}
	return programs
}

// write runs the program with the text as its input.
func (p clipProgram) write(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.WaitDelay = clipTimeout
	if p.utf16 {
		text = utf16Text(text)
	}
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// utf16Text encodes text as UTF-16LE with a byte order mark, which clip.exe detects.
func utf16Text(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}
