package webhooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Names of the header fields in a form. Errors of the service use HeadersField
// for all headers.
const (
	HeadersField     = "Headers"
	headerValueField = "HeaderValue"
)

// headerLines are the header lines of a form, one header per line.
type headerLines struct {
	Form  *ui.Form
	pairs []headerPair
	names []string // names of the stored headers; the service does not return their values
}

// headerPair is one header line.
type headerPair struct{ name, value *ui.Field }

// addHeaders adds a line for each header in names, or an empty line if there is
// none.
func addHeaders(f *ui.Form, names []string) *headerLines {
	h := &headerLines{Form: f, names: names}
	for _, name := range names {
		h.add(len(f.Fields), name, true)
	}
	if len(names) == 0 {
		h.add(len(f.Fields), "", false)
	}
	f.FieldFor = h.fieldFor
	return h
}

// add inserts a header line into the form at an index. With stored, the service
// has a value for the header.
func (h *headerLines) add(index int, name string, stored bool) {
	label := ""
	if len(h.pairs) == 0 {
		label = HeadersField
	}
	nameHelp := "header name, such as Authorization; leave empty for none"
	valueHelp := "header value; enter accepts it and adds a line for another header"
	line := headerPair{
		name:  ui.NewField(HeadersField, label, name, nameHelp),
		value: ui.NewField(headerValueField, "", "", valueHelp),
	}
	line.value.Masked = true
	line.value.Stored = stored
	line.value.SameLine = true
	if len(h.names) > 0 {
		line.name.Help = "stored values are not shown: " +
			"to change, add or remove a header, enter the values of all headers again"
		line.value.Help = "a value is stored and not shown; typing replaces it"
	}
	line.name.Check = func() string { return h.checkName(line) }
	line.value.Check = func() string { return h.checkValue(line) }
	line.value.AddMore = func() { h.addNext(line) }
	h.pairs = append(h.pairs, line)
	h.Form.Fields = slices.Insert(h.Form.Fields, index, line.name, line.value)
}

// addNext adds an empty line after the last line if that is complete.
func (h *headerLines) addNext(line headerPair) {
	isLast := line == h.pairs[len(h.pairs)-1]
	if isLast && !line.name.Empty() && !line.value.Empty() {
		h.add(slices.Index(h.Form.Fields, line.value)+1, "", false)
	}
}

// checkName returns an error text if a line above has the same name.
func (h *headerLines) checkName(line headerPair) string {
	for _, above := range h.pairs {
		if above == line {
			return ""
		}
		if !line.name.Empty() && strings.EqualFold(above.name.Text(), line.name.Text()) {
			return "duplicate header " + above.name.Text()
		}
	}
	return ""
}

// checkValue returns an error text for a value without a name, and for a stored
// value that must be sent but is unknown here.
func (h *headerLines) checkValue(line headerPair) string {
	if line.name.Empty() && line.value.Text() != "" {
		return "the header name is missing"
	}
	if !line.name.Empty() && line.value.Stored && h.changed() {
		return "saving replaces all headers: enter this value again, or clear the name to remove the header"
	}
	return ""
}

// changed reports whether the headers differ from the stored ones.
func (h *headerLines) changed() bool {
	var names []string
	for _, line := range h.pairs {
		if line.name.Empty() {
			continue
		}
		if !line.value.Stored {
			return true
		}
		names = append(names, line.name.Text())
	}
	return !slices.Equal(names, h.names)
}

// headers returns the headers with a name.
func (h *headerLines) headers() []wire.Header {
	list := []wire.Header{}
	for _, line := range h.filled() {
		list = append(list, wire.Header{Name: line.name.Text(), Value: line.value.Text()})
	}
	return list
}

// filled returns the lines with a name.
func (h *headerLines) filled() []headerPair {
	return slices.DeleteFunc(slices.Clone(h.pairs), func(line headerPair) bool { return line.name.Empty() })
}

// fieldFor returns the field of the header that an error of the service names by
// number, nil if there is none.
func (h *headerLines) fieldFor(wrong wire.FieldError) *ui.Field {
	if !strings.EqualFold(wrong.FieldName, HeadersField) {
		return nil
	}
	filled := h.filled()
	n := 0
	_, err := fmt.Sscanf(wrong.Message, "number %d:", &n)
	if err != nil || n < 1 || n > len(filled) {
		return nil
	}
	if strings.Contains(wrong.Message, "its value") {
		return filled[n-1].value
	}
	return filled[n-1].name
}
