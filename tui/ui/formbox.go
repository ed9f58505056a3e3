package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

const (
	MaxFormWidth   = 76 // cells, including the frame
	labelWidth     = 11 // width of the label column
	MaxRemarkLines = 3  // maximum lines of a help or error text
	maxNameWidth   = 24 // width of the name in a pair of a name and a value
	maxSuggestions = 5
	minSuggestions = 2 // even if the room is too small
)

// Box draws the form. If there is not enough room, it scrolls so that the active field
// and its help or error are visible.
func (f *Form) Box(width, height int) []string {
	width = min(width, MaxFormWidth) - 4
	room := max(1, height-2)
	lines, from, to := f.Lines(width, room)
	if blank := min(room, f.fullHeight(width, room)) - len(lines); blank > 0 {
		end := len(lines) - len(f.noteLines(width))
		lines = slices.Insert(lines, end, slices.Repeat([]string{theme.Spaces(width)}, blank)...)
	}
	top := max(0, min(from, to+1-room, len(lines)-room))
	shown := lines[top:min(len(lines), top+room)]
	return f.Session.Theme.ScrollFrame(f.title, width, shown, top, len(lines)-top-len(shown))
}

// Lines draws all lines of the form. Lines from (inclusive) to (exclusive) belong to
// the active field.
func (f *Form) Lines(width, room int) (lines []string, from, to int) {
	for first := 0; first < len(f.Fields); {
		start := len(lines)
		last := first
		if f.paired(first) {
			last = first + 1
			lines = append(lines, f.pairLine(first, width))
		} else {
			lines = append(lines, f.fieldLine(f.Fields[first], first == f.At, width))
		}
		for i := first; i <= last; i++ {
			lines = append(lines, f.remarks(i, width, room)...)
		}
		if first <= f.At && f.At <= last {
			from, to = start, len(lines)
		}
		first = last + 1
	}

	return append(lines, f.noteLines(width)...), from, to
}

// noteLines draws the notes and the keys.
func (f *Form) noteLines(width int) []string {
	t := f.Session.Theme
	notes := append(slices.Clone(f.Notes), f.keys())
	if f.Sent {
		notes = []string{"submitting " + strings.Repeat(t.Loading, 3) + "   esc closes the form"}
	}
	var lines []string
	for _, note := range notes {
		for _, text := range t.WrapLines(note, width, MaxRemarkLines) {
			lines = append(lines, t.Paint(theme.Dim, t.Fit(text, width, false)))
		}
	}
	return lines
}

// fullHeight returns the number of lines of the form with the field that needs most, so that the
// form has the same size and place in every field.
func (f *Form) fullHeight(width, room int) int {
	fields, remarks := 0, 0
	for i, field := range f.Fields {
		if !field.SameLine {
			fields++
		}
		lines := len(f.Session.Theme.WrapLines(field.Help, width-labelWidth, MaxRemarkLines))
		if field.Suggest != nil {
			lines += min(maxSuggestions, max(minSuggestions, room-lines-2))
		}
		if i != f.At && field.Error != "" {
			fields += len(f.Session.Theme.WrapLines(field.Error, width-labelWidth, MaxRemarkLines))
		}
		remarks = max(remarks, lines)
	}
	return fields + remarks + len(f.noteLines(width))
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
func (f *Form) remarks(index, width, room int) []string {
	field := f.Fields[index]
	if field.Error != "" {
		return f.remarkLines(field.Error, theme.Failure, width)
	}
	if index != f.At {
		return nil
	}
	lines := f.remarkLines(field.Help, theme.Dim, width)
	return append(lines, f.suggestionLines(field, width, room-len(lines)-2)...)
}

// remarkLines draws a text below a field, wrapped.
func (f *Form) remarkLines(text string, role theme.Role, width int) []string {
	t := f.Session.Theme
	var lines []string
	for _, part := range t.WrapLines(text, width-labelWidth, MaxRemarkLines) {
		lines = append(lines, t.Paint(role, theme.Spaces(labelWidth)+t.Fit(part, width-labelWidth, false)))
	}
	return lines
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
			role = theme.Selected
			count = fmt.Sprintf(" %d of %d", first+i+1, len(list))
		}
		text := t.Fit(pointer+" "+s.Name+"  "+s.Help, width-labelWidth-len(count), false)
		lines = append(lines, theme.Spaces(labelWidth)+t.Paint(role, text+count))
	}
	return lines
}

// fieldLine draws a field with its label.
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
	return label + t.Compose(width-labelWidth, []theme.Span{
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
	if !active && field.ShowEnd {
		return fitEnd(f.Session.Theme, text, width)
	}
	if !active {
		return f.Session.Theme.Fit(text, width, false)
	}
	if field.Stored {
		return drawInput(f.Session.Theme, NewInput(SecretMask), width, false)
	}
	return drawInput(f.Session.Theme, field.Input, width, field.Masked)
}

// fitEnd fits a text into width cells, and leaves out its start if it is too long.
func fitEnd(t *theme.Theme, text string, width int) string {
	safe, cells := t.Sanitize(text, math.MaxInt32)
	if cells > width {
		safe = ansi.TruncateLeft(safe, cells-width+1, t.Ellipsis)
	}
	return t.Fit(safe, width, false)
}

// paired reports whether the next field is shown on the same line.
func (f *Form) paired(i int) bool { return i+1 < len(f.Fields) && f.Fields[i+1].SameLine }

// addMoreLabel is shown after the last pair of a list.
const addMoreLabel = "   + add"

// pairLine draws a name field and its value field. The last pair has a hint that enter
// adds another one.
func (f *Form) pairLine(first, width int) string {
	t := f.Session.Theme
	name, value := f.Fields[first], f.Fields[first+1]
	isNameActive := f.At == first
	isValueActive := f.At == first+1
	label := f.label(name, isNameActive || isValueActive)

	hint := strings.Repeat(" ", len(addMoreLabel))
	hintRole := theme.Dim
	if value.AddMore != nil && !f.paired(first+2) {
		hint = addMoreLabel
		if isValueActive && !name.Empty() && !value.Empty() {
			hintRole = theme.Key
		}
	}

	width -= labelWidth + len(addMoreLabel)
	nameWidth := min(maxNameWidth, width/2)
	nameText := f.value(name, isNameActive, nameWidth)
	if !isNameActive && !name.Empty() {
		nameText = t.Fit(name.Input.Value()+":", nameWidth, false)
	}
	valueText := f.value(value, isValueActive, width-nameWidth-len("  "))
	return label + nameText + "  " + valueText + t.Paint(hintRole, hint)
}
