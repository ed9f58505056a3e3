package edge

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/requestlog"
)

// HTMLType is the Content-Type of pages.
const HTMLType = "text/html; charset=utf-8"

// StartPath is the path of the page that browsers see first.
const StartPath = "/Pages"

// AnyQuery is the operation of the routes that query the kind in their path. The
// documentation lists an operation for each kind instead.
const AnyQuery = "Query"

// LocalPath returns a path on this host. It starts with a single slash, since two
// would start a host name.
func LocalPath(u *url.URL) string {
	path := "/" + strings.Trim(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// WithoutPairs returns a URL without some of the pairs of its query string.
func WithoutPairs(u *url.URL, drop func(pair string) bool) url.URL {
	kept := *u
	kept.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), drop), "&")
	return kept
}

// WithoutSecrets returns a URL without the pairs of its query string that may be secret or cannot be
// decoded, for links and redirects.
func WithoutSecrets(u *url.URL) url.URL {
	return WithoutPairs(u, func(pair string) bool {
		text, err := url.QueryUnescape(pair)
		return err != nil || requestlog.IsSecret(text)
	})
}

// Truncate limits the length of a text in a log line.
func Truncate(text string) string {
	const maxLength = 2000
	if len(text) > maxLength {
		return text[:maxLength] + "..."
	}
	return text
}
