package tuitest

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Keys are the named keys; other names are typed.
var Keys = map[string]tea.KeyMsg{
	"enter":     {Type: tea.KeyEnter},
	"esc":       {Type: tea.KeyEsc},
	"tab":       {Type: tea.KeyTab},
	"shift+tab": {Type: tea.KeyShiftTab},
	"up":        {Type: tea.KeyUp},
	"down":      {Type: tea.KeyDown},
	"left":      {Type: tea.KeyLeft},
	"right":     {Type: tea.KeyRight},
	"home":      {Type: tea.KeyHome},
	"end":       {Type: tea.KeyEnd},
	"pgup":      {Type: tea.KeyPgUp},
	"pgdown":    {Type: tea.KeyPgDown},
	"space":     {Type: tea.KeySpace, Runes: []rune{' '}},
	"backspace": {Type: tea.KeyBackspace},
	"ctrl+c":    {Type: tea.KeyCtrlC},
	"ctrl+d":    {Type: tea.KeyCtrlD},
	"ctrl+e":    {Type: tea.KeyCtrlE},
	"ctrl+s":    {Type: tea.KeyCtrlS},
	"ctrl+t":    {Type: tea.KeyCtrlT},
	"ctrl+u":    {Type: tea.KeyCtrlU},
	"f1":        {Type: tea.KeyF1},
	"f5":        {Type: tea.KeyF5},
}

// Letter returns a key press of a character.
func Letter(r string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(r)} }

// Press presses keys half a second apart. Names that start with ' are typed.
func (d *Driver) Press(names ...string) {
	d.T.Helper()
	for _, name := range names {
		if text, ok := strings.CutPrefix(name, "'"); ok {
			for _, r := range text {
				d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			continue
		}
		m, ok := Keys[name]
		if !ok {
			m = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
		}
		d.Key(m)
	}
}

// Key presses a key half a second after the previous one.
func (d *Driver) Key(m tea.KeyMsg) {
	d.T.Helper()
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Heartbeat()
	d.Send(m)
}

// Erase clears the input.
func (d *Driver) Erase() { d.Press("ctrl+u") }

// Paste pastes text twice: bracketed, and as fast single keys like terminals without
// bracketed paste.
func (d *Driver) Paste(text string) {
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.ReplaceAll(text, "\n", " ")), Paste: true})
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	for i, piece := range strings.Split(text, "\n") {
		if i > 0 {
			d.Send(tea.KeyMsg{Type: tea.KeyEnter})
		}
		if piece != "" {
			d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(piece)})
		}
		d.Clock = d.Clock.Add(time.Millisecond)
	}
}

// ClickOn clicks on a text of the screen.
func (d *Driver) ClickOn(text string) {
	d.T.Helper()
	for y, line := range strings.Split(d.Text(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			d.Click(len([]rune(before)), y)
			return
		}
	}
	d.T.Fatalf("there is no %q to click on:\n%s", text, d.Text())
}

// Click clicks on a cell of the screen.
func (d *Driver) Click(x, y int) {
	d.Clock = d.Clock.Add(200 * time.Millisecond)
	d.Heartbeat()
	d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
}
