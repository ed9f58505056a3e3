package browse

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/ui"
)

// ConditionSeparator is written between conditions. Conditions have the syntax of whctl
// query --where.
const ConditionSeparator = "  "

// ParseFilters parses a line of conditions.
func ParseFilters(now time.Time, kind *record.Kind, text string) ([]client.Filter, error) {
	f := filter.Reader{Kind: kind, Now: now}
	filters, err := f.ParseAll(f.Split(text))
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // the conditions are visible in the input
	}
	return filters, err
}

// NewFilterLine returns an input for conditions on the rows of a kind.
func NewFilterLine(
	h ui.LineHost, kind *record.Kind, name, text string,
	accept func([]client.Filter, TypedConditions) tea.Cmd,
) *ui.InputLine {
	s := h.CurrentSession()
	l := ui.NewInputLine(h, "filter "+name, "/", text)
	l.Suggest = func(text string) []ui.Suggestion { return SuggestFields(kind, text) }
	l.Check = func(text string) error {
		_, err := ParseFilters(s.Now, kind, text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		filters, _ := ParseFilters(s.Now, kind, text) // validated by Check
		return accept(filters, ParseTyped(s.Now, kind, text))
	}
	return l
}

// SuggestFields completes the field name at the end of a line, and lists the operators
// of each field.
func SuggestFields(kind *record.Kind, text string) []ui.Suggestion {
	head := text[:strings.LastIndexByte(text, ' ')+1]
	word := text[len(head):]
	before := strings.TrimSpace(head)
	isIncomplete := before != "" && !lastComplete(kind, before)
	if isIncomplete || strings.ContainsAny(word, `=<>!^$*~"`) {
		return nil
	}
	var exact, starts, holds []ui.Suggestion
	for _, f := range kind.Fields {
		if f.Filter == record.NoFilter {
			continue
		}
		suggestion := ui.Suggestion{
			Text: head + f.Name,
			Name: f.Name,
			Help: f.TypeName() + "   " + filter.Allowed(f.Filter),
		}
		name, part := strings.ToLower(f.Name), strings.ToLower(word)
		switch {
		case name == part:
			exact = append(exact, suggestion)
		case strings.HasPrefix(name, part):
			starts = append(starts, suggestion)
		case strings.Contains(name, part):
			holds = append(holds, suggestion)
		}
	}
	return slices.Concat(exact, starts, holds)
}

// lastComplete reports whether the last condition of a line is complete.
func lastComplete(kind *record.Kind, line string) bool {
	f := filter.Reader{Kind: kind}
	parts := f.Split(line)
	return len(parts) > 0 && f.Whole(parts[len(parts)-1])
}

// RestoreFilters parses stored conditions. Invalid conditions are skipped with a
// warning.
func RestoreFilters(d ui.HostSession, kind *record.Kind, texts []string) ([]client.Filter, TypedConditions) {
	var filters []client.Filter
	typed := make(TypedConditions)
	for _, text := range texts {
		condition, err := filter.Reader{Kind: kind, Now: d.Session.Now}.Parse(text)
		if err == nil {
			filters, err = filter.Append(filters, condition)
		}
		if err != nil {
			d.Host.Notify(ui.Warning, fmt.Sprintf("saved filter %q of %s is no longer valid: %s", text, kind.Name, err))
			continue
		}
		typed[filter.Text(condition)] = text
	}
	return filters, typed
}

// TypedConditions maps formatted conditions to conditions as typed, so that relative times
// such as today are evaluated again when they are restored.
type TypedConditions map[string]string

// ParseTyped returns the typed conditions of a line.
func ParseTyped(now time.Time, kind *record.Kind, text string) TypedConditions {
	typed := make(TypedConditions)
	f := filter.Reader{Kind: kind, Now: now}
	for _, part := range f.Split(text) {
		if condition, err := f.Parse(part); err == nil {
			typed[filter.Text(condition)] = part
		}
	}
	return typed
}

// Texts returns filters as typed, or formatted if they were not typed.
func (t TypedConditions) Texts(filters []client.Filter) []string {
	return record.Texts(filters, func(f client.Filter) string {
		text := filter.Text(f)
		return cmp.Or(t[text], text)
	})
}
