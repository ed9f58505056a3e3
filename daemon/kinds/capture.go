package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// captures are the values of capture.
var captures = []string{record.CaptureNever, record.CaptureOnDemand, record.CaptureAlways}

func checkCapture(text string) string {
	if !slices.Contains(captures, strings.ToLower(text)) {
		return fmt.Sprintf("%q is not one of %s", text, strings.Join(captures, ", "))
	}
	return ""
}

func checkEvents(text string) string {
	if !identifier.MatchString(text) || len(text) > maxName {
		return fmt.Sprintf("%q cannot be a family of events: use letters, digits and _, as in debtor for debtor.created",
			text)
	}
	return ""
}

// withoutEffect returns a member that has no effect because the kind is not captured, empty
// if there is none.
func withoutEffect(k record.Kind) string {
	switch {
	case k.Captured():
		return ""
	case k.Events != "":
		return "events"
	case k.Before != nil:
		return "before"
	case k.CaptureFields != nil:
		return "capture_fields"
	case k.Ignore != nil:
		return "ignore"
	}
	return ""
}

// captureMistakes returns the mistakes in the fields that members of capture name, other
// than unknown ones.
func captureMistakes(k record.Kind) (mistakes []*record.Mistake) {
	has := func(names []string, field string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, field) })
	}
	wrong := func(member, field, format string, args ...any) {
		mistakes = append(mistakes, &record.Mistake{
			Member: member,
			Field:  field,
			Text:   member + ": " + fmt.Sprintf(format, args...),
		})
	}
	for _, name := range k.Ignore {
		if has(k.Key, name) {
			wrong("ignore", name, "%s is a field of the key", name)
		} else if has(k.CaptureFields, name) {
			wrong("ignore", name, "%s is also in capture_fields", name)
		}
	}
	for _, name := range k.Before {
		field := slices.IndexFunc(k.Fields, func(f record.Field) bool { return strings.EqualFold(f.Name, name) })
		isListed := k.CaptureFields == nil || has(k.CaptureFields, name) || has(k.Key, name)
		switch {
		case field < 0: // record.Kind.Check reports it
		case k.Fields[field].Type == record.Bytes:
			wrong("before", name, "%s is byte[], and its values are not kept", name)
		case has(k.Ignore, name):
			wrong("before", name, "%s is not captured, because it is in ignore", name)
		case !isListed:
			wrong("before", name, "%s is not captured, because it is not in capture_fields", name)
		}
	}
	return mistakes
}

// ChangedNote follows the name of a field that conditions of subscriptions cannot compare.
const ChangedNote = ": conditions of subscriptions cannot compare this field, " +
	"because Changed lists the fields that have changed there; give it another name, and set column"

// IsChanged reports whether a field has the name by which conditions list changed fields.
func IsChanged(field string) bool { return strings.EqualFold(field, "Changed") }

// changedField returns the declared field of a captured kind that conditions cannot compare, empty
// if there is none.
func changedField(declared, kind record.Kind) string {
	if !kind.Captured() {
		return ""
	}
	for _, f := range declared.Fields {
		if IsChanged(f.Name) {
			return f.Name
		}
	}
	return ""
}
