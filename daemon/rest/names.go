package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// aliases has the names by which the releases of the reference service, and clients
// generated from them, call the operations. The key is an operation, or a path that
// has names of its own.
var aliases = map[string][]string{
	"Authenticate":                    {"LoginPOSTRequest"},
	"Logout":                          {"LogoutGetRequest"},
	"Login":                           {"LoginGetRequest"},
	"KeepAlive":                       {"KeepAliveGETRequest"},
	"GetSession":                      {"AuthCurrentSessionGETRequest"},
	"SystemInfo":                      {"SystemInformationGETRequest"},
	"RestPaths":                       {"RestPathsGETManyRequest"},
	"/Logs/Today":                     {"TodayLogsGETManyRequest"},
	"/Logs/Today/Errors":              {"TodayErrorLogsGETManyRequest"},
	"/Logs/Yesterday":                 {"YesterdayLogsGETManyRequest"},
	"/Logs/Yesterday/Errors":          {"YesterdayErrorLogsGETManyRequest"},
	"UpdateBillStageCustomFieldValue": {"BillStageCustomFieldValuePATCHRequest"},
	"GetBillStageCustomFieldValue":    {"BillStageCustomFieldValueGETRequest"},
	"GetBillStageCustomFieldValues":   {"BillStageCustomFieldValuesGETManyRequest"},
	"Events":                          {"WebhooksEventsGETRequest", "WebhooksEventsGETManyRequest"},
	"RaiseEvent":                      {"WebhooksEventsPOSTRequest", "WebhooksEventPOSTRequest"},
	"TestTarget":                      {"WebhooksTestPOSTRequest"},
	"SubscriberQuery":                 {"WebhooksSubscribersGETManyRequest"},
	"AddSubscriber":                   {"WebhooksSubscribersPOSTRequest", "WebhooksSubscriberPOSTRequest"},
	"GetSubscriber":                   {"WebhooksSubscribersGETRequest", "WebhooksSubscriberGETRequest"},
	"ChangeSubscriber":                {"WebhooksSubscribersPATCHRequest", "WebhooksSubscriberPATCHRequest"},
	"RemoveSubscriber":                {"WebhooksSubscribersDELETERequest", "WebhooksSubscriberDELETERequest"},
	"Subscriptions":                   {"WebhooksSubscriptionsGETRequest", "WebhooksSubscriptionsGETManyRequest"},
	"AddSubscription":                 {"WebhooksSubscriptionsPOSTRequest", "WebhooksSubscriptionPOSTRequest"},
	"GetSubscription":                 {"WebhooksSubscriptionGETRequest"},
	"ChangeSubscription":              {"WebhooksSubscriptionsPATCHRequest", "WebhooksSubscriptionPATCHRequest"},
	"RemoveSubscription":              {"WebhooksSubscriptionsDELETERequest", "WebhooksSubscriptionDELETERequest"},
	"SubscriberMessages":              {"WebhooksMessagesGETRequest", "WebhooksMessagesGETManyRequest"},
	"SubscriberResponses":             {"WebhooksMessageResponsesGETRequest"},
	"ReplaceRequestHeaders":           {"WebhooksSubscriptionRequestHeadersPUTRequest"},
	"RemoveRequestHeader":             {"WebhooksSubscriptionRequestHeaderDELETERequest"},
	"RemoveMessage":                   {"WebhooksMessagesDELETERequest", "WebhooksMessageDELETERequest"},
}

// nameForms are the routes by which an operation is called by its name, which is
// appended to the pattern.
var nameForms = []edge.Route{
	{
		Methods: anyMethod,
		Pattern: "/{Format}/reply/",
		ByName:  true,
		Summary: "The operation by its name, with all members in the body or the query string",
	},
	{
		Methods: anyMethod,
		Pattern: "/{Format}/oneway/",
		ByName:  true,
		Oneway:  true,
		Status:  http.StatusNoContent,
		Summary: "The same without a response",
	},
	{
		Methods: anyMethod,
		Pattern: "/api/",
		ByName:  true,
		Summary: "The same, with content negotiation",
	},
}

// formOf returns the form of the pattern of a route by name, and false for a plain route.
func formOf(r edge.Route) (form edge.Route, ok bool) {
	for _, form := range nameForms {
		if strings.HasPrefix(r.Pattern, form.Pattern) {
			return form, true
		}
	}
	return edge.Route{}, false
}

