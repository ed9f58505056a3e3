package rest

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

const anyMethod = "GET POST PUT PATCH DELETE"

// newTable is the table of routes. The first route that fits a request counts.
func newTable(h *handlers) []operation {
	table := slices.Concat(recordOperations(h), accountOperations(h), serviceOperations(h), webhookOperations(h))
	for i := range table {
		o := &table[i]
		o.members = append(pathMembers(o), o.members...)
		for j := range o.routes {
			r := &o.routes[j]
			r.Operation, r.Role, r.Kind, r.Webhooks = o.name, o.role, o.kind, o.group == groupWebhooks
			r.Summary = cmp.Or(r.Summary, o.summary)
		}
	}
	return table
}

// routesOf are the routes of all operations.
func routesOf(table []operation) []edge.Route {
	var all []edge.Route
	for _, o := range table {
		all = append(all, o.routes...)
	}
	return all
}

// pathMembers are the members in an operation's paths that it does not describe.
func pathMembers(o *operation) []metadata.Member {
	var all []metadata.Member
	for _, r := range o.routes {
		for _, name := range metadata.InPath(r.Pattern) {
			same := func(m metadata.Member) bool { return m.Name == name }
			if !slices.Contains(edge.CommonParams, name) && !slices.ContainsFunc(o.members, same) && !slices.ContainsFunc(all, same) {
				all = append(all, metadata.Member{Name: name, Type: "string", Required: true})
			}
		}
	}
	return all
}

