package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// The fields of headers in a form. The service complains of all of them by one
// name.
const (
	headersField     = "Headers"
	headerValueField = "HeaderValue"
)

// headerLines are the lines of a form that take headers, one to a line.
type headerLines struct {
	form  *form
	pairs []headerPair
	names []string // of those that the service has already; it never tells their values
}

type headerPair struct{ name, value *field }

// addHeaders adds lines for the headers that there are, at least one.
func addHeaders(f *form, names []string) *headerLines {
	h := &headerLines{form: f, names: names}
	for _, name := range names {
		h.add(len(f.fields), name, true)
	}
	if len(names) == 0 {
		h.add(len(f.fields), "", false)
	}
	f.place = h.about
	return h
}

// add puts a line into the form.
func (h *headerLines) add(at int, name string, kept bool) {
	label := ""
	if len(h.pairs) == 0 {
		label = headersField
	}
	one := headerPair{
		newField(headersField, label, name, "the name of a header to send with it, such as Authorization; empty for none"),
		newField(headerValueField, "", "", "its value; enter takes it and offers another header"),
	}
	one.value.masked, one.value.kept, one.value.behind = true, kept, true
	if len(h.names) > 0 {
		one.name.help = "the service tells no values: where a header is changed, added or taken away, the values of all are typed anew"
		one.value.help = "the service has a value, which it does not tell; what is typed takes its place"
	}
	one.name.check = func() string { return h.faultOfName(one) }
	one.value.check = func() string { return h.faultOfValue(one) }
	one.value.more = func() { h.more(one) }
	h.pairs = append(h.pairs, one)
	h.form.fields = slices.Insert(h.form.fields, at, one.name, one.value)
}

// more offers a line behind the last one, where that is filled in.
func (h *headerLines) more(one headerPair) {
	if one == h.pairs[len(h.pairs)-1] && !one.name.empty() && !one.value.empty() {
		h.add(slices.Index(h.form.fields, one.value)+1, "", false)
	}
}

// faultOfName refuses a name that a line above has too.
func (h *headerLines) faultOfName(one headerPair) string {
	for _, other := range h.pairs {
		switch {
		case other == one:
			return ""
		case !one.name.empty() && strings.EqualFold(other.name.text(), one.name.text()):
			return "there is a header " + other.name.text() + " already"
		}
	}
	return ""
}

// faultOfValue refuses a value without a name, and one that has to be sent and
// is not known.
func (h *headerLines) faultOfValue(one headerPair) string {
	switch {
	case one.name.empty() && one.value.text() != "":
		return "the name of this header is missing"
	case !one.name.empty() && one.value.kept && h.changed():
		return "headers are replaced as a whole: type this value anew, or empty the name to take the header away"
	}
	return ""
}

// changed reports whether the headers are others than the service has.
func (h *headerLines) changed() bool {
	var names []string
	for _, one := range h.pairs {
		if one.name.empty() {
			continue
		}
		if !one.value.kept {
			return true
		}
		names = append(names, one.name.text())
	}
	return !slices.Equal(names, h.names)
}

// headers are those that are filled in.
func (h *headerLines) headers() []wire.Header {
	list := []wire.Header{}
	for _, one := range h.filled() {
		list = append(list, wire.Header{Name: one.name.text(), Value: one.value.text()})
	}
	return list
}

func (h *headerLines) filled() []headerPair {
	return slices.DeleteFunc(slices.Clone(h.pairs), func(one headerPair) bool { return one.name.empty() })
}

// about finds the header that the service complains of by its number.
func (h *headerLines) about(wrong wire.FieldError) *field {
	n, filled := 0, h.filled()
	if _, err := fmt.Sscanf(wrong.Message, "number %d:", &n); !strings.EqualFold(wrong.FieldName, headersField) || err != nil || n < 1 || n > len(filled) {
		return nil
	}
	if strings.Contains(wrong.Message, "its value") {
		return filled[n-1].value
	}
	return filled[n-1].name
}
