package webhooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// The fields of headers in a form. The service complains of all of them by one
// name.
const (
	HeadersField     = "Headers"
	headerValueField = "HeaderValue"
)

// headerLines are the lines of a form that take headers, one to a line.
type headerLines struct {
	Form  *ui.Form
	pairs []headerPair
	names []string // of those that the service has already; it never tells their values
}

type headerPair struct{ name, value *ui.Field }

// addHeaders adds lines for the headers that there are, at least one.
func addHeaders(f *ui.Form, names []string) *headerLines {
	h := &headerLines{Form: f, names: names}
	for _, name := range names {
		h.add(len(f.Fields), name, true)
	}
	if len(names) == 0 {
		h.add(len(f.Fields), "", false)
	}
	f.FieldFor = h.about
	return h
}

// add puts a line into the form.
func (h *headerLines) add(at int, name string, kept bool) {
	label := ""
	if len(h.pairs) == 0 {
		label = HeadersField
	}
	one := headerPair{
		ui.NewField(HeadersField, label, name, "the name of a header to send with it, such as Authorization; empty for none"),
		ui.NewField(headerValueField, "", "", "its value; enter takes it and offers another header"),
	}
	one.value.Masked, one.value.Stored, one.value.SameLine = true, kept, true
	if len(h.names) > 0 {
		one.name.Help = "the service tells no values: where a header is changed, added or taken away, the values of all are typed anew"
		one.value.Help = "the service has a value, which it does not tell; what is typed takes its place"
	}
	one.name.Check = func() string { return h.faultOfName(one) }
	one.value.Check = func() string { return h.faultOfValue(one) }
	one.value.AddMore = func() { h.more(one) }
	h.pairs = append(h.pairs, one)
	h.Form.Fields = slices.Insert(h.Form.Fields, at, one.name, one.value)
}

// more offers a line behind the last one, where that is filled in.
func (h *headerLines) more(one headerPair) {
	if one == h.pairs[len(h.pairs)-1] && !one.name.Empty() && !one.value.Empty() {
		h.add(slices.Index(h.Form.Fields, one.value)+1, "", false)
	}
}

// faultOfName refuses a name that a line above has too.
func (h *headerLines) faultOfName(one headerPair) string {
	for _, other := range h.pairs {
		switch {
		case other == one:
			return ""
		case !one.name.Empty() && strings.EqualFold(other.name.Text(), one.name.Text()):
			return "there is a header " + other.name.Text() + " already"
		}
	}
	return ""
}

// faultOfValue refuses a value without a name, and one that has to be sent and
// is not known.
func (h *headerLines) faultOfValue(one headerPair) string {
	switch {
	case one.name.Empty() && one.value.Text() != "":
		return "the name of this header is missing"
	case !one.name.Empty() && one.value.Stored && h.changed():
		return "headers are replaced as a whole: type this value anew, or empty the name to take the header away"
	}
	return ""
}

// changed reports whether the headers are others than the service has.
func (h *headerLines) changed() bool {
	var names []string
	for _, one := range h.pairs {
		if one.name.Empty() {
			continue
		}
		if !one.value.Stored {
			return true
		}
		names = append(names, one.name.Text())
	}
	return !slices.Equal(names, h.names)
}

// headers are those that are filled in.
func (h *headerLines) headers() []wire.Header {
	list := []wire.Header{}
	for _, one := range h.filled() {
		list = append(list, wire.Header{Name: one.name.Text(), Value: one.value.Text()})
	}
	return list
}

func (h *headerLines) filled() []headerPair {
	return slices.DeleteFunc(slices.Clone(h.pairs), func(one headerPair) bool { return one.name.Empty() })
}

// about finds the header that the service complains of by its number.
func (h *headerLines) about(wrong wire.FieldError) *ui.Field {
	n, filled := 0, h.filled()
	if _, err := fmt.Sscanf(wrong.Message, "number %d:", &n); !strings.EqualFold(wrong.FieldName, HeadersField) || err != nil || n < 1 || n > len(filled) {
		return nil
	}
	if strings.Contains(wrong.Message, "its value") {
		return filled[n-1].value
	}
	return filled[n-1].name
}