// recordOperations are those about records, logs and bills.
func recordOperations(h *handlers) []operation {
	return []operation{
		{name: "Authenticate", group: groupAccounts, summary: "Log in, or see whose session it is", answer: wire.AuthenticateResponse{}, members: []metadata.Member{
			{Name: memberUser, Type: "string", Help: "without it and Password: the present session"},
			{Name: memberPassword, Type: "string"},
			{Name: memberRemember, Type: "bool", Help: "the session outlives the browser"},
			{Name: memberProvider, Type: "string", Help: "credentials, or logout"},
			{Name: memberRedirect, Type: "string", Help: "page to show after a login by a page"},
		}, routes: []edge.Route{
			{Methods: "GET POST", Pattern: "/{Format}/reply/Authenticate", Changes: true, Serve: h.sessions.logIn, Summary: "Log in with UserName and Password; without them, the session"},
			{Methods: "GET POST", Pattern: "/api/Authenticate", Changes: true, Serve: h.sessions.logIn, Summary: "The same, the format by negotiation"},
			{Methods: "GET POST", Pattern: "/auth", Changes: true, Serve: h.sessions.logIn, Summary: "Log in, in a format by negotiation"},
			{Methods: "GET POST", Pattern: "/auth/credentials", Changes: true, Serve: h.sessions.logIn, Summary: "The same"},
			{Methods: "GET POST", Pattern: "/authenticate", Changes: true, Serve: h.sessions.logIn, Summary: "The same"},
			{Methods: "GET POST", Pattern: "/authenticate/credentials", Changes: true, Serve: h.sessions.logIn, Summary: "The same"}}},
		{name: "WH_AuditQuery", role: account.Admin, kind: "WH_Audit", routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/WH_AuditQuery", Serve: h.queries.serve, Summary: "The audit trail, newest first: who changed users, keys and settings"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/WH_AuditQuery", Status: http.StatusNoContent, Serve: h.queries.serveOneway, Summary: "The same without an answer"},
			{Methods: "GET POST", Pattern: "/Queries/WH_Audit", Serve: h.queries.serve, Summary: "The same, the format by negotiation"},
			{Methods: "GET POST", Pattern: "/api/WH_AuditQuery", Serve: h.queries.serve, Summary: "The same, the format by negotiation"}}},
		{name: logQuery, role: account.Admin, kind: "RequestLog", members: []metadata.Member{
			{Name: memberDate, Type: "DateTime", Help: "one day, of UTC; without it, all that is kept"},
			{Name: memberViewErrors, Type: "bool", Help: "only requests that failed"},
		}, routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/QueryRequestLogsGETManyRequest", Serve: h.logs.list, Summary: "Requests that the service has answered, newest first; of one Date, or with ViewErrors those that failed"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/QueryRequestLogsGETManyRequest", Status: http.StatusNoContent, Serve: h.logs.listOneway, Summary: "The same without an answer"},
			{Methods: "GET POST", Pattern: "/api/QueryRequestLogsGETManyRequest", Serve: h.logs.list, Summary: "The same, the format by negotiation"},
			{Methods: "GET", Pattern: "/Logs", Serve: h.logs.list, Summary: "The same, the format by negotiation"},
			{Methods: "GET", Pattern: "/Logs/Today", Serve: h.logs.of(today, false), Summary: "The requests of this day, of UTC"},
			{Methods: "GET", Pattern: "/Logs/Today/Errors", Serve: h.logs.of(today, true), Summary: "The requests of this day that failed"},
			{Methods: "GET", Pattern: "/Logs/Yesterday", Serve: h.logs.of(yesterday, false), Summary: "The requests of the day before, of UTC"},
			{Methods: "GET", Pattern: "/Logs/Yesterday/Errors", Serve: h.logs.of(yesterday, true), Summary: "The requests of the day before that failed"},
			{Methods: "GET", Pattern: "/Logs/{Date}", Serve: h.logs.list, Summary: "The requests of one day, of UTC"}}},
		{name: anyQuery, role: account.Reader, routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/{Operation}", Serve: h.queries.serve, Summary: "Records of one kind, filtered, ordered and paged"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/{Operation}", Status: http.StatusNoContent, Serve: h.queries.serveOneway, Summary: "The same without an answer"},
			{Methods: "GET POST", Pattern: "/Queries/{Kind}", Serve: h.queries.serve, Summary: "The same, the format by negotiation"},
			{Methods: "GET POST", Pattern: "/api/{Operation}", Serve: h.queries.serve, Summary: "The same, the format by negotiation"}}},
		{name: "UpdateBillStageCustomFieldValue", group: groupBills, role: account.Writer, summary: "Change what a custom field of a bill's stage holds", answer: wire.CustomFieldValue{}, members: []metadata.Member{
			{Name: "Contents", Type: "string", Required: true, Help: "an empty text clears it"},
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Changes: true, Serve: h.bills.set}}},
		{name: "GetBillStageCustomFieldValue", group: groupBills, role: account.Reader, summary: "What a custom field of a bill's stage holds", answer: wire.CustomFieldValue{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Serve: h.bills.value}}},
		{name: "GetBillStageCustomFieldValues", group: groupBills, role: account.Reader, summary: "The custom fields of a bill's stage, with what they hold", answer: []wire.CustomFieldValue{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues", Serve: h.bills.values}}},
	}
}

const roleHelp = "reader, publisher, writer or admin"

