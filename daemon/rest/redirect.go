package rest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// sendToLogin answers a person's browser that is not signed in with the way to
// the login page, and back. Programs, and scripts of pages, get the 401.
func sendToLogin(x *exchange, f *fault.Error) bool {
	if f.Kind != fault.Unauthorized || x.route == nil || x.route.role == account.NoRole || !x.html() || !navigates(x.r) {
		return false
	}
	clearReply(x.w.Header())
	back := "/" + strings.TrimLeft(x.r.URL.RequestURI(), "/") // which would name another host with two slashes
	_ = x.redirect(http.StatusFound, x.base+"/login?"+memberRedirect+"="+url.QueryEscape(back))
	return true
}

// navigates reports whether a request may be that of a person who follows a
// link. Those who send a header to prove who they are do not want a form.
func navigates(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.Header.Get(wire.HeaderSessionID) != "" {
		return false
	}
	mode := r.Header.Get("Sec-Fetch-Mode")
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (mode == "" || mode == "navigate")
}
