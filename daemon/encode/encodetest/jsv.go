package encodetest

import (
	"errors"
	"fmt"
	"strings"
)

// The characters at which an unquoted text ends. A text that contains one is quoted.
const (
	jsvValueEnds = "[]{},"
	jsvNameEnds  = "[]{},:"
)

// JSV reads a JSV value according to the documentation of the format. An object is a
// map[string]any, a list an []any, any other value its text, and a missing text nil. Quoted text
// may contain all characters, with quotes doubled. A value that is cut off or lacks a separator, and
// text after it, are errors.
func JSV(text string) (any, error) {
	r := jsvReader{text}
	value, err := r.value()
	if err == nil && r.unread != "" {
		return nil, r.missing("the end")
	}
	return value, err
}

// jsvReader reads values from the start of a text.
type jsvReader struct{ unread string }

// missing returns the error of a text that continues with something else than expected.
func (r *jsvReader) missing(expected string) error {
	return fmt.Errorf("expected %s before %.40q", expected, r.unread)
}

// take skips c if the text starts with it.
func (r *jsvReader) take(c string) bool {
	after, ok := strings.CutPrefix(r.unread, c)
	r.unread = after
	return ok
}

// value reads a value of any kind.
func (r *jsvReader) value() (any, error) {
	if r.take("{") {
		return r.object()
	}
	if r.take("[") {
		return r.list()
	}
	isQuoted := strings.HasPrefix(r.unread, `"`)
	text, err := r.text(jsvValueEnds)
	if text == "" && !isQuoted {
		return nil, err
	}
	return text, err
}

// list reads the items after an opening bracket.
func (r *jsvReader) list() ([]any, error) {
	list := []any{}
	if r.take("]") {
		return list, nil
	}
	for {
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		if r.take("]") {
			return list, nil
		}
		if !r.take(",") {
			return nil, r.missing("a comma or ] after an item")
		}
	}
}

// object reads the members after an opening brace.
func (r *jsvReader) object() (map[string]any, error) {
	object := make(map[string]any)
	if r.take("}") {
		return object, nil
	}
	for {
		name, err := r.text(jsvNameEnds)
		if err != nil {
			return nil, err
		}
		if !r.take(":") {
			return nil, r.missing("a colon after the name " + name)
		}
		object[name], err = r.value()
		if err != nil {
			return nil, err
		}
		if r.take("}") {
			return object, nil
		}
		if !r.take(",") {
			return nil, r.missing("a comma or } after the value of " + name)
		}
	}
}

// text reads a text up to one of some characters, or a quoted text.
func (r *jsvReader) text(ends string) (string, error) {
	if !r.take(`"`) {
		end := strings.IndexAny(r.unread, ends)
		if end < 0 {
			end = len(r.unread)
		}
		text := r.unread[:end]
		r.unread = r.unread[end:]
		return text, nil
	}
	var text strings.Builder
	for {
		inner, after, isClosed := strings.Cut(r.unread, `"`)
		if !isClosed {
			return "", errors.New("a quoted text has no closing quote")
		}
		r.unread = after
		text.WriteString(inner)
		if !r.take(`"`) {
			return text.String(), nil
		}
		text.WriteByte('"')
	}
}

// readJSV reads the member Results.
func readJSV(body []byte, _ []string) ([]Row, error) {
	value, err := JSV(string(body))
	if err != nil {
		return nil, err
	}
	envelope, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the response is %T, not an object", value)
	}
	results, ok := envelope["Results"].([]any)
	if !ok {
		return nil, fmt.Errorf("the member Results is %T, not a list", envelope["Results"])
	}
	var rows []Row
	for i, result := range results {
		row, err := jsvRow(result)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// jsvRow returns an item of Results as a row.
func jsvRow(result any) (Row, error) {
	object, ok := result.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %T, not an object", result)
	}
	row := make(Row)
	for name, value := range object {
		switch v := value.(type) {
		case nil: // a null is an absent member, see Row
		case string:
			row[name] = v
		default:
			return nil, fmt.Errorf("%s is %T, not a text", name, v)
		}
	}
	return row, nil
}
