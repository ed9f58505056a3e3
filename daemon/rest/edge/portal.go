package edge

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/requestlog"
)

// PortalPath is the path of the pages of subscribers.
const PortalPath = "/Webhooks/Portal"

// PortalCookie is the cookie of a session of a subscriber on its pages. It is sent to PortalPath only.
const PortalCookie = "whd-portal"

// Proofs are the headers with the credentials of a request.
var Proofs = []string{"Authorization", "Cookie", wire.HeaderSessionID}

// EnterPortal removes all credentials from a request of a page of subscribers but PortalCookie, so
// that a page never depends on another user of the browser. It sets the headers that all these
// pages have. Referrer-Policy keeps the addresses within the service; with no-referrer, browsers
// would send forms with the Origin null, which CSRF rejects.
func EnterPortal(x *Context) {
	r := x.Request.WithContext(x.Request.Context()) // a copy: net/http holds the other one
	r.Header = x.Request.Header.Clone()
	for _, name := range Proofs {
		r.Header.Del(name)
	}
	if cookie, err := x.Request.Cookie(PortalCookie); err == nil {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	x.Request = r
	x.Key = ""
	h := x.Response.Header()
	h.Set("Content-Security-Policy", policy) // has frame-ancestors 'none'
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
}

// isOfPortal reports whether an address may be that of a page of subscribers, which may have a
// SubscriberID.
func isOfPortal(u *url.URL) bool {
	return strings.Contains(strings.ToLower(u.Path), strings.ToLower(PortalPath))
}

// portalSite returns the site of a page of subscribers. None of its links has a SubscriberID.
func portalSite(x *Context) encode.Site {
	site := encode.Site{Base: x.Base, Portal: true, Back: x.Base + PortalPath, Refresh: x.Refresh}
	if x.Refresh > 0 {
		u := WithoutPairs(x.Request.URL, func(pair string) bool {
			text, err := url.QueryUnescape(pair)
			name, _, _ := strings.Cut(text, "=")
			isID := requestlog.IsSensitive(name) && !strings.EqualFold(name, "Key")
			return err != nil || isRefresh(pair) || isID
		})
		u = WithoutSecrets(&u)
		site.StopURL = LocalPath(&u)
	}
	return site
}
