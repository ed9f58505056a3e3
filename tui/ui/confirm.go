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
	title    string
	lines    []string
	yes      string // what it does
	Run      func() tea.Cmd
	openedAt time.Time
	top      int     // how many of its lines are above what is seen
	Toggle   func()  // asks about more or fewer things; nil where there are none
	Below    Overlay // what no goes back to; nil for the screen
}

const (
	// ConfirmPause is how long a question hears nothing: a paste must not answer it.
	ConfirmPause = 250 * time.Millisecond
	// typedCountMin is from how many objects on their number has to be typed.
	typedCountMin = 21
)

// OpenConfirm opens a question about one thing.
func OpenConfirm(h Host, title, yes string, lines []string, run func() tea.Cmd) *Confirm {
	return OpenConfirmMany(h, 1, title, yes, lines, run)
}

// OpenConfirmMany opens a question about a number of things. Where they are many, the
// number has to be typed; of a protected profile its name.
func OpenConfirmMany(h Host, count int, title, yes string, lines []string, run func() tea.Cmd) *Confirm {
	d := NewDialog(h)
	one := Confirm{Dialog: d, title: title, lines: lines, yes: yes, Run: run, openedAt: d.Now}
	if !d.NeedsTypedAnswer(count) {
		h.ShowOverlay(&one)
		return &one
	}
	c := &TypedConfirm{Confirm: one, Word: strconv.Itoa(count)}
	if c.instruction = "type " + c.Word; d.protected() {
		c.Word, c.instruction = d.Profile, "protected: type "+d.Profile
	}
	h.ShowOverlay(c)
	return &c.Confirm
}

// protected reports whether questions are answered by the name of the profile.
func (s *Session) protected() bool { return s.Protected && s.Profile != "" }

// NeedsTypedAnswer reports whether a question about so many things is answered by a
// word.
func (s *Session) NeedsTypedAnswer(count int) bool { return s.protected() || count >= typedCountMin }

// Scopes implements Overlay.
func (c *Confirm) Scopes() []keymap.Scope {
	if c.Toggle != nil {
		return []keymap.Scope{keymap.InRetryConfirm, keymap.InConfirm}
	}
	return []keymap.Scope{keymap.InConfirm}
}

// tooSoon reports whether the question was asked so lately that nobody can have
// read it.
func (c *Confirm) tooSoon() bool { return c.Now.Sub(c.openedAt) < ConfirmPause }

// Do implements Overlay.
func (c *Confirm) Do(b keymap.Binding) tea.Cmd {
	if c.tooSoon() {
		c.openedAt = c.Now // a key that is held answers nothing until it is let go
		return nil
	}
	if c.scroll(b) || c.toggle(b) {
		return nil
	}
	if b.Action == keymap.Accept {
		c.ShowOverlay(nil)
		return c.Run()
	}
	c.ShowOverlay(c.Below)
	return nil
}

// Box implements Overlay.
func (c *Confirm) Box(width, height int) []string {
	width = min(width, maxConfirmWidth) - 4
	no := keymap.Bindings.KeysOf(keymap.InConfirm, keymap.Decline)
	return c.frame(width, height, c.Theme.Compose(width, nil, []theme.Span{
		{Text: keymap.KeyFor(keymap.InConfirm, keymap.Accept) + " ", Role: theme.Key}, {Text: c.yes}, {Text: "      " + strings.Join(no[:min(len(no), 2)], "/") + " ", Role: theme.Key}, {Text: "cancel"},
	}))
}

// maxConfirmWidth is how wide a question becomes, its frame included.
const maxConfirmWidth = 72

// frame draws the question and below it how to answer, which is always seen.
// Where there is no room for all lines of the question, its frame says so.
func (c *Confirm) frame(width, height int, answer ...string) []string {
	lines := c.wrapped(width)
	room := max(1, height-2-len(answer))
	if len(lines) < room {
		lines = append(lines, "")
	}
	c.top = max(0, min(c.top, len(lines)-room))
	shown := slices.Clone(lines[c.top:min(len(lines), c.top+room)])
	for i, text := range shown {
		shown[i] = c.Theme.Fit(text, width, false)
	}
	return c.Theme.ScrollFrame(c.title, width, append(shown, answer...), c.top, len(lines)-c.top-len(shown))
}

// sentenceLines is how many lines a sentence of a question takes at most.
const sentenceLines = 4

// wrapped are the lines of the question. Sentences are broken, so that nothing of
// them is lost; what begins with a blank names a thing, and is cut.
func (c *Confirm) wrapped(width int) []string {
	var lines []string
	for _, text := range c.lines {
		if strings.HasPrefix(text, " ") {
			lines = append(lines, text)
			continue
		}
		lines = append(lines, c.Theme.WrapLines(text, width, sentenceLines)...)
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

// toggle asks about more or fewer things instead. It is false for other keys.
func (c *Confirm) toggle(b keymap.Binding) bool {
	if b.Action != keymap.ToggleScheduled {
		return false
	}
	c.Toggle()
	return true
}

// TypedConfirm is a question that one word answers, which is typed key by key.
type TypedConfirm struct {
	Confirm
	Word        string
	instruction string // is to be typed
	input       *textinput.Model
	lastKey     time.Time // when the last key came
	wrong       bool
}

// Scopes implements Overlay.
func (c *TypedConfirm) Scopes() []keymap.Scope {
	if c.Toggle != nil {
		return []keymap.Scope{keymap.InTypedRetryConfirm, keymap.InTypedConfirm}
	}
	return []keymap.Scope{keymap.InTypedConfirm}
}

// HandleKey takes single keys only: a paste is no answer.
func (c *TypedConfirm) HandleKey(m tea.KeyMsg) tea.Cmd {
	if c.tooSoon() {
		return nil
	}
	if m.Paste || len(m.Runes) > 1 {
		c.Notify(Warning, "a paste is no answer: type it key by key")
		return nil
	}
	if c.input == nil {
		c.input = new(NewInput(""))
	}
	*c.input, _ = c.input.Update(m)
	c.lastKey, c.wrong = c.Now, false
	return nil
}

// Do takes enter behind the right word only. Alone it cancels, and what comes
// faster than anybody types is not heard.
func (c *TypedConfirm) Do(b keymap.Binding) tea.Cmd {
	if c.tooSoon() || c.scroll(b) || c.toggle(b) || c.Now.Sub(c.lastKey) < PasteInterval {
		return nil
	}
	switch {
	case b.Action == keymap.Decline || c.text() == "":
		c.ShowOverlay(c.Below)
	case c.text() != c.Word:
		c.wrong = true
	default:
		c.ShowOverlay(nil)
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
	width = min(width, maxConfirmWidth) - 4
	input := NewInput("")
	if c.input != nil {
		input = *c.input
	}
	help := fmt.Sprintf("%s and %s to %s; %s cancels", c.instruction, keymap.KeyFor(keymap.InTypedConfirm, keymap.Accept), c.yes, keymap.KeyFor(keymap.InTypedConfirm, keymap.Decline))
	role := theme.Dim
	if c.wrong {
		help, role = fmt.Sprintf("that is not %s; %s cancels", c.Word, keymap.KeyFor(keymap.InTypedConfirm, keymap.Decline)), theme.Failure
	}
	return c.frame(width, height, t.Paint(role, t.Fit(help, width, false)), t.Paint(theme.Key, "> ")+drawInput(t, input, width-2, ""))
}
