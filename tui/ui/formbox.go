package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

const (
	MaxFormWidth   = 76 // cells, including the frame
	labelWidth     = 11 // width of the label column
	MaxRemarkLines = 3  // maximum lines of a help or error text
	maxSuggestions = 5
	minSuggestions = 2 // even if the room is too small
)

// Box draws the form. If there is not enough room, it scrolls so that the active field
// and its help or error are visible.
func (f *Form) Box(width, height int) []string {
	width = min(width, MaxFormWidth) - 4
	room := max(1, height-2)
	lines, from, to := f.Lines(width, room)
	top := max(0, min(from, to+1-room, len(lines)-room))
	shown := lines[top:min(len(lines), top+room)]
	return f.Session.Theme.ScrollFrame(f.title, width, shown, top, len(lines)-top-len(shown))
}

// Lines draws all lines of the form. Lines from (inclusive) to (exclusive) belong to
// the active field.
func (f *Form) Lines(width, room int) (lines []string, from, to int) {
	t := f.Session.Theme
	for i := 0; i < len(f.Fields); i++ {
		begin, first := len(lines), i
		if f.paired(i) {
			i++
			lines = append(lines, f.pairLine(first, width))
		} else {
			lines = append(lines, f.fieldLine(f.Fields[i], i == f.At, width))
		}
		for k := first; k <= i; k++ {
			lines = append(lines, f.remarks(k, width, room)...)
		}
		if first <= f.At && f.At <= i {
			from, to = begin, len(lines)
		}
	}
	notes := append(slices.Clone(f.Notes), f.keys())
	if f.Sent {
		notes = []string{"submitting " + strings.Repeat(t.Loading, 3) + "   esc closes the form"}
	}
	for _, note := range notes {
		for _, text := range t.WrapLines(note, width, MaxRemarkLines) {
			lines = append(lines, t.Paint(theme.Dim, t.Fit(text, width, false)))
		}
	}
	return lines, from, to
}

// keys repeats the hints inside the form, since the hint line is far away on large
// terminals.
func (f *Form) keys() string {
	return strings.Join(record.Texts(f.Hints(), func(b keymap.Binding) string {
		return b.Label() + " " + b.Hint
	}), "   ")
}

// remarks draws the error of a field or, for the active field, its help and
// suggestions.
func (f *Form) remarks(at, width, room int) []string {
	t, active := f.Session.Theme, f.Fields[at]
	text, role := active.Error, theme.Failure
	if text == "" {
		text, role = active.Help, theme.Dim
		if at != f.At {
			return nil
		}
	}
	var lines []string
	for _, part := range t.WrapLines(text, width-labelWidth, MaxRemarkLines) {
		lines = append(lines, t.Paint(role, theme.Spaces(labelWidth)+t.Fit(part, width-labelWidth, false)))
	}
	if at != f.At || active.Error != "" {
		return lines
	}
	return append(lines, f.suggestionLines(active, width, room-len(lines)-2)...)
}

// suggestionLines draws the suggestions that fit. The one with the pointer is accepted
// by enter.
func (f *Form) suggestionLines(field *Field, width, room int) []string {
	t := f.Session.Theme
	list := field.suggestions()
	if len(list) == 0 {
		return nil
	}
	room = min(len(list), maxSuggestions, max(minSuggestions, room))
	selected := field.selected(list)
	first := max(0, selected-room+1)
	var lines []string
	for i, s := range list[first:min(len(list), first+room)] {
		pointer := " "
		count := ""
		role := theme.Dim
		if first+i == selected {
			pointer = t.Pointer
			count = fmt.Sprintf(" %d of %d", first+i+1, len(list))
			role = theme.Plain
		}
		text := t.Fit(pointer+" "+s.Name+"  "+s.Help, width-labelWidth-len(count), false)
		lines = append(lines, t.Paint(role, theme.Spaces(labelWidth)+text+count))
	}
	return lines
}

func (f *Form) fieldLine(field *Field, active bool, width int) string {
	t := f.Session.Theme
	label := f.label(field, active)
	if field.Options == nil {
		return label + f.value(field, active, width-labelWidth)
	}
	role := theme.Plain
	if active {
		role = theme.Selected
	}
	return label + f.Session.Theme.Compose(width-labelWidth, []theme.Span{
		{Text: t.Less + " ", Role: theme.Dim},
		{Text: field.Input.Value(), Role: role},
		{Text: " " + t.More, Role: theme.Dim},
	}, nil)
}

func (f *Form) label(field *Field, active bool) string {
	role := theme.Dim
	if active {
		role = theme.Key
	}
	return f.Session.Theme.Paint(role, f.Session.Theme.Fit(field.Label, labelWidth, false))
}

// value draws the value of a field, with the cursor if it is active.
func (f *Form) value(field *Field, active bool, width int) string {
	text := field.Input.Value()
	if field.Masked && (text != "" || field.Stored) {
		text = SecretMask
	}
	if !active {
		return f.Session.Theme.Fit(text, width, false)
	}
	if field.Stored {
		return drawInput(f.Session.Theme, NewInput(SecretMask), width, false)
	}
	return drawInput(f.Session.Theme, field.Input, width, field.Masked)
}

// paired reports whether the next field is shown on the same line.
func (f *Form) paired(i int) bool { return i+1 < len(f.Fields) && f.Fields[i+1].SameLine }

// addMoreLabel is shown after the last pair of a list.
const addMoreLabel = "   + add"

// pairLine draws a name field and its value field. The last pair has a hint that enter
// adds another one.
func (f *Form) pairLine(at, width int) string {
	t := f.Session.Theme
	name, value := f.Fields[at], f.Fields[at+1]
	label := f.label(name, f.At == at || f.At == at+1)
	end, role := strings.Repeat(" ", len(addMoreLabel)), theme.Dim
	if value.AddMore != nil && !f.paired(at+2) {
		end = addMoreLabel
		if f.At == at+1 && !name.Empty() && !value.Empty() {
			role = theme.Key
		}
	}
	width -= labelWidth + len(addMoreLabel)
	left := min(24, width/2)
	shown := f.value(name, f.At == at, left)
	if f.At != at && !name.Empty() {
		shown = t.Fit(name.Input.Value()+":", left, false)
	}
	return label + shown + "  " + f.value(value, f.At == at+1, width-left-2) + t.Paint(role, end)
}