// byName returns the routes that call an operation by one of its names, in addition
// to those in its row. They have the rules and the handlers of the plain routes.
func (o *operation) byName(name string, plain []edge.Route) []edge.Route {
	hasGet := slices.ContainsFunc(plain, func(r edge.Route) bool {
		return strings.Contains(r.Methods, http.MethodGet)
	})
	hasPathNames := slices.ContainsFunc(plain, func(r edge.Route) bool { return len(pathNames(r)) > 0 })
	var routes []edge.Route
	for _, form := range nameForms {
		r := plain[0]
		needsResponse := r.Streaming || r.Always
		if form.Oneway && needsResponse {
			continue
		}
		pattern := form.Pattern + name
		isInRow := slices.ContainsFunc(o.routes, func(r edge.Route) bool { return r.Pattern == pattern })
		if isInRow {
			continue
		}

		r.Redacted = r.Redacts()
		r.NoHead = r.Changes && !hasGet
		r.Pattern = pattern
		r.Methods = form.Methods
		r.Summary = form.Summary
		r.ByName = true
		r.Oneway = form.Oneway
		if form.Oneway {
			r.Status = form.Status
		}
		if hasPathNames {
			r.Serve = o.membersAsPath(plain)
		}
		routes = append(routes, r)
	}
	return routes
}

// isNamed reports whether the operation can be called by its name.
func (o *operation) isNamed() bool {
	switch o.name {
	case edge.AnyQuery, MCPOperation, manualOperation:
		return false
	}
	return !o.routes[0].Exact()
}

// plain returns the routes of an operation that do not call it by a name.
func (o *operation) plain() []edge.Route {
	return slices.DeleteFunc(slices.Clone(o.routes), func(r edge.Route) bool { return r.ByName })
}

// aliases returns the other names of the operation, with the plain routes of
// each.
func (o *operation) aliases() (names []string, plain map[string][]edge.Route) {
	routes := o.plain()
	plain = make(map[string][]edge.Route)
	for _, name := range aliases[o.name] {
		names = append(names, name)
		plain[name] = routes
	}
	for _, r := range routes {
		for _, name := range aliases[r.Pattern] {
			names = append(names, name)
			plain[name] = []edge.Route{r}
		}
	}
	return names, plain
}

// pathNames returns the names of the members in a route's path.
func pathNames(r edge.Route) []string {
	return slices.DeleteFunc(metadata.InPath(r.Pattern), func(name string) bool {
		return slices.Contains(edge.CommonParams, name)
	})
}

// membersAsPath returns a handler that takes the values of path parameters from the
// members and calls the handler of a plain route. It is the route with the most parameters among
// those for which the request has all of them, or else the first one.
func (o *operation) membersAsPath(plain []edge.Route) func(*edge.Context) error {
	kindOf := o.kindOf
	return func(x *edge.Context) error {
		f := form.Read(x)
		if f.Err != nil {
			return f.Err
		}
		isMissing := func(name string) bool { return !form.HasMember(f.Members, name) }
		r := plain[0]
		for _, candidate := range plain[1:] {
			names := pathNames(candidate)
			if len(names) > len(pathNames(r)) && !slices.ContainsFunc(names, isMissing) {
				r = candidate
			}
		}
		params := slices.Clone(x.Params)
		for _, name := range pathNames(r) {
			params = append(params, edge.Param{Name: name, Value: f.Required(name)})
		}
		if err := f.Fault(); err != nil {
			return err
		}
		kind, err := kindOf(x.Options, x.Route, params)
		if err != nil {
			return err
		}
		x.Call = x.Call.WithPath(params, kind)
		return r.Serve(x)
	}
}

// names returns all names by which the operations of a table can be called.
func names(table []operation) []string {
	var names []string
	for i := range table {
		o := &table[i]
		if !o.isNamed() {
			continue
		}
		otherNames, _ := o.aliases()
		names = append(names, o.name)
		names = append(names, otherNames...)
	}
	return names
}

// overrideHeader is wire.HeaderMethodOverride in the spelling of net/http, which looks up another one
// more slowly. Every request is checked for it.
var overrideHeader = http.CanonicalHeaderKey(wire.HeaderMethodOverride)

// overriddenMethod returns the request with the method that its
// X-HTTP-Method-Override names. Some clients and proxies can only send POST.
func overriddenMethod(r *http.Request) *http.Request {
	method := strings.ToUpper(r.Header.Get(overrideHeader))
	if method == "" || r.Method != http.MethodPost || !slices.Contains(strings.Fields(anyMethod), method) {
		return r
	}
	overridden := r.WithContext(r.Context()) // a copy: net/http holds the other one
	overridden.Method = method
	return overridden
}

// checkOverride rejects a request with an X-HTTP-Method-Override that overriddenMethod did not
// apply, since its sender does not expect a POST.
func checkOverride(r *http.Request) error {
	method := r.Header.Get(overrideHeader)
	if r.Method != http.MethodPost || method == "" || strings.EqualFold(method, http.MethodPost) {
		return nil
	}
	return fault.New(fault.Invalid, "%s must be one of %s", wire.HeaderMethodOverride,
		strings.ReplaceAll(anyMethod, " ", ", "))
}
