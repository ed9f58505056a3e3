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

// Confirm is a yes/no question. The key that opens it never accepts it, and keys are
// ignored for ConfirmPause after it opens.
type Confirm struct {
	HostSession
	title    string
	lines    []string
	verb     string // label of the accept key
	Run      func() tea.Cmd
	openedAt time.Time
	top      int     // index of the first visible line
	Toggle   func()  // switches between two sets of objects; nil if there is only one
	Below    Overlay // shown again if the confirmation is declined; nil for none
}

const (
	// ConfirmPause is how long a new confirmation ignores keys, so that a paste cannot
	// accept it.
	ConfirmPause = 250 * time.Millisecond
	// typedCountMin is the number of objects from which the user must type the count.
	typedCountMin = 21
)

// OpenConfirm opens a confirmation about one object.
func OpenConfirm(h Host, title, verb string, lines []string, run func() tea.Cmd) *Confirm {
	return OpenConfirmMany(h, 1, title, verb, lines, run)
}

// OpenConfirmMany opens a confirmation about count objects. The user must type the
// count if it is large, or the name of a protected profile.
func OpenConfirmMany(h Host, count int, title, verb string, lines []string, run func() tea.Cmd) *Confirm {
	s := h.CurrentSession()
	question := Confirm{
		HostSession: NewHostSession(h),
		title:       title,
		lines:       lines,
		verb:        verb,
		Run:         run,
		openedAt:    s.Now,
	}
	if !s.NeedsTypedAnswer(count) {
		h.ShowOverlay(&question)
		return &question
	}
	c := &TypedConfirm{Confirm: question, Word: strconv.Itoa(count), input: NewInput("")}
	c.instruction = "type " + c.Word
	if s.protected() {
		c.Word = s.Profile
		c.instruction = "protected: type " + c.Word
	}
	h.ShowOverlay(c)
	return &c.Confirm
}

func (c *Confirm) Scopes() []keymap.Scope {
	if c.Toggle != nil {
		return []keymap.Scope{keymap.InRetryConfirm, keymap.InConfirm}
	}
	return []keymap.Scope{keymap.InConfirm}
}

// tooSoon reports whether ConfirmPause has not elapsed yet.
func (c *Confirm) tooSoon() bool { return c.Session.Now.Sub(c.openedAt) < ConfirmPause }

func (c *Confirm) Do(b keymap.Binding) tea.Cmd {
	if c.tooSoon() {
		c.openedAt = c.Session.Now // restart the pause while a key is held down
		return nil
	}
	if c.move(b) {
		return nil
	}
	if b.Action == keymap.Accept {
		c.Host.ShowOverlay(nil)
		return c.Run()
	}
	c.Host.ShowOverlay(c.Below)
	return nil
}

func (c *Confirm) Box(width, height int) []string {
	width = min(width, maxConfirmWidth) - 4
	cancelKeys := keymap.Bindings.KeysOf(keymap.InConfirm, keymap.Decline)
	cancelKeys = cancelKeys[:min(len(cancelKeys), 2)] // there is no room for all
	answers := []theme.Span{
		{Text: keymap.KeyFor(keymap.InConfirm, keymap.Accept) + " ", Role: theme.Key},
		{Text: c.verb},
		{Text: "      " + strings.Join(cancelKeys, "/") + " ", Role: theme.Key},
		{Text: "cancel"},
	}
	return c.frame(width, height, c.Session.Theme.Compose(width, nil, answers))
}

// maxConfirmWidth is the maximum width of a confirmation, including the frame.
const maxConfirmWidth = 72

// frame draws the text and, always visible, the keys. The frame shows how
// many lines are scrolled out.
func (c *Confirm) frame(width, height int, answerLines ...string) []string {
	lines := c.wrapped(width)
	room := max(1, height-2-len(answerLines))
	if len(lines) < room {
		lines = append(lines, "")
	}
	c.top = max(0, min(c.top, len(lines)-room))
	shown := slices.Clone(lines[c.top:min(len(lines), c.top+room)])
	for i, text := range shown {
		shown[i] = c.Session.Theme.Fit(text, width, false)
	}
	below := len(lines) - c.top - len(shown)
	return c.Session.Theme.ScrollFrame(c.title, width, append(shown, answerLines...), c.top, below)
}

// sentenceLines is the maximum number of lines of a sentence.
const sentenceLines = 4

// wrapped returns the lines of the question. Sentences are wrapped; lines that start
// with a space, which name objects, are truncated.
func (c *Confirm) wrapped(width int) []string {
	var lines []string
	for _, text := range c.lines {
		if strings.HasPrefix(text, " ") {
			lines = append(lines, text)
			continue
		}
		lines = append(lines, c.Session.Theme.WrapLines(text, width, sentenceLines)...)
	}
	return lines
}

// move handles keys that scroll or switch the objects, and reports whether the action was one.
func (c *Confirm) move(b keymap.Binding) bool {
	switch b.Action {
	case keymap.GoUp:
		c.top--
	case keymap.GoDown:
		c.top++
	case keymap.ToggleScheduled:
		c.Toggle()
	default:
		return false
	}
	return true
}

// TypedConfirm is a confirmation that requires a typed word.
type TypedConfirm struct {
	Confirm
	Word        string // to be typed
	instruction string // how to confirm
	input       textinput.Model
	lastKey     time.Time // time of the last key
	wrong       bool
}

func (c *TypedConfirm) Scopes() []keymap.Scope {
	if c.Toggle != nil {
		return []keymap.Scope{keymap.InTypedRetryConfirm, keymap.InTypedConfirm}
	}
	return []keymap.Scope{keymap.InTypedConfirm}
}

// HandleKey accepts single keys only: a paste is ignored.
func (c *TypedConfirm) HandleKey(m tea.KeyMsg) {
	switch {
	case c.tooSoon():
	case m.Paste || len(m.Runes) > 1:
		c.Host.Notify(Warning, "pasting is not allowed: type the answer")
	default:
		c.input, _ = c.input.Update(m)
		c.lastKey = c.Session.Now
		c.wrong = false
	}
}

// Do accepts enter only after the right word; enter alone cancels. Keys that arrive
// faster than typing are ignored.
func (c *TypedConfirm) Do(b keymap.Binding) tea.Cmd {
	if c.tooSoon() {
		return nil
	}
	if c.move(b) {
		return nil
	}
	if c.Session.Now.Sub(c.lastKey) < PasteInterval {
		return nil
	}
	switch {
	case b.Action == keymap.Decline || c.text() == "":
		c.Host.ShowOverlay(c.Below)
	case c.text() != c.Word:
		c.wrong = true
	default:
		c.Host.ShowOverlay(nil)
		return c.Run()
	}
	return nil
}

func (c *TypedConfirm) text() string { return strings.TrimSpace(c.input.Value()) }

func (c *TypedConfirm) Box(width, height int) []string {
	t := c.Session.Theme
	width = min(width, maxConfirmWidth) - 4
	acceptKey := keymap.KeyFor(keymap.InTypedConfirm, keymap.Accept)
	cancelKey := keymap.KeyFor(keymap.InTypedConfirm, keymap.Decline)
	help := fmt.Sprintf("%s, then %s to %s; %s cancels", c.instruction, acceptKey, c.verb, cancelKey)
	role := theme.Dim
	if c.wrong {
		help = fmt.Sprintf("that is not %s; %s cancels", c.Word, cancelKey)
		role = theme.Failure
	}
	return c.frame(width, height, t.Paint(role, t.Fit(help, width, false)),
		t.Paint(theme.Key, "> ")+drawInput(t, c.input, width-2, false))
}
