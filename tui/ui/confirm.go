package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Confirm is a question on the screen. The key that asks it is never the one
// that answers it, and keys that arrive at once are not heard.
type Confirm struct {
	Dialog
	title string
	lines []string
	yes   string // what it does
	Run   func() tea.Cmd
	since time.Time
	top   int     // how many of its lines are above what is seen
	Other func()  // asks about more or fewer things; nil where there are none
	Under Overlay // what no goes back to; nil for the screen
}

const (
	// ConfirmPause is how long a question hears nothing: a paste must not answer it.
	ConfirmPause = 250 * time.Millisecond
	// countTyped is from how many objects on their number has to be typed.
	countTyped = 21
)

// Ask opens a question about one thing.
func Ask(h Host, title, yes string, lines []string, run func() tea.Cmd) *Confirm {
	return AskMany(h, 1, title, yes, lines, run)
}

// AskMany opens a question about a number of things. Where they are many, the
// number has to be typed; of a protected profile its name.
func AskMany(h Host, count int, title, yes string, lines []string, run func() tea.Cmd) *Confirm {
	d := NewDialog(h)
	one := Confirm{Dialog: d, title: title, lines: lines, yes: yes, Run: run, since: d.Now}
	if !d.TypedAnswer(count) {
		h.Show(&one)
		return &one
	}
	c := &TypedConfirm{Confirm: one, Word: strconv.Itoa(count)}
	if c.what = "type " + c.Word; d.protected() {
		c.Word, c.what = d.Profile, "protected: type "+d.Profile
	}
	h.Show(c)
	return &c.Confirm
}

// protected reports whether questions are answered by the name of the profile.
func (s *Session) protected() bool { return s.Protected && s.Profile != "" }

// TypedAnswer reports whether a question about so many things is answered by a
// word.
func (s *Session) TypedAnswer(count int) bool { return s.protected() || count >= countTyped }

// Scopes implements Overlay.
func (c *Confirm) Scopes() []keymap.Scope {
	if c.Other != nil {
		return []keymap.Scope{keymap.InRetryQuestion, keymap.InConfirm}
	}
	return []keymap.Scope{keymap.InConfirm}
}

// deaf reports whether the question was asked so lately that nobody can have
// read it.
func (c *Confirm) deaf() bool { return c.Now.Sub(c.since) < ConfirmPause }

// Do implements Overlay.
func (c *Confirm) Do(b keymap.Binding) tea.Cmd {
	if c.deaf() {
		c.since = c.Now // a key that is held answers nothing until it is let go
		return nil
	}
	if c.scroll(b) || c.turn(b) {
		return nil
	}
	if b.Action == keymap.Accept {
		c.Show(nil)
		return c.Run()
	}
	c.Show(c.Under)
	return nil
}

// Box implements Overlay.
func (c *Confirm) Box(width, height int) []string {
	width = min(width, widestConfirm) - 4
	no := keymap.Bindings.KeysOf(keymap.InConfirm, keymap.Decline)
	return c.framed(width, height, c.Theme.Compose(width, nil, []theme.Span{
		{Text: keymap.KeyFor(keymap.InConfirm, keymap.Accept) + " ", Role: theme.Key}, {Text: c.yes}, {Text: "      " + strings.Join(no[:min(len(no), 2)], "/") + " ", Role: theme.Key}, {Text: "cancel"},
	}))
}

// widestConfirm is how wide a question becomes, its frame included.
const widestConfirm = 72

// framed draws the question and below it how to answer, which is always seen.
// Where there is no room for all lines of the question, its frame says so.
func (c *Confirm) framed(width, height int, answer ...string) []string {
	lines := c.texts(width)
	room := max(1, height-2-len(answer))
	if len(lines) < room {
		lines = append(lines, "")
	}
	c.top = max(0, min(c.top, len(lines)-room))
	shown := slices.Clone(lines[c.top:min(len(lines), c.top+room)])
	for i, text := range shown {
		shown[i] = c.Theme.Fit(text, width, false)
	}
	return c.Theme.Excerpt(c.title, width, append(shown, answer...), c.top, len(lines)-c.top-len(shown))
}

