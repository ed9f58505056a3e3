package webhooks

import (
	"encoding/json"
	"strings"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/ui"
)

// WhereField is the name of the field of a subscription's condition.
const WhereField = "Where"

// gap separates the lines of a condition in a field.
const gap = "  "

// addWhere adds the field of a condition on the events that another field names.
func addWhere(f *ui.Form, event *ui.Field, where json.RawMessage) {
	help := "such as Status: 1 -> 2 or CreditLimit > 1000, several separated by two blanks, or JSON; " +
		"empty for all events"
	condition := f.Add(WhereField, "Condition", string(where), help)
	condition.Check = func() string {
		if f.Session.Events == nil {
			return "" // the fields are unknown; the service checks them
		}
		_, err := readWhere(f.HostSession, event.Text(), condition.Text())
		if err != nil {
			return err.Error()
		}
		return ""
	}
	condition.Suggest = func(text string) []ui.Suggestion {
		return suggestFields(whereReader(f.HostSession, event.Text()).Kind, text)
	}
}

// readWhere reads a condition on the events that match a pattern: JSON, or lines.
func readWhere(s ui.HostSession, pattern, text string) (json.RawMessage, error) {
	if strings.HasPrefix(text, "{") {
		return json.RawMessage(text), nil
	}
	return whereReader(s, pattern).Where(filter.Reader{Kind: new(record.Kind)}.Split(text))
}

// whereReader returns the reader of conditions on the events that match a pattern.
func whereReader(s ui.HostSession, pattern string) filter.WhereReader {
	r := filter.WhereReader{Reader: filter.Reader{Now: s.Session.Now}}
	if kind, ok := s.Session.Registry.Lookup(filter.KindOf(s.Session.Events, pattern)); ok {
		r.Kind = kind
	}
	return r
}

// whereOf returns the condition of the form values; nil if it is unchanged.
func whereOf(s ui.HostSession, values map[string]string, old json.RawMessage) json.RawMessage {
	text := values[WhereField]
	if text == string(old) {
		return nil
	}
	where, err := readWhere(s, values["EventName"], text)
	if err != nil || !json.Valid(where) { // the service names the mistake
		where, _ = json.Marshal(text)
	}
	return where
}

// suggestFields completes the name of a field at the end of a condition.
func suggestFields(kind *record.Kind, text string) []ui.Suggestion {
	lines := strings.Split(text, gap)
	word := strings.TrimPrefix(strings.TrimLeft(lines[len(lines)-1], " "), "Before.")
	if kind == nil || word == "" {
		return nil
	}
	var list []ui.Suggestion
	for _, field := range kind.Fields {
		if len(field.Name) > len(word) && strings.EqualFold(field.Name[:len(word)], word) {
			list = append(list, ui.Suggestion{
				Text: strings.TrimSuffix(text, word) + field.Name,
				Name: field.Name,
				Help: field.TypeName() + "   " + filter.Allowed(field.Filter),
			})
		}
	}
	return list
}
