package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// chooser chooses and orders the columns of a browser.
type chooser struct {
	browser *browser
	names   []string // all of them, the chosen first
	chosen  map[string]bool
	at      int
}

func newChooser(b *browser) overlay {
	c := &chooser{browser: b, chosen: make(map[string]bool)}
	c.set(b.fields)
	return c
}

// set puts the chosen fields first, in their order.
func (c *chooser) set(fields []string) {
	clear(c.chosen)
	c.names = slices.Clone(fields)
	for _, name := range fields {
		c.chosen[name] = true
	}
	for _, name := range c.browser.kind.FieldNames() {
		if !c.chosen[name] {
			c.names = append(c.names, name)
		}
	}
}

func (c *chooser) fields() []string {
	var fields []string
	for _, name := range c.names {
		if c.chosen[name] {
			fields = append(fields, name)
		}
	}
	return fields
}

func (c *chooser) scopes() []scope { return []scope{inColumns} }

func (c *chooser) do(b binding) tea.Cmd {
	switch b.action {
	case goBack:
		c.browser.app.over = nil
	case goUp:
		c.at = max(0, c.at-1)
	case goDown:
		c.at = min(len(c.names)-1, c.at+1)
	case toggle:
		c.chosen[c.names[c.at]] = !c.chosen[c.names[c.at]]
		c.at = min(len(c.names)-1, c.at+1)
	case toggleAll:
		c.all()
	case moveEarlier:
		c.swap(-1)
	case moveLater:
		c.swap(1)
	case resetChoice:
		c.set(usualFields(c.browser.kind))
	case hideEmpty:
		c.hideEmpty()
	case accept:
		return c.apply()
	}
	return nil
}

func (c *chooser) all() {
	every := len(c.fields()) == len(c.names)
	for _, name := range c.names {
		c.chosen[name] = !every
	}
}

func (c *chooser) swap(step int) {
	if to := c.at + step; to >= 0 && to < len(c.names) {
		c.names[c.at], c.names[to] = c.names[to], c.names[c.at]
		c.at = to
	}
}

// hideEmpty takes the choice from columns without a value in the rows that are
// here.
func (c *chooser) hideEmpty() {
	for _, name := range c.browser.fields {
		empty := true
		for _, held := range c.browser.records {
			if held.row.Text(name) != "" {
				empty = false
				break
			}
		}
		if empty {
			c.chosen[name] = false
		}
	}
}

func (c *chooser) apply() tea.Cmd {
	b := c.browser
	fields := c.fields()
	if len(fields) == 0 {
		b.app.tell(warning, "at least one column has to be shown")
		return nil
	}
	b.app.over = nil
	b.setFields(fields)
	b.remember()
	return b.reload()
}

func (c *chooser) box(width, height int) []string {
	t := c.browser.app.theme
	width = min(width, 68) - 4
	room := max(1, height-3)
	head := span{plural(len(c.fields()), "column is", "columns are") + " shown, of " + plural(len(c.names), "field", "fields"), t.dim}
	lines := []string{head.ink.Paint(t.Fit(head.text, width, false))}
	for i := max(0, c.at-room+1); i < len(c.names) && len(lines) <= room; i++ {
		name := c.names[i]
		at, _ := c.browser.kind.Column(name)
		check, ink := "[ ] ", t.Selected
		if c.chosen[name] {
			check = "[x] "
		}
		pointer := t.Pointer + " "
		if i != c.at {
			pointer, ink = "  ", ""
		}
		text := pointer + check + t.Fit(name, min(32, width-22), false) + "  " + c.browser.kind.Fields[at].TypeName()
		lines = append(lines, ink.Paint(t.Fit(text, width, false)))
	}
	return c.browser.app.frame("Columns: "+c.browser.name, width, lines)
}
