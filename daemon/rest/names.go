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
	{Methods: anyMethod, Pattern: "/{Format}/reply/", ByName: true, Summary: "The operation by its name, with all members in the body or the query string"},
	{Methods: anyMethod, Pattern: "/{Format}/oneway/", ByName: true, Oneway: true, Status: http.StatusNoContent, Summary: "The same without a response"},
	{Methods: anyMethod, Pattern: "/api/", ByName: true, Summary: "The same, with content negotiation"},
}

// formOf returns the form of a route's pattern.
func formOf(r edge.Route) (edge.Route, bool) {
	i := slices.IndexFunc(nameForms, func(form edge.Route) bool { return strings.HasPrefix(r.Pattern, form.Pattern) })
	if i < 0 {
		return edge.Route{}, false
	}
	return nameForms[i], true
}

// byName returns the routes that call an operation by one of its names, in addition
// to those in its row. Their rules and handlers are those of the plain routes.
func (o *operation) byName(name string, plain []edge.Route) (all []edge.Route) {
	hasGet := slices.ContainsFunc(plain, func(r edge.Route) bool {
		return strings.Contains(r.Methods, http.MethodGet)
	})
	for _, form := range nameForms {
		r := plain[0]
		pattern := form.Pattern + name
		hasRow := slices.ContainsFunc(o.routes, func(r edge.Route) bool { return r.Pattern == pattern })
		if hasRow || form.Oneway && (r.Streaming || r.Always) {
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
		if slices.ContainsFunc(plain, func(r edge.Route) bool { return len(pathNames(r)) > 0 }) {
			r.Serve = membersAsPath(plain)
		}
		all = append(all, r)
	}
	return all
}

// isNamed reports whether the operation can be called by its name.
func (o *operation) isNamed() bool {
	return o.name != edge.AnyQuery && o.name != MCPOperation && !o.routes[0].Exact()
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
	add := func(key string, routes ...edge.Route) {
		for _, name := range aliases[key] {
			names, plain[name] = append(names, name), routes
		}
	}
	add(o.name, routes...)
	for _, r := range routes {
		add(r.Pattern, r)
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
// members and calls the handler of a plain route: that with the most parameters, all
// of which must be given, or else the first one.
func membersAsPath(plain []edge.Route) func(*edge.Context) error {
	return func(x *edge.Context) error {
		f := form.Read(x)
		if f.Err != nil {
			return f.Err
		}
		r := plain[0]
		for _, other := range plain[1:] {
			names := pathNames(other)
			isMissing := func(name string) bool { return !form.HasMember(f.Members, name) }
			if len(names) > len(pathNames(r)) && !slices.ContainsFunc(names, isMissing) {
				r = other
			}
		}
		for _, name := range pathNames(r) {
			x.Params = append(x.Params, edge.Param{Name: name, Value: f.Required(name)})
		}
		if err := f.Fault(); err != nil {
			return err
		}
		return r.Serve(x)
	}
}

// names returns all names by which the operations of a table can be called.
func names(table []operation) (all []string) {
	for i := range table {
		if o := &table[i]; o.isNamed() {
			others, _ := o.aliases()
			all = append(append(all, o.name), others...)
		}
	}
	return all
}

// overriddenMethod returns the request with the method that its
// X-HTTP-Method-Override names. Some clients and proxies can only send POST.
func overriddenMethod(r *http.Request) *http.Request {
	method := strings.ToUpper(r.Header.Get(wire.HeaderMethodOverride))
	if method == "" || r.Method != http.MethodPost || !slices.Contains(strings.Fields(anyMethod), method) {
		return r
	}
	r = r.WithContext(r.Context())
	r.Method = method
	return r
}

// checkOverride rejects a request with another method in X-HTTP-Method-Override,
// since its sender does not expect a POST.
func checkOverride(r *http.Request) error {
	method := r.Header.Get(wire.HeaderMethodOverride)
	if r.Method != http.MethodPost || method == "" || strings.EqualFold(method, http.MethodPost) {
		return nil
	}
	return fault.New(fault.Invalid, "%s must be one of %s", wire.HeaderMethodOverride,
		strings.ReplaceAll(anyMethod, " ", ", "))
}
