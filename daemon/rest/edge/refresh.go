package edge

import (
	"strconv"
	"strings"
)

// MemberRefresh is the number of seconds after which a browser loads a page again.
const MemberRefresh = "Refresh"

// isRefresh reports whether a pair of a query string is the member Refresh.
func isRefresh(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	return strings.EqualFold(name, MemberRefresh)
}

// Limits of Refresh, in seconds.
const (
	minRefresh = 2
	maxRefresh = 3600
)

// ParseRefresh returns the seconds of the member Refresh within its limits, 0 if it is no number.
func ParseRefresh(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0
	}
	return min(maxRefresh, max(minRefresh, n))
}
