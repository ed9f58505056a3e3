package tuitest

import (
	"encoding/base64"
	"regexp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// Resize sets the size of the terminal.
func (d *Driver) Resize(width, height int) {
	d.T.Helper()
	d.width, d.height = width, height
	d.Send(tea.WindowSizeMsg{Width: width, Height: height})
}

// Text returns the screen without styles.
func (d *Driver) Text() string { return ansi.Strip(d.App.View()) }

// WantText fails unless the screen shows each of the texts.
func (d *Driver) WantText(texts ...string) {
	d.T.Helper()
	shown := d.Text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			d.T.Fatalf("the screen does not show %q:\n%s", text, shown)
		}
	}
}

// WantNoText fails if the screen shows a text.
func (d *Driver) WantNoText(text string) {
	d.T.Helper()
	if strings.Contains(d.Text(), text) {
		d.T.Errorf("the screen shows %q:\n%s", text, d.Text())
	}
}

// LineWith returns the first line of the screen that contains a text.
func (d *Driver) LineWith(text string) string {
	d.T.Helper()
	for line := range strings.SplitSeq(d.Text(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	d.T.Fatalf("no line has %q:\n%s", text, d.Text())
	return ""
}

// WaitFor waits until the screen matches a pattern.
func (d *Driver) WaitFor(pattern string) {
	d.T.Helper()
	is := regexp.MustCompile(pattern)
	d.WaitUntil("the screen matches "+pattern, func() bool { return is.MatchString(d.Text()) })
}

// CheckScreen fails unless the screen has exactly the size of the terminal.
func (d *Driver) CheckScreen() {
	d.T.Helper()
	lines := strings.Split(d.App.View(), "\n")
	if len(lines) != d.height {
		d.T.Errorf("%d lines on %dx%d:\n%s", len(lines), d.width, d.height, d.Text())
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != d.width {
			d.T.Errorf("line %d is %d wide on %dx%d: %q\n%s", i+1, w, d.width, d.height, line, d.Text())
		}
	}
}

// LastCopied returns the last text that was copied to the terminal.
func (d *Driver) LastCopied() string {
	d.T.Helper()
	_, encoded, _ := strings.Cut(d.Copied.String(), "\x1b]52;c;")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "\a"))
	if err != nil {
		d.T.Fatal(err)
	}
	return string(text)
}