// accountOperations are those about sessions, users and keys.
func accountOperations(h *handlers) []operation {
	return []operation{
		{name: "Logout", group: groupAccounts, summary: "End the session", answer: wire.Failure{}, routes: []edge.Route{
			{Methods: "GET POST", Pattern: "/auth/logout", Changes: true, Serve: h.sessions.logout},
			{Methods: "GET POST", Pattern: "/authenticate/logout", Changes: true, Serve: h.sessions.logout, Summary: "The same"}}},
		{name: "KeepAlive", group: groupAccounts, role: account.Reader, summary: "Let the session go on", routes: []edge.Route{
			{Methods: "GET", Pattern: "/KeepAlive", SignedIn: true, Status: http.StatusNoContent, Serve: h.sessions.keepAlive}}},
		{name: "GetSession", group: groupAccounts, role: account.Reader, summary: "Who asks, and how they are known", answer: wire.CurrentSession{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Sessions/Current", SignedIn: true, Serve: h.sessions.current}}},
		{name: "EndSession", group: groupAccounts, role: account.Reader, summary: "End the session", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/Sessions/Current", SignedIn: true, Changes: true, Status: http.StatusNoContent, Serve: h.sessions.endSession}}},
		{name: "Users", group: groupAccounts, role: account.Admin, summary: "The users by name", answer: []wire.User{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Users", Serve: h.users.list}}},
		{name: "AddUser", group: groupAccounts, role: account.Admin, summary: "Add a user", answer: wire.User{}, members: []metadata.Member{
			{Name: memberUser, Type: "string", Required: true},
			{Name: memberPassword, Type: "string", Required: true},
			{Name: memberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: memberDisplayName, Type: "string"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Users", Changes: true, Status: http.StatusCreated, Serve: h.users.add, Summary: "Add a user with UserName, Password, Role and DisplayName"}}},
		{name: "GetUser", group: groupAccounts, role: account.Reader, summary: "One user", answer: wire.User{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Users/{UserName}", SignedIn: true, Serve: h.users.show, Summary: "One user; those who are no admin, themselves only"}}},
		{name: "ChangeUser", group: groupAccounts, role: account.Reader, summary: "Change a user", answer: wire.User{}, members: []metadata.Member{
			{Name: memberDisplayName, Type: "string"},
			{Name: memberRole, Type: "string", Help: roleHelp},
			{Name: memberPassword, Type: "string", Help: "the new one"},
			{Name: memberCurrentPassword, Type: "string", Help: "the present one, of who is no admin"},
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: "/Users/{UserName}", SignedIn: true, Changes: true, Serve: h.users.change, Summary: "Change DisplayName, Role or Password; those who are no admin, their own, with CurrentPassword and without Role"}}},
		{name: "RemoveUser", group: groupAccounts, role: account.Admin, summary: "Remove a user and end their sessions", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/Users/{UserName}", Changes: true, Status: http.StatusNoContent, Serve: h.users.remove}}},
		{name: "ApiKeys", group: groupAccounts, role: account.Admin, summary: "The API keys by name, without the keys themselves", answer: []wire.APIKey{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/ApiKeys", Serve: h.keys.list}}},
		{name: "AddApiKey", group: groupAccounts, role: account.Admin, summary: "Make an API key; it is shown this once", answer: wire.APIKey{}, members: []metadata.Member{
			{Name: memberName, Type: "string", Required: true},
			{Name: memberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: memberExpiry, Type: "DateTime", Help: "or never; without it, in 90 days"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/ApiKeys", Changes: true, Status: http.StatusCreated, Serve: h.keys.add, Summary: "Make an API key with Name, Role and ExpiryDateTime; it is shown this once"}}},
		{name: "GetApiKey", group: groupAccounts, role: account.Admin, summary: "One API key, without the key itself", answer: wire.APIKey{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/ApiKeys/{KeyID}", Serve: h.keys.show}}},
		{name: "RemoveApiKey", group: groupAccounts, role: account.Admin, summary: "End an API key", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/ApiKeys/{KeyID}", Changes: true, Status: http.StatusNoContent, Serve: h.keys.remove}}},
		{name: "Login", group: groupAccounts, summary: "The page to log in on", media: "text/html", members: []metadata.Member{
			{Name: memberRedirect, Type: "string", Help: "page to show afterwards"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/login", Serve: h.sessions.loginPage}}},
	}
}

// serviceOperations are those about the service itself.
func serviceOperations(h *handlers) []operation {
	return []operation{
		{name: "Info", group: groupService, summary: "Version, time, features and limits of the service", answer: wire.Info{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Info", Serve: h.info.show}}},
		{name: "Settings", group: groupService, role: account.Admin, summary: "The settings that may change while the service runs", answer: []wire.Setting{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Settings", Serve: h.info.listSettings}}},
		{name: "Home", group: groupService, summary: "Sends browsers to the list of operations", media: "text/html", routes: []edge.Route{
			{Methods: "GET", Pattern: "/", Serve: h.documents.home}}},
		{name: "GetMetadata", group: groupService, summary: "What the service can be asked", answer: wire.Metadata{}, members: []metadata.Member{
			{Name: memberOperation, Type: "string", Help: "name of an operation, to see all about it"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/metadata", Serve: h.documents.metadata, Summary: "What the service can be asked; with op, all about one operation"},
			{Methods: "GET", Pattern: "/{Format}/metadata", Serve: h.documents.metadata, Summary: "The same; browsers get a page all the same"}}},
		{name: "OpenAPI", group: groupService, summary: "The service's description by OpenAPI 3.1", media: "application/json", routes: []edge.Route{
			{Methods: "GET", Pattern: "/openapi.json", Serve: h.documents.openAPI}}},
		{name: "TypeScript", group: groupService, summary: "Types for the TypeScript client of ServiceStack", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/types/typescript", Serve: h.documents.typeScript}}},
		{name: "Health", group: groupService, summary: "Whether the process answers", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/healthz", Always: true, Serve: h.health.alive}}},
		{name: "Ready", group: groupService, summary: "Whether the service can do its work", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/readyz", Always: true, Serve: h.health.ready}}},
		{name: "Metrics", group: groupService, summary: "Figures for Prometheus", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/metrics", Always: true, Serve: h.health.metricsPage}}},
	}
}

// The paths of webhooks.
const (
	pathSubscribers   = "/Webhooks/Subscribers"
	pathSubscriber    = pathSubscribers + "/{SubscriberID}"
	pathSubscriptions = pathSubscriber + "/Subscriptions"
	pathSubscription  = pathSubscriptions + "/{SubscriptionID}"
	pathMessages      = pathSubscriber + "/Messages"
	pathMessage       = pathSubscription + "/Messages/{MessageID}"
)

// webhookOperations are those about webhooks. Where they take no role the
// SubscriberID is the key.
func webhookOperations(h *handlers) []operation {
	return []operation{
		{name: "Events", group: groupWebhooks, summary: "The events that subscriptions can be made for", answer: []wire.Event{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Events", Serve: h.events.list}}},
		{name: "RaiseEvent", group: groupWebhooks, role: account.Publisher, summary: "Raise an event", answer: wire.EventReceipt{}, members: []metadata.Member{
			{Name: memberEvent, Type: "string", Required: true, Help: "a published event"},
			{Name: memberBody, Type: "string", Required: true, Help: "what is delivered: a text, or any JSON, byte for byte"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Events", Changes: true, Large: true, Status: http.StatusCreated, Serve: h.events.add, Summary: "Raise an event: one message for each matching subscription"}}},
		{name: "TestTarget", group: groupWebhooks, summary: "An address to point a subscription at", media: "application/json", routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Test", Large: true, Status: http.StatusCreated, Serve: h.events.echo, Summary: "An address to point a subscription at: it answers with what it got"}}},
		{name: "SubscriberQuery", group: groupWebhooks, role: account.Admin, kind: "Subscriber", routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscribers, Serve: h.queries.serve, Summary: "The subscribers"}}},
		{name: "AddSubscriber", group: groupWebhooks, role: account.Admin, summary: "Add a subscriber", answer: wire.Subscriber{}, members: []metadata.Member{
			{Name: memberName, Type: "string", Required: true},
			{Name: memberEnabled, Type: "bool", Help: "true unless given"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscribers, Changes: true, Status: http.StatusCreated, Serve: h.subscribers.add, Summary: "Add a subscriber; its RecID is the SubscriberID"}}},
		{name: "GetSubscriber", group: groupWebhooks, role: account.Admin, summary: "One subscriber with its subscriptions", answer: wire.Subscriber{}, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscriber, Serve: h.subscribers.show}}},
		{name: "ChangeSubscriber", group: groupWebhooks, role: account.Admin, summary: "Rename, disable or enable a subscriber", answer: wire.Subscriber{}, members: []metadata.Member{
			{Name: memberName, Type: "string"},
			{Name: memberEnabled, Type: "bool"},
			rowHashMember,
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: pathSubscriber, Changes: true, Serve: h.subscribers.change}}},
		{name: "RemoveSubscriber", group: groupWebhooks, role: account.Admin, summary: "Remove a subscriber", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathSubscriber, Changes: true, Status: http.StatusNoContent, Serve: h.subscribers.remove, Summary: "Remove a subscriber with its subscriptions and messages"}}},
		{name: "Subscriptions", group: groupWebhooks, summary: "The subscriptions of a subscriber", answer: []wire.Subscription{}, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscriptions, Serve: h.subscriptions.list}}},
		{name: "AddSubscription", group: groupWebhooks, summary: "Add a subscription", answer: wire.Subscription{}, members: append([]metadata.Member{
			{Name: webhook.MemberURL, Type: "string", Required: true, Help: "the address that gets the messages"},
			{Name: webhook.MemberEvent, Type: "string", Required: true, Help: "a published event, a family such as debtor.*, or *"},
			{Name: memberEnabled, Type: "bool", Help: "true unless given"},
		}, subscriptionMembers...), routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscriptions, Changes: true, Status: http.StatusCreated, Serve: h.subscriptions.add, Summary: "Add a subscription; its secret is shown this once"}}},
		{name: "ChangeSubscription", group: groupWebhooks, summary: "Change a subscription", answer: wire.Subscription{}, members: append([]metadata.Member{
			{Name: webhook.MemberURL, Type: "string"},
			{Name: webhook.MemberEvent, Type: "string"},
			{Name: memberEnabled, Type: "bool"},
			rowHashMember,
		}, subscriptionMembers...), routes: []edge.Route{
			{Methods: "PATCH", Pattern: pathSubscriptions, Changes: true, Serve: h.subscriptions.change, Summary: "Change the subscription that the body names"},
			{Methods: "PATCH", Pattern: pathSubscription, Changes: true, Serve: h.subscriptions.change}}},
		{name: "GetSubscription", group: groupWebhooks, summary: "One subscription", answer: wire.Subscription{}, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscription, Serve: h.subscriptions.show}}},
		{name: "RemoveSubscription", group: groupWebhooks, summary: "Remove a subscription", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathSubscription, Changes: true, Status: http.StatusNoContent, Serve: h.subscriptions.remove, Summary: "Remove a subscription, and cancel what is pending"}}},
		{name: "TestSubscription", group: groupWebhooks, summary: "Send a message to a subscription", answer: wire.MessageState{}, members: []metadata.Member{
			{Name: memberEvent, Type: "string", Help: "a published event that the subscription takes, which the message looks like; it takes the role publisher"},
			{Name: memberBody, Type: "string", Help: "what is delivered, as in RaiseEvent; without it, a sample; it takes the role publisher"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscription + "/Test", Changes: true, Large: true, Status: http.StatusAccepted, Serve: h.messages.sendTest, Summary: "Send a message to a subscription, to see whether it arrives"}}},
		{name: "RotateSecret", group: groupWebhooks, summary: "Replace the secret of a subscription", answer: wire.RotatedSecret{}, members: []metadata.Member{
			{Name: webhook.MemberSecret, Type: "string", Help: "whsec_ and 24 to 64 bytes in base64; without it, a new one"},
			{Name: webhook.MemberKeepFor, Type: "string", Help: "how long the present one signs as well: 0, or such as 12h; without it, 24h"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscription + "/Secret", Changes: true, Serve: h.subscriptions.rotateSecret, Summary: "Replace the secret of a subscription; the new one is shown this once"}}},
		{name: "SubscriberMessages", group: groupWebhooks, kind: "Message", summary: "The messages of a subscriber", members: append(periodMembers[:2:2], metadata.Member{Name: inSubscriber, Type: "string", Required: true}), routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages, Serve: h.messages.list, Summary: "The messages of a subscriber, newest first"}}},
		{name: "SubscriberResponses", group: groupWebhooks, kind: "MessageResponse", summary: "The attempts to send a subscriber's messages", routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages + "/Responses", Serve: h.messages.list, Summary: "The attempts to send a subscriber's messages, newest first"}}},
		{name: "MessageResponses", group: groupWebhooks, kind: "MessageResponse", summary: "The attempts to send one message", routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages + "/{MessageID}/Responses", Serve: h.messages.list}}},
		{name: "RemoveMessage", group: groupWebhooks, summary: "Remove a message", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathMessage, Changes: true, Status: http.StatusNoContent, Serve: h.messages.remove, Summary: "Remove a message, and cancel what is pending of it"}}},
		{name: "RetryMessage", group: groupWebhooks, summary: "Send a message again that failed", answer: wire.MessageState{}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathMessage + "/Retry", Changes: true, Status: http.StatusAccepted, Serve: h.messages.retry}}},
		{name: "Stream", group: groupWebhooks, role: account.Admin, summary: "What happens to messages, as it happens", media: wire.MediaEventStream, members: []metadata.Member{
			{Name: memberTopics, Type: "string", Help: "of messages, stats and requests, separated by commas; without it, messages,stats"},
			{Name: memberLastEventID, Type: "string", Help: "behind which event to go on, for those who cannot send the header Last-Event-ID"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Stream", Streaming: true, Serve: h.streams.serve, Summary: "What happens to messages, as it happens, by server-sent events"}}},
		{name: "Stats", group: groupWebhooks, role: account.Admin, summary: "Figures of the delivery of webhooks", answer: wire.Stats{}, members: []metadata.Member{
			{Name: memberWindow, Type: "string", Help: "the time that the figures are of, such as 15m, from 1m to 24h; without it, 60m"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Stats", Serve: h.stats.show}}},
		{name: "MessageQuery", group: groupWebhooks, role: account.Admin, kind: "Message", members: periodMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Messages", Serve: h.queries.serve, Summary: "The messages of all subscribers, newest first"}}},
		{name: "AttemptQuery", group: groupWebhooks, role: account.Admin, kind: "Attempt", routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Messages/Responses", Serve: h.queries.serve, Summary: "The attempts to send the messages of all subscribers, newest first, with the text of answers"}}},
		{name: "RetryMessages", group: groupWebhooks, role: account.Admin, summary: "Send all messages again that match a filter", answer: wire.MessagesRetried{}, members: selectionMembers, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Messages/Retry", Changes: true, Serve: h.bulk.retry, Summary: "Send all messages again that match a filter and have failed"}}},
		{name: "DeleteMessages", group: groupWebhooks, role: account.Admin, summary: "Delete all messages that match a filter", answer: wire.MessagesDeleted{}, members: selectionMembers, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Messages/Delete", Changes: true, Serve: h.bulk.remove, Summary: "Delete all messages that match a filter, and cancel what is pending of them"}}},
		{name: "SubscriptionQuery", group: groupWebhooks, role: account.Admin, kind: "Subscription", routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Subscriptions", Serve: h.queries.serve, Summary: "The subscriptions of all subscribers"}}},
	}
}

// The members that several operations have.
var (
	rowHashMember = metadata.Member{Name: memberRowHash, Type: "string", Help: "of the state that the change is based on; another one is a conflict"}

	subscriptionMembers = []metadata.Member{
		{Name: webhook.MemberHeaders, Type: "string", Help: "headers to send: a list of Name and Value"},
		{Name: memberOrdered, Type: "bool", Help: "each message waits for the one before it"},
		{Name: webhook.MemberSchedule, Type: "string", Help: "waits between attempts, such as 5s,30s,2m; empty for the settings'"},
	}
)
