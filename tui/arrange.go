package tui

import (
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// How rows are shown is kept by kind and profile: a kind looks as it was left.

// arrange shows the rows as they were kept. Fields that the kind does not have
// any more are left out.
func (b *browser) arrange(as state.Arrangement) {
	fields := slices.DeleteFunc(slices.Clone(as.Fields), func(name string) bool {
		_, known := b.kind.Column(name)
		return !known
	})
	if len(fields) > 0 {
		b.setFields(fields)
		b.grid.Freeze(as.Frozen)
	}
	b.grid.SetWidths(as.Widths)
	b.order = sortOf(as.OrderBy)
	if _, known := b.kind.Column(b.order.Column); !known {
		b.order = sortOf("")
	}
	b.filters, b.typed = recallFilters(b.Dialog, b.kind, as.Where)
}

// arrangement is how the rows are shown now.
func (b *browser) arrangement() state.Arrangement {
	return state.Arrangement{
		Fields: slices.Clone(b.fields), Widths: maps.Clone(b.grid.Widths()), Frozen: b.grid.Frozen(),
		OrderBy: orderOf(b.order), Where: b.typed.texts(b.Now, b.kind, b.filters),
	}
}

// remember keeps how the rows are shown now. A view is kept by :save alone.
func (b *browser) remember() {
	if b.saved == "" {
		b.State.SetGrid(b.kind.Name, b.arrangement())
	}
}

func (b *browser) AsView() state.View {
	return state.View{Record: b.kind.Name, Arrangement: b.arrangement()}
}

func (b *browser) SetViewName(name string) { b.saved = name }

func (b *browser) Title() string {
	if b.saved != "" {
		return b.name + " (" + b.saved + ")"
	}
	return b.name
}

func (s *messages) AsView() state.View {
	f := s.filter
	v := state.View{Record: ui.MessageRecord, Subscription: f.Subscription, Label: s.whose(), Problems: f.Problems, Undelivered: f.Undelivered, Arrangement: s.arrangement()}
	v.Where, v.OrderBy = s.typed.texts(s.Now, ui.MessageKind(), f.Conditions), orderOf(s.order)
	return v
}

func (s *messages) SetViewName(name string) { s.saved = name }

func (s *messages) Title() string {
	if s.saved != "" {
		return "Messages (" + s.saved + ")"
	}
	return "Messages"
}

// orderOf is an order as it is kept.
func orderOf(s grid.Sort) string {
	if s.Descending {
		return "-" + s.Column
	}
	return s.Column
}

// sortOf is an order that was kept.
func sortOf(text string) grid.Sort {
	column, down := strings.CutPrefix(text, "-")
	return grid.Sort{Column: column, Descending: down}
}
