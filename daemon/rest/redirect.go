package rest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// sendToLogin answers a person's browser that is not signed in with the way to
// the login page, and back. Programs, and scripts of pages, get the 401.
func sendToLogin(x *edge.Context, f *fault.Error) bool {
	if f.Kind != fault.Unauthorized || x.Route == nil || x.Route.Role == account.NoRole || !x.HTML() || !navigates(x.Request) {
		return false
	}
	edge.ClearReply(x.Response.Header())
	back := "/" + strings.TrimLeft(x.Request.URL.RequestURI(), "/") // which would name another host with two slashes
	_ = x.Redirect(http.StatusFound, x.Base+"/login?"+memberRedirect+"="+url.QueryEscape(back))
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
