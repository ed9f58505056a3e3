package tui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// clipMost is how many characters of base64 terminals take.
const clipMost = 74994

// clipPatience is how long the clipboard of the computer may take.
const clipPatience = 3 * time.Second

// errTooLong says that a terminal would not take a text, or only a part of it.
var errTooLong = errors.New("it is too long for a terminal to copy")

// clipWay is one way to the clipboard: it gives its name for people.
type clipWay func(a *app, text string) (how string, err error)

// The ways, by the names that WHCTL_CLIPBOARD has for them. A file is the last
// resort: it holds every text.
var clipWays = map[string]clipWay{"native": nativeClip, "osc52": terminalClip, "file": fileClip}

// clipOrder is which ways are tried. Over ssh the clipboard of this computer is
// not the user's, so there the terminal comes first.
func (a *app) clipOrder() []string {
	set := a.options.Env("WHCTL_CLIPBOARD")
	switch {
	case clipWays[set] != nil:
		return []string{set, "file"}
	case a.options.Env("SSH_TTY") != "" || a.options.Env("SSH_CONNECTION") != "":
		return []string{"osc52", "file"}
	}
	return []string{"native", "osc52", "file"}
}

// clip copies a text, and tells how that was done.
func (a *app) clip(text string) {
	if text == "" {
		a.tell(ui.Warning, "there is nothing to copy")
		return
	}
	order := a.clipOrder()
	a.later(func() tea.Msg {
		var all error
		for _, name := range order {
			how, err := clipWays[name](a, text)
			if err == nil {
				return toastMsg{ui.Info, fmt.Sprintf("copied %s %s", ui.Plural(utf8.RuneCountInString(text), "character", "characters"), how)}
			}
			all = errors.Join(all, err)
		}
		return toastMsg{ui.Failure, "copying: " + strings.ReplaceAll(all.Error(), "\n", "; ")}
	})
}

// terminalClip sends the sequence by which terminals copy, also over ssh. What
// stands between, tmux or screen, is told to hand it on.
func terminalClip(a *app, text string) (string, error) {
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	if len(encoded) > clipMost {
		return "", errTooLong
	}
	sequence, how := "\x1b]52;c;"+encoded+"\a", "via OSC 52"
	switch {
	case a.options.Env("TMUX") != "":
		sequence, how = throughTmux(sequence), how+" through tmux"
	case a.options.Env("STY") != "":
		sequence, how = throughScreen(sequence), how+" through screen"
	}
	_, err := io.WriteString(a.options.Output, sequence)
	return how, err
}

// throughTmux wraps a sequence so that tmux hands it on as it is.
func throughTmux(sequence string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// screenMost is how much screen takes in one piece.
const screenMost = 256

// throughScreen wraps a sequence in pieces that screen hands on.
func throughScreen(sequence string) string {
	var out strings.Builder
	for len(sequence) > 0 {
		n := min(len(sequence), screenMost)
		out.WriteString("\x1bP" + sequence[:n] + "\x1b\\")
		sequence = sequence[n:]
	}
	return out.String()
}

// fileClip writes the text to a file that only the user may read.
func fileClip(_ *app, text string) (string, error) {
	file, err := os.CreateTemp("", "whctl-copy-*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return "to " + file.Name(), errors.Join(err, file.Close())
}

// nativeClip gives the text to the program that keeps this computer's clipboard.
func nativeClip(a *app, text string) (string, error) {
	ctx, cancel := context.WithTimeout(a.context, clipPatience)
	defer cancel()
	var all error
	for _, p := range clipPrograms(a.options.Env) {
		err := p.give(ctx, text)
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
