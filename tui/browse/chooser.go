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

// ChooserHost is the part of the app that a chooser uses.
type ChooserHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowInput(l *ui.InputLine)
	ShowOverlay(o ui.Overlay)
}

// Chooser is an overlay for selecting and ordering the columns of a list.
type Chooser struct {
	host     ChooserHost
	kind     *record.Kind
	name     string                        // name of the list
	names    []string                      // names of all fields, in the order of the chooser
	chosen   map[string]bool               // by name
	defaults []string                      // initially chosen fields
	search   string                        // listed fields contain it
	index    int                           // index of the selected field among the listed ones
	empty    func(name string) bool        // reports whether a field is empty in all loaded rows
	accept   func(fields []string) tea.Cmd // applies the choice
}

// ChooserOptions describes the list and its columns, which are chosen.
type ChooserOptions struct {
	Kind     *record.Kind
	Name     string                        // of the list
	Fields   []string                      // chosen fields, in order
	Defaults []string                      // initially chosen fields
	IsEmpty  func(name string) bool        // reports whether a field is empty in all loaded rows
	Accept   func(fields []string) tea.Cmd // applies the choice
}

// NewChooser returns a chooser for the columns of a list.
func NewChooser(h ChooserHost, o ChooserOptions) *Chooser {
	c := &Chooser{
		host:     h,
		kind:     o.Kind,
		name:     o.Name,
		defaults: o.Defaults,
		chosen:   make(map[string]bool),
		empty:    o.IsEmpty,
		accept:   o.Accept,
	}
	c.setFields(o.Fields)
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

// fields returns the chosen fields in order.
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
		c.host.ShowOverlay(nil)
	case keymap.GoUp:
		c.selectAt(c.index - 1)
	case keymap.GoDown:
		c.selectAt(c.index + 1)
	case keymap.OpenFilter:
		c.host.ShowInput(c.Find())
	case keymap.Toggle:
		c.toggle()
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
func (c *Chooser) selectAt(i int) { c.index = max(0, min(i, len(c.Listed())-1)) }

// Find returns the search input.
func (c *Chooser) Find() *ui.InputLine {
	l := ui.NewInputLine(c.host, "columns", "/", c.search)
	l.Help = "part of a field's name; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies it"
	l.Check = func(text string) error {
		c.search = text
		c.selectAt(0)
		return nil
	}
	l.Accept = func(string) tea.Cmd { return nil }
	return l
}

// toggle chooses the selected field, or no longer, and selects the next one.
func (c *Chooser) toggle() {
	list := c.Listed()
	if len(list) == 0 {
		return
	}
	name := list[c.index]
	c.chosen[name] = !c.chosen[name]
	c.selectAt(c.index + 1)
}

// toggleAll chooses all listed fields, or none if all are chosen.
func (c *Chooser) toggleAll() {
	list := c.Listed()
	hasHidden := slices.ContainsFunc(list, func(name string) bool { return !c.chosen[name] })
	for _, name := range list {
		c.chosen[name] = hasHidden
	}
}

// swap moves the selected field by one place in the list.
func (c *Chooser) swap(step int) {
	list := c.Listed()
	next := c.index + step
	if next < 0 || next >= len(list) {
		return
	}
	// The search can hide names between the two.
	name := list[c.index]
	oldIndex := slices.Index(c.names, name)
	newIndex := slices.Index(c.names, list[next])
	c.names = slices.Delete(c.names, oldIndex, oldIndex+1)
	c.names = slices.Insert(c.names, newIndex, name)
	c.index = next
}

// onlyAmounts chooses the key fields and decimal fields.
func (c *Chooser) onlyAmounts() {
	kind := c.kind
	if !slices.ContainsFunc(kind.Fields, func(f record.Field) bool { return f.Type == record.Decimal }) {
		c.host.Notify(ui.Warning, kind.Name+" has no decimal fields")
		return
	}
	for i, f := range kind.Fields {
		c.chosen[f.Name] = i == 0 || f.Type == record.Decimal || strings.HasSuffix(f.Name, "ID")
	}
}

// apply closes the chooser and shows the chosen fields.
func (c *Chooser) apply() tea.Cmd {
	fields := c.fields()
	if len(fields) == 0 {
		c.host.Notify(ui.Warning, "choose at least one column")
		return nil
	}
	c.host.ShowOverlay(nil)
	return c.accept(fields)
}

func (c *Chooser) Box(width, height int) []string {
	t := c.host.CurrentSession().Theme
	width = min(width, 68) - 4
	room := max(1, height-3)
	list := c.Listed()
	search := theme.Span{Text: "/ " + c.search, Role: theme.Key}
	if c.search == "" {
		search = theme.Span{
			Text: keymap.KeyFor(keymap.InColumns, keymap.OpenFilter) + " searches fields",
			Role: theme.Dim,
		}
	}
	shown := fmt.Sprintf("%d of %d shown", len(c.fields()), len(c.names))
	counts := theme.Span{Text: shown, Role: theme.Dim}
	lines := []string{t.Compose(width, []theme.Span{search}, []theme.Span{counts})}
	first := max(0, c.index-room+1)
	for i := first; i < len(list) && len(lines) <= room; i++ {
		lines = append(lines, c.row(list[i], i == c.index, width))
	}
	if len(list) == 0 {
		lines = append(lines, t.Paint(theme.Dim, t.Fit("no field matches "+c.search, width, false)))
	}
	below := len(list) - first - (len(lines) - 1) // the first line is not a field
	return t.ScrollFrame("Columns: "+c.name, width, lines, first, below)
}

// row draws a field with its check box.
func (c *Chooser) row(name string, selected bool, width int) string {
	t := c.host.CurrentSession().Theme
	check := "[ ] "
	if c.chosen[name] {
		check = "[x] "
	}
	text := check + t.Fit(name, min(32, width-22), false) + "  " + c.kind.Field(name).TypeName()
	return t.Row(width, selected, []theme.Span{{Text: text}}, nil)
}
