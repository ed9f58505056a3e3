package encodetest

import (
	"errors"
	"fmt"
	"strings"
)

// JSV reads one JSV value according to the documentation of the format and returns
// the remaining text. An object is a map[string]any, a list an []any, any other
// value its text. A value ends at a comma or a closing bracket, a name at a colon.
// Quoted text may contain all characters, with quotes doubled. A missing text is
// nil.
func JSV(text string) (value any, after string) {
	r := jsvReader{text}
	return r.value(), r.unread
}

// jsvReader reads values from the start of a text.
type jsvReader struct{ unread string }

// take skips c if the text starts with it.
func (r *jsvReader) take(c string) bool {
	after, found := strings.CutPrefix(r.unread, c)
	r.unread = after
	return found
}

// value reads a value of any kind.
func (r *jsvReader) value() any {
	if r.take("{") {
		return r.object()
	}
	if r.take("[") {
		return r.list()
	}
	quoted := strings.HasPrefix(r.unread, `"`)
	if text := r.text(",]}"); text != "" || quoted {
		return text
	}
	return nil
}

// list reads the items after an opening bracket.
func (r *jsvReader) list() []any {
	if r.take("]") {
		return []any{}
	}
	list := []any{r.value()}
	for !r.take("]") && r.take(",") {
		list = append(list, r.value())
	}
	return list
}

// object reads the members after an opening brace.
func (r *jsvReader) object() map[string]any {
	object := make(map[string]any)
	for r.unread != "" && !r.take("}") {
		name := r.text(":")
		r.take(":")
		object[name] = r.value()
		r.take(",")
	}
	return object
}

// text reads a text up to one of some characters, or a quoted text.
func (r *jsvReader) text(ends string) string {
	if !r.take(`"`) {
		end := strings.IndexAny(r.unread, ends)
		if end < 0 {
			end = len(r.unread)
		}
		text := r.unread[:end]
		r.unread = r.unread[end:]
		return text
	}
	var text strings.Builder
	for {
		inner, after, _ := strings.Cut(r.unread, `"`)
		r.unread = after
		text.WriteString(inner)
		if !r.take(`"`) {
			return text.String()
		}
		text.WriteByte('"')
	}
}

// readJSV reads the member Results.
func readJSV(body []byte, _ []string) ([]Row, error) {
	value, after := JSV(string(body))
	envelope, ok := value.(map[string]any)
	if !ok || after != "" {
		return nil, fmt.Errorf("the response is not an object, or is followed by %.40q", after)
	}
	results, ok := envelope["Results"].([]any)
	if !ok {
		return nil, errors.New("no member Results")
	}
	var rows []Row
	for _, result := range results {
		object, ok := result.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("row %d is %T", len(rows)+1, result)
		}
		row := make(Row)
		for name, value := range object {
			switch v := value.(type) {
			case nil:
			case string:
				row[name] = v
			default:
				return nil, fmt.Errorf("%s is %T", name, v)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