// sentenceLines is how many lines a sentence of a question takes at most.
const sentenceLines = 4

// texts are the lines of the question. Sentences are broken, so that nothing of
// them is lost; what begins with a blank names a thing, and is cut.
func (c *Confirm) texts(width int) []string {
	var lines []string
	for _, text := range c.lines {
		if strings.HasPrefix(text, " ") {
			lines = append(lines, text)
			continue
		}
		lines = append(lines, c.Theme.Break(text, width, sentenceLines)...)
	}
	return lines
}

// scroll moves the lines of a question that is longer than the screen. It is
// false for other keys.
func (c *Confirm) scroll(b keymap.Binding) bool {
	switch b.Action {
	case keymap.GoUp:
		c.top--
	case keymap.GoDown:
		c.top++
	default:
		return false
	}
	return true
}

// turn asks about more or fewer things instead. It is false for other keys.
func (c *Confirm) turn(b keymap.Binding) bool {
	if b.Action != keymap.Include {
		return false
	}
	c.Other()
	return true
}

// TypedConfirm is a question that one word answers, which is typed key by key.
type TypedConfirm struct {
	Confirm
	Word  string
	what  string // is to be typed
	input *textinput.Model
	last  time.Time // when the last key came
	wrong bool
}

// Scopes implements Overlay.
func (c *TypedConfirm) Scopes() []keymap.Scope {
	if c.Other != nil {
		return []keymap.Scope{keymap.InTypedRetryQuestion, keymap.InTypedConfirm}
	}
	return []keymap.Scope{keymap.InTypedConfirm}
}

// Typed takes single keys only: a paste is no answer.
func (c *TypedConfirm) Typed(m tea.KeyMsg) tea.Cmd {
	if c.deaf() {
		return nil
	}
	if m.Paste || len(m.Runes) > 1 {
		c.Tell(Warning, "a paste is no answer: type it key by key")
		return nil
	}
	if c.input == nil {
		c.input = new(NewInput(""))
	}
	*c.input, _ = c.input.Update(m)
	c.last, c.wrong = c.Now, false
	return nil
}

// Do takes enter behind the right word only. Alone it cancels, and what comes
// faster than anybody types is not heard.
func (c *TypedConfirm) Do(b keymap.Binding) tea.Cmd {
	if c.deaf() || c.scroll(b) || c.turn(b) || c.Now.Sub(c.last) < PasteWithin {
		return nil
	}
	switch {
	case b.Action == keymap.Decline || c.text() == "":
		c.Show(c.Under)
	case c.text() != c.Word:
		c.wrong = true
	default:
		c.Show(nil)
		return c.Run()
	}
	return nil
}

func (c *TypedConfirm) text() string {
	if c.input == nil {
		return ""
	}
	return strings.TrimSpace(c.input.Value())
}

// Box implements Overlay.
func (c *TypedConfirm) Box(width, height int) []string {
	t := c.Theme
	width = min(width, widestConfirm) - 4
	input := NewInput("")
	if c.input != nil {
		input = *c.input
	}
	help := fmt.Sprintf("%s and %s to %s; %s cancels", c.what, keymap.KeyFor(keymap.InTypedConfirm, keymap.Accept), c.yes, keymap.KeyFor(keymap.InTypedConfirm, keymap.Decline))
	role := theme.Dim
	if c.wrong {
		help, role = fmt.Sprintf("that is not %s; %s cancels", c.Word, keymap.KeyFor(keymap.InTypedConfirm, keymap.Decline)), theme.Failure
	}
	return c.framed(width, height, t.Paint(role, t.Fit(help, width, false)), t.Paint(theme.Key, "> ")+typing(t, input, width-2, ""))
}
