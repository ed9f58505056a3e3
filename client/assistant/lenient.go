package assistant

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Some assistants send arguments in other forms than the schemas have. They are accepted where
// the meaning is clear.

// list is a list of names. A text is a list of the names in it, which are separated by commas.
type list []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*[]string)(l))
	}
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*l = append(*l, name)
		}
	}
	return nil
}

// count is a whole number that is not negative. A text may contain it.
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(b []byte) error {
	digits := string(b)
	var text string
	if json.Unmarshal(b, &text) == nil && digits != "null" {
		digits = strings.TrimSpace(text)
	}
	if digits == "null" {
		return nil
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n > math.MaxInt32 {
		return strconv.ErrSyntax
	}
	*c = count(n)
	return nil
}

// conditions are the members of a filter. A text may contain the object.
type conditions map[string]json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (c *conditions) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil && text != "" {
		b = []byte(text)
	}
	return json.Unmarshal(b, (*map[string]json.RawMessage)(c))
}
