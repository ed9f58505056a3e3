package edge

import (
	"cmp"
	"net/http"
	"net/url"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
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

// PathWithoutSuffix returns the path of a request on this host, without the suffix of a format.
func PathWithoutSuffix(x *Context) string {
	path := LocalPath(&url.URL{Path: x.Request.URL.Path, RawPath: x.Request.URL.RawPath})
	if x.Suffix == "" {
		return path
	}
	folder, last := pathpkg.Split(path)
	name, _ := url.PathUnescape(last) // a valid path: the router has found the suffix in it
	return folder + url.PathEscape(name[:len(name)-len(".")-len(x.Suffix)])
}

// WithoutPairs returns a URL without some of the pairs of its query string.
func WithoutPairs(u *url.URL, drop func(pair string) bool) url.URL {
	kept := *u
	kept.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), drop), "&")
	return kept
}

// WithoutSecrets returns a URL without the pairs of its query string that may be secret or cannot be
// decoded, for links and redirects. Filters stay: without one, a link would lead to other rows.
func WithoutSecrets(u *url.URL) url.URL {
	filters := filtersByKey(u.Path)
	return WithoutPairs(u, func(pair string) bool {
		text, err := url.QueryUnescape(pair)
		if err != nil {
			return true
		}
		name, value, _ := strings.Cut(text, "=")
		isFilter := filters && (strings.EqualFold(name, "Key") || !requestlog.IsSecret(name))
		if isFilter {
			return requestlog.HoldsKey(value)
		}
		return requestlog.IsSecret(text)
	})
}

// filtersByKey reports whether a path is that of a list of messages, of an action on them, or of a
// history. There, Key is the subject of events; elsewhere it may be an API key.
func filtersByKey(path string) bool {
	folder, last := pathpkg.Split(strings.ToLower(strings.TrimRight(path, "/")))
	last, _, _ = strings.Cut(last, ".")
	return last == "messages" || last == "why" || pathpkg.Base(folder) == "allmessages"
}

// Truncate limits the length of a text in a log line.
func Truncate(text string) string {
	const maxLength = 2000
	if len(text) > maxLength {
		return text[:maxLength] + "..."
	}
	return text
}

// withoutCredentials returns a URL without the pairs of its query string that may be credentials, for
// links to the same rows: all filters remain, also those with values such as the address of an
// endpoint with a token.
func withoutCredentials(u *url.URL) url.URL {
	return WithoutPairs(u, func(pair string) bool {
		text, err := url.QueryUnescape(pair)
		name, _, _ := strings.Cut(text, "=")
		isField := strings.EqualFold(name, "Key")
		return err != nil || requestlog.HoldsKey(text) || !isField && requestlog.IsSecret(name)
	})
}

// AddSite sets the site of a page from the request.
func AddSite(x *Context) { x.site = new(SiteOf(x)) }

// SiteOf returns the site of a page.
func SiteOf(x *Context) encode.Site {
	if x.InPortal {
		return portalSite(x)
	}
	site := encode.Site{
		Base:    x.Base,
		User:    x.Identity.DisplayName,
		Session: x.Identity.AuthMethod == account.Cookie,
		Admin:   x.Identity.Role.Includes(account.Admin),
		Docs:    x.HasDocs,
		Refresh: x.Refresh,
		Instead: x.instead,
	}
	if site.User == "" {
		site.User = x.Identity.Name
	}
	if x.Kind != nil {
		site.Operation = OperationOf(x)
	}
	site.Back = backOf(x)
	if x.Refresh > 0 {
		u := WithoutPairs(x.Request.URL, isRefresh)
		u = withoutCredentials(&u)
		site.StopURL = LocalPath(&u)
	}
	if x.Request.Method == http.MethodGet || x.Request.Method == http.MethodHead {
		u := WithoutSecrets(x.Request.URL)
		site.Location = LocalPath(&u)
	}
	return site
}

// backOf returns the page of this service that led to a request, empty if it is not known.
func backOf(x *Context) string {
	u, err := url.Parse(x.Request.Header.Get("Referer"))
	if err != nil || u.Host == "" || isOfPortal(u) {
		return ""
	}
	secure := u.Scheme == "https"
	isHere := strings.EqualFold(bareHost(u.Host, secure), bareHost(x.Origin.Host, secure))
	if !isHere {
		return ""
	}

	// Without secrets both: a page that was loaded again leads back to itself.
	referring, requested := WithoutSecrets(u), WithoutSecrets(x.Request.URL)
	back := LocalPath(&referring)
	if back == LocalPath(&requested) {
		return ""
	}
	return back
}

// PublicURL returns the base URL of the service from outside: that of the settings, or else as the
// client used it.
func PublicURL(x *Context) string { return cmp.Or(x.Options.PublicURL, ServiceURL(x)) }

// ServiceURL returns the base URL of the service as the client used it.
func ServiceURL(x *Context) string {
	scheme := "http"
	if x.Origin.Secure {
		scheme = "https"
	}
	return scheme + "://" + x.Origin.Host + x.Base
}

// OperationOf returns the name of a query's operation.
func OperationOf(x *Context) string {
	if x.Route == nil || x.Route.Operation == AnyQuery {
		return x.Kind.Operation()
	}
	return x.Route.Operation
}
