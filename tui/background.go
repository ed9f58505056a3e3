package tui

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/bizhook/whd/tui/theme"
)

// askPatience is how long a terminal may take to tell its background. Those that
// know take a millisecond.
const askPatience = 80 * time.Millisecond

// askBackground asks for the background (OSC 11), and for what the terminal is
// (DA1), which all of them answer: behind that no answer comes any more.
const askBackground = "\x1b]11;?\x1b\\\x1b[c"

var (
	background = regexp.MustCompile(`\x1b\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
	attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
)

// filed is a file of the operating system.
type filed interface{ Fd() uintptr }

// askedTheme asks a terminal, and takes it for dark where it does not tell.
func askedTheme(in io.Reader, out io.Writer) string {
	file, ok := in.(filed)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return theme.Dark
	}
	was, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return theme.Dark
	}
	defer func() { _ = term.Restore(int(file.Fd()), was) }()
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return theme.Dark
	}
	defer reader.Close()
	if _, err := io.WriteString(out, askBackground); err != nil {
		return theme.Dark
	}
	over := time.AfterFunc(askPatience, func() { reader.Cancel() })
	defer over.Stop()
	return themeOf(readAnswer(reader))
}

// readAnswer reads until the terminal has said what it is, or no longer.
func readAnswer(r io.Reader) []byte {
	var all []byte
	buffer := make([]byte, 256)
	for !attributes.Match(all) && len(all) < 1<<10 {
		n, err := r.Read(buffer)
		if all = append(all, buffer[:n]...); err != nil {
			break
		}
	}
	return all
}

// themeOf is the theme for the background of an answer.
func themeOf(answer []byte) string {
	found := background.FindSubmatch(answer)
	if found == nil {
		return theme.Dark
	}
	var parts [3]float64
	for i, digits := range found[1:] {
		n, _ := strconv.ParseUint(string(bytes.ToLower(digits)), 16, 16) // the pattern has only digits
		parts[i] = float64(n) / float64(uint(1)<<(4*len(digits))-1)
	}
	// what eyes see of red, green and blue (ITU-R BT.601)
	if 0.299*parts[0]+0.587*parts[1]+0.114*parts[2] > 0.5 {
		return theme.Light
	}
	return theme.Dark
}
