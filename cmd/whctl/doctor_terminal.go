package main

import (
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bizhook/whd/client/display"
)

// smallest is the terminal that whctl tui needs.
const smallest = 60

func (d *patient) terminalFits() finding {
	if !d.terminal.is {
		return finding{Result: fine, Detail: "standard output is none"}
	}
	f := finding{Result: fine, Detail: fmt.Sprintf("%d wide, TERM=%s, colours: %t", d.terminal.width, d.env("TERM"), d.inColour(d.c))}
	switch {
	case d.terminal.width < smallest:
		f.Result, f.Fix = odd, fmt.Sprintf("whctl tui needs a width of %d", smallest)
	case !d.inUTF8():
		f.Result, f.Detail, f.Fix = odd, f.Detail+", not UTF-8", "LANG=C.UTF-8, or WHCTL_ASCII=1 for the screens"
	}
	return f
}

// inUTF8 reports whether the terminal is said to take more than ASCII.
func (d *patient) inUTF8() bool {
	return runtime.GOOS == "windows" || strings.Contains(strings.ToLower(cmp.Or(d.env("LC_ALL"), d.env("LC_CTYPE"), d.env("LANG"))), "utf")
}

// glyphs shows the signs that the screens are made of, for people to look at.
func (d *patient) glyphs() finding {
	if !d.terminal.is || !d.inUTF8() || d.env(envASCII) != "" {
		return finding{}
	}
	return finding{Result: fine, Detail: "look at it: ✓ ● ▸ … › │─┼╭╮ ▁▂▃▄▅▆▇█ are signs, not boxes, and é 日本 are three letters", Fix: "if not: WHCTL_ASCII=1, or another font"}
}

// clipboard tells by which way a copy made in whctl tui gets to the clipboard.
func (d *patient) clipboard() finding {
	way, remote := d.env(envClipboard), d.env("SSH_TTY") != "" || d.env("SSH_CONNECTION") != ""
	const fix = "WHCTL_CLIPBOARD=native, osc52 or file chooses another way"
	switch {
	case way != "" && way != "auto":
		return finding{Result: fine, Detail: way + " (WHCTL_CLIPBOARD)"}
	case remote:
		return finding{Result: fine, Detail: "by the terminal (OSC 52), since this is ssh" + d.between(), Fix: "where the terminal takes no OSC 52, such as PuTTY: WHCTL_CLIPBOARD=file"}
	}
	if program := d.clipboardProgram(); program != "" {
		return finding{Result: fine, Detail: "by " + program}
	}
	if !d.terminal.is {
		return finding{Result: fine, Detail: "into a file: no program for it, and no terminal", Fix: fix}
	}
	return finding{Result: fine, Detail: "by the terminal (OSC 52): there is no program for it here" + d.between(), Fix: fix}
}

// between names what hands on to the terminal what is copied.
func (d *patient) between() string {
	switch {
	case d.env("TMUX") != "":
		return ", through tmux, whose option allow-passthrough must be on"
	case d.env("STY") != "":
		return ", through screen"
	}
	return ""
}

// clipboardProgram is the program of this computer that puts a text on its
// clipboard, empty for none.
func (d *patient) clipboardProgram() string {
	var programs []string
	switch {
	case runtime.GOOS == "windows":
		programs = []string{"clip.exe"}
	case runtime.GOOS == "darwin":
		programs = []string{"pbcopy"}
	case d.env("WAYLAND_DISPLAY") != "":
		programs = []string{"wl-copy"}
	}
	if d.env("DISPLAY") != "" {
		programs = append(programs, "xclip", "xsel")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err == nil {
			return program
		}
	}
	return ""
}

// askBackground is OSC 11, by which a terminal tells the colour of its
// background, and then a question that nearly every terminal answers, so that
// one which knows only that is not waited for.
const askBackground = "\x1b]11;?\x1b\\\x1b[c"

// backgroundPatience is how long a terminal may take to answer.
const backgroundPatience = time.Second

// background asks the terminal for the colour of its background, as screens do
// to choose theirs. It is the only check that writes more than text, and only
// where a person looks and can answer.
func (d *patient) background() finding {
	keyboard := d.prompter.Keyboard
	if !d.terminal.is || !d.mayAsk(d.c) || d.env("TERM") == "dumb" || runtime.GOOS == "windows" || !d.onScreen(d.c) {
		return finding{}
	}
	before, err := term.MakeRaw(int(keyboard.Fd()))
	if err != nil {
		return finding{}
	}
	defer func() { _ = term.Restore(int(keyboard.Fd()), before) }() // it was in this state before
	start := time.Now()
	if _, err := io.WriteString(d.stdout, askBackground); err != nil {
		return finding{}
	}
	answer := readAnswer(keyboard, backgroundPatience)
	took := time.Since(start).Round(time.Millisecond)
	colour, told := backgroundOf(answer)
	switch {
	case told:
		return finding{Result: fine, Detail: fmt.Sprintf("the terminal told it (OSC 11) after %s: %s", took, colour)}
	case strings.Contains(answer, "\x1b"):
		return finding{Result: fine, Detail: fmt.Sprintf("the terminal does not tell it (OSC 11), but answered after %s; whctl tui takes it for dark", took)}
	}
	return finding{Result: odd, Detail: fmt.Sprintf("the terminal answers no questions (OSC 11) within %s; whctl tui asks none", backgroundPatience)}
}

// readAnswer reads what a terminal answers, up to the end of the answer to the
// second question. A read that is left behind ends with the process.
func readAnswer(from io.Reader, within time.Duration) string {
	pieces := make(chan string)
	over := make(chan struct{})
	defer close(over)
	go func() {
		for some := make([]byte, 256); ; {
			n, err := from.Read(some)
			select {
			case pieces <- string(some[:n]):
			case <-over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var answer strings.Builder
	enough := time.After(within)
	for !strings.HasSuffix(answer.String(), "c") {
		select {
		case piece := <-pieces:
			if answer.WriteString(piece); piece == "" {
				return answer.String()
			}
		case <-enough:
			return answer.String()
		}
	}
	return answer.String()
}

// backgroundOf finds the colour in an answer such as ESC ] 11 ; rgb:1e1e/1e1e/1e1e
// ESC \.
func backgroundOf(answer string) (colour string, told bool) {
	_, rest, told := strings.Cut(answer, "]11;")
	if end := strings.IndexAny(rest, "\x1b\a"); end >= 0 {
		rest = rest[:end]
	}
	return display.Sanitize(rest), told
}
