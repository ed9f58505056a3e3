package tui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
)

// Filters are typed as for whctl query --where, several of them in a line.

// conditionGap stands between conditions that are written here.
const conditionGap = "  "

// readFilters reads a line of conditions.
func (a *app) readFilters(kind *record.Kind, text string) ([]client.Filter, error) {
	f := filter.Reader{Kind: kind, Now: a.now}
	filters, err := f.ParseAll(f.Split(text))
	if why := errors.Unwrap(err); why != nil {
		err = why // what is wrong stands on the line itself
	}
	return filters, err
}

func (b *browser) filterText() string { return strings.Join(b.chips(), conditionGap) }

// find is the line of filters.
func (b *browser) find() *line { return b.filterLine(b.filterText()) }

func (b *browser) filterLine(text string) *line {
	l := newLine(b.app, "filter "+b.kind.Name, "/", text)
	l.help = keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes   " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " leaves it"
	l.suggest = func(text string) []suggestion { return suggestFields(b.kind, text) }
	l.check = func(text string) error {
		_, err := b.app.readFilters(b.kind, text)
		return err
	}
	l.accept = func(text string) tea.Cmd {
		filters, _ := b.app.readFilters(b.kind, text) // it was checked just now
		b.typed = b.app.note(b.kind, text)
		return b.limit(filters)
	}
	return l
}

// suggestFields completes the field that the line ends with, and tells what can
// follow it.
func suggestFields(kind *record.Kind, text string) []suggestion {
	head := text[:strings.LastIndexByte(text, ' ')+1]
	word := text[len(head):]
	if before := strings.TrimSpace(head); before != "" && !lastWhole(kind, before) || strings.ContainsAny(word, `=<>!^$*~"`) {
		return nil
	}
	var exact, starts, holds []suggestion
	for _, f := range kind.Fields {
		if f.Filter == record.None {
			continue
		}
		one := suggestion{head + f.Name, f.Name, f.TypeName() + "   " + filter.Allowed(f.Filter)}
		name, part := strings.ToLower(f.Name), strings.ToLower(word)
		switch {
		case name == part:
			exact = append(exact, one)
		case strings.HasPrefix(name, part):
			starts = append(starts, one)
		case strings.Contains(name, part):
			holds = append(holds, one)
		}
	}
	return slices.Concat(exact, starts, holds)
}

// lastWhole reports whether the last condition of a line has all that it needs.
func lastWhole(kind *record.Kind, line string) bool {
	f := filter.Reader{Kind: kind}
	parts := f.Split(line)
	return len(parts) > 0 && f.Whole(parts[len(parts)-1])
}
