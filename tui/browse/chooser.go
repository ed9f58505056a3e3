package browse

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Chooser is an overlay for selecting and ordering the columns of a list.
type Chooser struct {
	ui.HostSession
	kind     *record.Kind
	name     string   // name of the list
	names    []string // the chosen ones first
	chosen   map[string]bool
	defaults []string                      // initially chosen fields
	search   string                        // listed fields contain it
	at       int                           // index of the selected one of the listed fields
	empty    func(name string) bool        // reports whether a field is empty in all loaded rows
	accept   func(fields []string) tea.Cmd // applies the choice
}

// NewChooser returns a chooser for the columns of a list.
func NewChooser(
	h ui.Host, kind *record.Kind, name string, fields, defaults []string, empty func(name string) bool,
	accept func(fields []string) tea.Cmd,
) *Chooser {
	c := &Chooser{
		HostSession: ui.NewHostSession(h),
		kind:        kind,
		name:        name,
		defaults:    defaults,
		chosen:      make(map[string]bool),
		empty:       empty,
		accept:      accept,
	}
	c.setFields(fields)
	return c
}

// setFields chooses fields, in their order, and lists them first.
func (c *Chooser) setFields(fields []string) {
	clear(c.chosen)
	c.names = slices.Clone(fields)
	for _, name := range fields {
		c.chosen[name] = true
	}
	for _, name := range c.kind.FieldNames() {
		if !c.chosen[name] {
			c.names = append(c.names, name)
		}
	}
}

func (c *Chooser) fields() []string {
	return slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return !c.chosen[name] })
}

func (c *Chooser) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InColumns} }

// Listed returns the fields with names that match the search.
func (c *Chooser) Listed() []string {
	search := strings.ToLower(c.search)
	return slices.DeleteFunc(slices.Clone(c.names), func(name string) bool {
		return !strings.Contains(strings.ToLower(name), search)
	})
}

func (c *Chooser) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoBack:
		c.Host.ShowOverlay(nil)
	case keymap.GoUp:
		c.selectAt(c.at - 1)
	case keymap.GoDown:
		c.selectAt(c.at + 1)
	case keymap.OpenFilter:
		c.Host.ShowInput(c.Find())
	case keymap.Toggle:
		if list := c.Listed(); len(list) > 0 {
			c.chosen[list[c.at]] = !c.chosen[list[c.at]]
			c.selectAt(c.at + 1)
		}
	case keymap.ToggleAll:
		c.toggleAll()
	case keymap.MoveEarlier:
		c.swap(-1)
	case keymap.MoveLater:
		c.swap(1)
	case keymap.ResetColumns:
		c.setFields(c.defaults)
	case keymap.KeysAndAmounts:
		c.onlyAmounts()
	case keymap.HideEmptyColumns:
		for _, name := range c.fields() {
			if c.empty(name) {
				c.chosen[name] = false
			}
		}
	case keymap.Accept:
		return c.apply()
	}
	return nil
}

// selectAt selects a listed field by index.
func (c *Chooser) selectAt(i int) { c.at = max(0, min(i, len(c.Listed())-1)) }

// Find returns the search input.
func (c *Chooser) Find() *ui.InputLine {
	l := ui.NewInputLine(c.Host, "columns", "/", c.search)
	l.Help = "part of a field's name; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies it"
	l.Check = func(text string) error {
		c.search = text
		c.selectAt(0)
		return nil
	}
	l.Accept = func(string) tea.Cmd { return nil }
	return l
}

// toggleAll chooses all listed fields, or none if all are chosen.
func (c *Chooser) toggleAll() {
	list := c.Listed()
	every := !slices.ContainsFunc(list, func(name string) bool { return !c.chosen[name] })
	for _, name := range list {
		c.chosen[name] = !every
	}
}

// swap moves the selected field by one place in the list.
func (c *Chooser) swap(step int) {
	list := c.Listed()
	to := c.at + step
	if to < 0 || to >= len(list) {
		return
	}
	from, place := slices.Index(c.names, list[c.at]), slices.Index(c.names, list[to])
	c.names = slices.Insert(slices.Delete(c.names, from, from+1), place, list[c.at])
	c.at = to
}

// onlyAmounts chooses the key fields and decimal fields.
func (c *Chooser) onlyAmounts() {
	kind := c.kind
	if !slices.ContainsFunc(kind.Fields, func(f record.Field) bool { return f.Type == record.Decimal }) {
		c.Host.Notify(ui.Warning, kind.Name+" has no decimal fields")
		return
	}
	for i, f := range kind.Fields {
		c.chosen[f.Name] = i == 0 || f.Type == record.Decimal || strings.HasSuffix(f.Name, "ID")
	}
}

func (c *Chooser) apply() tea.Cmd {
	fields := c.fields()
	if len(fields) == 0 {
		c.Host.Notify(ui.Warning, "choose at least one column")
		return nil
	}
	c.Host.ShowOverlay(nil)
	return c.accept(fields)
}

func (c *Chooser) Box(width, height int) []string {
	t := c.Session.Theme
	width = min(width, 68) - 4
	room := max(1, height-3)
	list := c.Listed()
	left := theme.Span{Text: "/ " + c.search, Role: theme.Key}
	if c.search == "" {
		left = theme.Span{
			Text: keymap.KeyFor(keymap.InColumns, keymap.OpenFilter) + " searches fields",
			Role: theme.Dim,
		}
	}
	lines := []string{c.Session.Theme.Compose(width, []theme.Span{left}, []theme.Span{{
		Text: fmt.Sprintf("%d of %d shown", len(c.fields()), len(c.names)),
		Role: theme.Dim,
	}})}
	first := max(0, c.at-room+1)
	for i := first; i < len(list) && len(lines) <= room; i++ {
		lines = append(lines, c.row(list[i], i == c.at, width))
	}
	if len(list) == 0 {
		lines = append(lines, t.Paint(theme.Dim, t.Fit("no field matches "+c.search, width, false)))
	}
	return c.Session.Theme.ScrollFrame("Columns: "+c.name, width, lines, first, len(list)-first-len(lines)+1)
}

// row draws a field with its check box.
func (c *Chooser) row(name string, selected bool, width int) string {
	t := c.Session.Theme
	check := "[ ] "
	if c.chosen[name] {
		check = "[x] "
	}
	pointer, role := t.RowPrefix(selected)
	text := pointer + check + t.Fit(name, min(32, width-22), false) + "  " + c.kind.Field(name).TypeName()
	return t.Paint(role, t.Fit(text, width, false))
}
