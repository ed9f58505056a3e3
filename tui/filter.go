package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/where"
)

// Filters are typed as for whctl query --where, several with two blanks or more
// between them.

const conditionGap = "  "

// splitConditions takes a line apart. Two blanks inside of quotes are a value's.
func splitConditions(text string) []string {
	var parts []string
	start, quoted := 0, false
	for i := range len(text) {
		if text[i] == '"' {
			quoted = !quoted
		}
		if !quoted && strings.HasPrefix(text[i:], conditionGap) {
			parts = appendPart(parts, text[start:i])
			start = i + len(conditionGap)
		}
	}
	return appendPart(parts, text[min(start, len(text)):])
}

func appendPart(parts []string, part string) []string {
	if part = strings.TrimSpace(part); part != "" {
		parts = append(parts, part)
	}
	return parts
}

// readFilters reads a line of conditions.
func (a *app) readFilters(kind *record.Kind, text string) ([]client.Filter, error) {
	return where.Reader{Kind: kind, Now: a.now}.ParseAll(splitConditions(text))
}

func (b *browser) filterText() string { return strings.Join(b.chips(), conditionGap) }

// find is the line of filters.
func (b *browser) find() *line { return b.filterLine(b.filterText()) }

func (b *browser) filterLine(text string) *line {
	l := newLine(b.app, "filter "+b.kind.Name, "/", text)
	l.help = b.app.keyFor(inLine, submit) + " filters at the service   " + b.app.keyFor(inLine, complete) + " completes   two blanks between conditions   " + b.app.keyFor(inLine, goBack) + " leaves it"
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

// suggestFields completes the field that the line ends with.
func suggestFields(kind *record.Kind, text string) []suggestion {
	at := 0
	if i := strings.LastIndex(text, conditionGap); i >= 0 {
		at = i + len(conditionGap)
	}
	word := strings.TrimLeft(text[at:], " ")
	if strings.ContainsAny(word, `=<>!^$*~" `) {
		return nil
	}
	head := text[:len(text)-len(word)]
	var starts, holds []suggestion
	for _, f := range kind.Fields {
		if f.Filter == record.None {
			continue
		}
		one := suggestion{head + f.Name, f.Name, f.TypeName() + "   " + where.Allowed(f.Filter)}
		name, part := strings.ToLower(f.Name), strings.ToLower(word)
		switch {
		case name == part:
		case strings.HasPrefix(name, part):
			starts = append(starts, one)
		case strings.Contains(name, part):
			holds = append(holds, one)
		}
	}
	return append(starts, holds...)
}
