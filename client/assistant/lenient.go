package assistant

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Some assistants send arguments in other forms than the schemas have. They are accepted where
// the meaning is clear.

// list is a list of names. A text is a list in JSON, or the names with commas between them.
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*[]string)(l))
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return json.Unmarshal([]byte(text), (*[]string)(l))
	}
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			*l = append(*l, name)
		}
	}
	return nil
}

// count is a whole number that is not negative. A text may contain it.
type count int64

func (c *count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	digits := string(b)
	var text string
	if json.Unmarshal(b, &text) == nil {
		digits = strings.TrimSpace(text)
	}
	n, err := strconv.ParseFloat(digits, 64) // 5.0 is an integer in JSON Schema
	fits := n >= 0 && n <= math.MaxInt32
	if err != nil || n != math.Trunc(n) || !fits {
		return strconv.ErrSyntax
	}
	*c = count(n)
	return nil
}

// conditions are the members of a filter. A text may contain the object; an empty one has no
// conditions.
type conditions map[string]json.RawMessage

func (c *conditions) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*map[string]json.RawMessage)(c))
	}
	*c = nil
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), (*map[string]json.RawMessage)(c))
}
