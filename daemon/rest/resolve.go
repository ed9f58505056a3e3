package rest

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/feeds"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// resolver finds out which call a request makes.
type resolver struct {
	router  *edge.Router
	queries *queries.Handler
}

// resolve returns the call that a request makes. It has no effects. allow has the methods of the
// path if the method is wrong or OPTIONS. The error is the first of those in URL and headers.
func (v resolver) resolve(r *http.Request, o *edge.Options) (call edge.Call, allow []string, err error) {
	match, allow, routeErr := v.router.Find(r.Method, r.URL.EscapedPath())
	members, queryErr := query.ReadForm(r.URL.RawQuery)
	kind, kindErr := v.queries.Kind(o, match.Route, match.Params)
	call = edge.Call{
		Route:      match.Route,
		Params:     match.Params,
		Suffix:     match.Suffix,
		Kind:       kind,
		URLMembers: members,
		Coding:     edge.AcceptedCoding(r.Header.Get("Accept-Encoding")),
		IsList:     match.Params.Get(edge.ParamList) != "",
		IsFeed:     match.Exact,
	}
	isPortal := match.Route != nil && match.Route.Portal
	call.InPortal = o.Portal && (isPortal || v.router.IsBelow(r.URL.EscapedPath(), edge.PortalPath))
	mayBeForm := kind != nil && !call.IsFeed && r.Method == http.MethodGet
	call.IsForm = mayBeForm && queries.SentByForm(r.URL.RawQuery)

	key, hasKey := members.Get(edge.ParamKey)
	call.HasSecret = hasKey || queryErr != nil
	if hasKey && o.KeyInURL {
		call.Key = strings.Join(key.Texts, ",")
		call.URLMembers = form.Without(members, edge.ParamKey)
	}

	formatErr := setFormat(&call, r.Header, o)
	if isPageLoad(r, &call) {
		call.Refresh = edge.ParseRefresh(call.URLMembers.Text(edge.MemberRefresh))
		call.URLMembers = form.Without(call.URLMembers, edge.MemberRefresh)
	}
	overrideErr := checkOverride(r)
	return call, allow, cmp.Or(overrideErr, routeErr, queryErr, formatErr, kindErr)
}

// isPageLoad reports whether a browser loads a page. Only then is Refresh not a member for the
// operation.
func isPageLoad(r *http.Request, call *edge.Call) bool {
	return r.Method == http.MethodGet && call.Format.Name == "html"
}

// setFormat sets the format of a call, with its options, from the path, the query string and the
// headers.
func setFormat(call *edge.Call, h http.Header, o *edge.Options) error {
	members := call.URLMembers
	if call.IsFeed {
		call.Format.Format = feeds.Negotiate(members, h)
		return nil
	}
	format, formatErr := edge.Negotiate(edge.FormatRequest{
		Prefix:   call.Params.Get(edge.ParamFormat),
		Suffix:   call.Suffix,
		Callback: members.Text(query.Callback),
		Format:   members.Text(query.Format),
		Accept:   strings.Join(h.Values("Accept"), ","),
	})
	if format.Binary { // it is compressed already
		call.Coding = nil
	}
	config := edge.ReadJSConfig(members.Text(query.JSConfig))
	config.ISODates = config.ISODates || o.ISODates
	format.Format, call.Unused = config.Apply(format.Format)
	bom, bomErr := form.BOM(members)
	format.BOM = bom
	call.Format = format
	return cmp.Or(formatErr, bomErr)
}

// hideSecret removes an API key from the URL, so that no link or redirect repeats it. Pairs that
// cannot be read are removed too, since they may contain the key.
func hideSecret(x *edge.Context) {
	edge.LoggedURL(x) // remembers the masked URL before the change: logs show that there was a key
	u := edge.WithoutPairs(x.Request.URL, func(pair string) bool {
		members, err := query.ReadForm(pair)
		_, isKey := members.Get(edge.ParamKey)
		return isKey || err != nil
	})
	x.Request = x.Request.WithContext(x.Request.Context()) // a copy: net/http holds the other one
	x.Request.URL = &u
}
