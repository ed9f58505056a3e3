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
func JSV(text string) (value any, rest string) {
	r := jsvReader{text}
	return r.value(), r.rest
}

type jsvReader struct{ rest string }

// take skips c if the text starts with it.
func (r *jsvReader) take(c string) (was bool) {
	r.rest, was = strings.CutPrefix(r.rest, c)
	return was
}

func (r *jsvReader) value() any {
	switch {
	case r.take("{"):
		return r.object()
	case r.take("["):
		if r.take("]") {
			return []any{}
		}
		list := []any{r.value()}
		for !r.take("]") && r.take(",") {
			list = append(list, r.value())
		}
		return list
	}
	quoted := strings.HasPrefix(r.rest, `"`)
	if text := r.text(",]}"); text != "" || quoted {
		return text
	}
	return nil
}

func (r *jsvReader) object() map[string]any {
	object := make(map[string]any)
	for r.rest != "" && !r.take("}") {
		name := r.text(":")
		r.take(":")
		object[name] = r.value()
		r.take(",")
	}
	return object
}

func (r *jsvReader) text(ends string) string {
	if !r.take(`"`) {
		end := strings.IndexAny(r.rest, ends)
		if end < 0 {
			end = len(r.rest)
		}
		text := r.rest[:end]
		r.rest = r.rest[end:]
		return text
	}
	var text strings.Builder
	for {
		inner, rest, _ := strings.Cut(r.rest, `"`)
		r.rest = rest
		text.WriteString(inner)
		if !r.take(`"`) {
			return text.String()
		}
		text.WriteByte('"')
	}
}

func readJSV(body []byte, _ []string) ([]Row, error) {
	value, rest := JSV(string(body))
	envelope, ok := value.(map[string]any)
	if !ok || rest != "" {
		return nil, fmt.Errorf("the response is not an object, or is followed by %.40q", rest)
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
