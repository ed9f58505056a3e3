package rest

import (
	"strconv"
	"strings"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// clean makes part of a request fit for a header or a message: printable
// ASCII, on one line, of bounded length.
func clean(text string) string {
	safe := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(safe) > 500 {
		safe = safe[:500] + "..."
	}
	return safe
}
