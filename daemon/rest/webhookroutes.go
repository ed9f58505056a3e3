package rest

import (
	"fmt"
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/webhooks"
	"github.com/bizhook/whd/daemon/webhook"
)

// The paths of webhooks.
const (
	pathSubscribers   = "/Webhooks/Subscribers"
	pathSubscriber    = pathSubscribers + "/{SubscriberID}"
	pathSubscriptions = pathSubscriber + "/Subscriptions"
	pathSubscription  = pathSubscriptions + "/{SubscriptionID}"
	pathHeaders       = pathSubscription + "/RequestHeaders"
	pathMessages      = pathSubscriber + "/Messages"
	pathMessage       = pathSubscription + "/Messages/{MessageID}"
)

// webhookOperations are the operations on webhooks. Those without a role are
// authorized by the SubscriberID.
func webhookOperations(h *handlers) []operation {
	return []operation{
		{
			name:     "Events",
			group:    groupWebhooks,
			summary:  "The published events",
			response: []wire.Event{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Webhooks/Events", Serve: h.webhooks.Events.List},
			},
		},
		{
			name:     "RaiseEvent",
			group:    groupWebhooks,
			role:     account.Publisher,
			summary:  "Publish an event",
			response: wire.EventReceipt{},
			members: []metadata.Member{
				{Name: webhooks.MemberEvent, Type: "string", Required: true, Help: "a published event"},
				{
					Name:     webhooks.MemberBody,
					Type:     "object",
					Required: true,
					Help:     "the payload: a string, or any JSON value, delivered byte for byte",
				},
				{
					Name: webhooks.MemberKey,
					Type: "string",
					Help: fmt.Sprintf("the subject of the event, such as the number of a document, "+
						"up to %d characters; messages can be found by it", webhooks.MaxKey),
				},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Webhooks/Events",
					Changes: true,
					Large:   true,
					Status:  http.StatusCreated,
					Serve:   h.webhooks.Events.Add,
					Summary: "Publish an event: creates one message for each matching subscription",
				},
			},
		},
		{
			name:    "TestTarget",
			group:   groupWebhooks,
			summary: "A target for testing subscriptions",
			media:   "application/json",
			members: []metadata.Member{
				{Name: webhooks.MemberBody, Type: "object", Help: "any body is accepted"},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Webhooks/Test",
					Large:   true,
					Status:  http.StatusCreated,
					Serve:   h.webhooks.Events.Echo,
					Summary: "A target for testing subscriptions: it returns the body of the request",
				},
			},
		},
		{
			name:  "SubscriberQuery",
			group: groupWebhooks,
			role:  account.Admin,
			kind:  "Subscriber",
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: pathSubscribers,
					Page:    edge.StartPath + "/Subscribers",
					Serve:   h.queries.Serve,
					Summary: "The subscribers",
				},
			},
		},
		{
			name:     "AddSubscriber",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "Add a subscriber",
			response: wire.Subscriber{},
			members: []metadata.Member{
				{Name: webhooks.MemberName, Type: "string", Required: true},
				{Name: webhooks.MemberEnabled, Type: "bool", Help: "default: true"},
				recIDMember,
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: pathSubscribers,
					Changes: true,
					Status:  http.StatusCreated,
					Serve:   h.webhooks.Subscribers.Add,
					Summary: "Add a subscriber; its RecID is the SubscriberID",
				},
			},
		},
		{
			name:     "GetSubscriber",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "One subscriber with its subscriptions",
			response: wire.Subscriber{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: pathSubscriber, Serve: h.webhooks.Subscribers.Show},
			},
		},
		{
			name:     "ChangeSubscriber",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "Rename, disable or enable a subscriber",
			response: wire.Subscriber{},
			members: []metadata.Member{
				{Name: webhooks.MemberName, Type: "string"},
				{Name: webhooks.MemberEnabled, Type: "bool"},
				rowHashMember,
			},
			routes: []edge.Route{
				{Methods: "PATCH", Pattern: pathSubscriber, Changes: true, Serve: h.webhooks.Subscribers.Change},
			},
		},
		{
			name:    "RemoveSubscriber",
			group:   groupWebhooks,
			role:    account.Admin,
			summary: "Remove a subscriber",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: pathSubscriber,
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.webhooks.Subscribers.Remove,
					Summary: "Remove a subscriber with its subscriptions and messages",
				},
			},
		},
		{
			name:     "Subscriptions",
			group:    groupWebhooks,
			summary:  "The subscriptions of a subscriber",
			response: []wire.Subscription{},
			members:  form.PageMembers,
			routes: []edge.Route{
				{Methods: "GET", Pattern: pathSubscriptions, Serve: h.webhooks.Subscriptions.List},
			},
		},
		{
			name:     "AddSubscription",
			group:    groupWebhooks,
			summary:  "Add a subscription",
			response: wire.Subscription{},
			members: append([]metadata.Member{
				{
					Name:     webhook.MemberURL,
					Type:     "string",
					Required: true,
					Help:     "the address that receives the messages",
				},
				{
					Name:     webhook.MemberEvent,
					Type:     "string",
					Required: true,
					Help:     "a published event, a pattern such as debtor.*, or *",
				},
				{Name: webhooks.MemberEnabled, Type: "bool", Help: "default: true"},
				recIDMember,
				{
					Name:   webhook.MemberSecret,
					Type:   "string",
					Secret: true,
					Help:   "whsec_ and 24 to 64 bytes in base64; generated if omitted; requires the role admin",
				},
			}, subscriptionMembers...),
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: pathSubscriptions,
					Changes: true,
					Status:  http.StatusCreated,
					Serve:   h.webhooks.Subscriptions.Add,
					Summary: "Add a subscription; its secret is shown only once",
				},
			},
		},
		{
			name:     "ChangeSubscription",
			group:    groupWebhooks,
			summary:  "Change a subscription",
			response: wire.Subscription{},
			members: append([]metadata.Member{
				{Name: webhook.MemberURL, Type: "string"},
				{Name: webhook.MemberEvent, Type: "string"},
				{Name: webhooks.MemberEnabled, Type: "bool"},
				rowHashMember,
			}, subscriptionMembers...),
			routes: []edge.Route{
				{
					Methods: "PATCH",
					Pattern: pathSubscriptions,
					Changes: true,
					Serve:   h.webhooks.Subscriptions.Change,
					Summary: "Change the subscription named in the body",
				},
				{Methods: "PATCH", Pattern: pathSubscription, Changes: true, Serve: h.webhooks.Subscriptions.Change},
			},
		},
		{
			name:     "GetSubscription",
			group:    groupWebhooks,
			summary:  "One subscription",
			response: wire.Subscription{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: pathSubscription, Serve: h.webhooks.Subscriptions.Show},
			},
		},
		{
			name:    "RemoveSubscription",
			group:   groupWebhooks,
			summary: "Remove a subscription",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: pathSubscription,
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.webhooks.Subscriptions.Remove,
					Summary: "Remove a subscription and cancel its pending messages",
				},
			},
		},
		{
			name:     "ReplaceRequestHeaders",
			group:    groupWebhooks,
			summary:  "Replace the headers of a subscription",
			response: []wire.Header{},
			members: []metadata.Member{
				{
					Name:     webhook.MemberRequestHeaders,
					Type:     "Header[]",
					Required: true,
					Help:     headersHelp + "; empty to remove all",
				},
			},
			routes: []edge.Route{
				{
					Methods: "PUT",
					Pattern: pathHeaders,
					Changes: true,
					Serve:   h.webhooks.Subscriptions.ReplaceHeaders,
				},
			},
		},
		{
			name:    "RemoveRequestHeaders",
			group:   groupWebhooks,
			summary: "Remove all headers of a subscription",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: pathHeaders,
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.webhooks.Subscriptions.RemoveHeaders,
				},
			},
		},
		{
			name:    "RemoveRequestHeader",
			group:   groupWebhooks,
			summary: "Remove one header of a subscription",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: pathHeaders + "/{SubscriptionRequestHeaderID}",
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.webhooks.Subscriptions.RemoveHeaders,
				},
			},
		},
		{
			name:     "TestSubscription",
			group:    groupWebhooks,
			summary:  "Send a test message to a subscription",
			response: wire.MessageState{},
			members: []metadata.Member{
				{
					Name: webhooks.MemberEvent,
					Type: "string",
					Help: "a published event that the subscription matches, used as the event of the message; requires the role publisher",
				},
				{
					Name: webhooks.MemberBody,
					Type: "object",
					Help: "the payload, as in RaiseEvent; a sample if omitted; requires the role publisher",
				},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: pathSubscription + "/Test",
					Changes: true,
					Large:   true,
					Status:  http.StatusAccepted,
					Serve:   h.webhooks.Messages.SendTest,
					Summary: "Send a test message to a subscription",
				},
			},
		},
		{
			name:     "RotateSecret",
			group:    groupWebhooks,
			summary:  "Replace the secret of a subscription",
			response: wire.RotatedSecret{},
			members: []metadata.Member{
				{
					Name:   webhook.MemberSecret,
					Type:   "string",
					Secret: true,
					Help:   "whsec_ and 24 to 64 bytes in base64; generated if omitted",
				},
				{
					Name: webhook.MemberKeepFor,
					Type: "string",
					Help: fmt.Sprintf("how long the replaced secret also signs: a duration from 0 to %.0fh, "+
						"such as 12h, 7d or PT12H; 0 ends all earlier ones at once; default: %.0fh",
						webhook.MaxKeepFor.Hours(), webhook.DefaultKeepFor.Hours()),
				},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: pathSubscription + "/Secret",
					Changes: true,
					Serve:   h.webhooks.Subscriptions.RotateSecret,
					Summary: "Replace the secret of a subscription; the new one is shown only once",
				},
			},
		},
		{
			name:    "SubscriberMessages",
			group:   groupWebhooks,
			kind:    "Message",
			summary: "The messages of a subscriber",
			members: append(webhooks.PeriodMembers[:2:2], subscriberMember),
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: pathMessages,
					Serve:   h.webhooks.Messages.List,
					Summary: "The messages of a subscriber, newest first",
				},
			},
		},
		{
			name:    "SubscriberResponses",
			group:   groupWebhooks,
			kind:    "MessageResponse",
			summary: "The delivery attempts of a subscriber's messages",
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: pathMessages + "/Responses",
					Serve:   h.webhooks.Messages.List,
					Summary: "The delivery attempts of a subscriber's messages, by message, the newest message first",
				},
			},
		},
		{
			name:    "MessageResponses",
			group:   groupWebhooks,
			kind:    "MessageResponse",
			summary: "The delivery attempts of one message",
			routes: []edge.Route{
				{Methods: "GET", Pattern: pathMessages + "/{MessageID}/Responses", Serve: h.webhooks.Messages.List},
			},
		},
		{
			name:    "RemoveMessage",
			group:   groupWebhooks,
			summary: "Remove a message",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: pathMessage,
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.webhooks.Messages.Remove,
					Summary: "Remove a message and cancel its pending attempt",
				},
			},
		},
		{
			name:     "RetryMessage",
			group:    groupWebhooks,
			summary:  "Retry a failed message",
			response: wire.MessageState{},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: pathMessage + "/Retry",
					Changes: true,
					Status:  http.StatusAccepted,
					Serve:   h.webhooks.Messages.Retry,
				},
			},
		},
		{
			name:    "Stream",
			group:   groupWebhooks,
			role:    account.Admin,
			summary: "Live stream of message events and statistics",
			media:   wire.MediaEventStream,
			members: []metadata.Member{
				{
					Name: webhooks.MemberTopics,
					Type: "string",
					Help: "messages, stats or requests, separated by commas; default: messages,stats",
				},
				{
					Name: webhooks.MemberLastEventID,
					Type: "string",
					Help: "id of the last event received, for clients that cannot send the header Last-Event-ID",
				},
			},
			routes: []edge.Route{
				{
					Methods:   "GET",
					Pattern:   "/Webhooks/Stream",
					Streaming: true,
					Serve:     h.webhooks.Streams.Serve,
					Summary:   "Live stream of message events and statistics, as server-sent events",
				},
			},
		},
		{
			name:     "Stats",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "Statistics of webhook delivery",
			response: wire.Stats{},
			members: []metadata.Member{
				{
					Name: webhooks.MemberWindow,
					Type: "string",
					Help: "the period of the statistics, from 1m to 24h; default: 60m",
				},
			},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Webhooks/Stats", Serve: h.webhooks.Stats.Show},
			},
		},
		{
			name:  "SubscriptionQuery",
			group: groupWebhooks,
			role:  account.Admin,
			kind:  "Subscription",
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Webhooks/Subscriptions",
					Page:    edge.StartPath + "/Subscriptions",
					Serve:   h.queries.Serve,
					Summary: "The subscriptions of all subscribers",
				},
			},
		},
	}
}

// messageOperations are the operations on the messages of all subscribers.
func messageOperations(h *handlers) []operation {
	return []operation{
		{
			name:    "MessageQuery",
			group:   groupWebhooks,
			role:    account.Admin,
			kind:    "Message",
			members: webhooks.PeriodMembers,
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Webhooks/Messages",
					Page:    edge.StartPath + "/Messages",
					Serve:   h.webhooks.Messages.Query,
					Summary: "The messages of all subscribers, newest first",
				},
			},
		},
		{
			name:  "AttemptQuery",
			group: groupWebhooks,
			role:  account.Admin,
			kind:  "Attempt",
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Webhooks/Messages/Responses",
					Serve:   h.queries.Serve,
					Summary: "The delivery attempts of all messages, by message, the newest message first, with the response texts",
				},
			},
		},
		{
			name:     "Why",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "The history of a key or of a message",
			response: wire.Why{},
			members: []metadata.Member{
				{Name: webhooks.MemberKey, Type: "string", Help: "the key of events, or of a captured record"},
				{
					Name: webhooks.MemberMessage,
					Type: "string",
					Help: "instead of a key: the ID of a message, to see only its event and its attempts",
				},
			},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Webhooks/Why",
					Serve:   h.webhooks.Why.Show,
					Summary: "The history of a key or message, in the order of time: changes of records, events, messages and attempts, and why any of them are missing",
				},
				{Methods: "GET", Pattern: "/Webhooks/Why/{Key}", Serve: h.webhooks.Why.Show, Summary: "The same"},
			},
		},
		{
			name:     "RetryMessages",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "Retry all messages that match a filter",
			response: wire.MessagesRetried{},
			members:  webhooks.SelectionMembers,
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Webhooks/Messages/Retry",
					Changes: true,
					Serve:   h.webhooks.Bulk.Retry,
					Summary: "Retry all failed messages that match a filter, and send delivered ones again if it has Status=1",
				},
			},
		},
		{
			name:     "DeleteMessages",
			group:    groupWebhooks,
			role:     account.Admin,
			summary:  "Delete all messages that match a filter",
			response: wire.MessagesDeleted{},
			members:  webhooks.SelectionMembers,
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Webhooks/Messages/Delete",
					Changes: true,
					Serve:   h.webhooks.Bulk.Remove,
					Summary: "Delete all messages that match a filter and cancel their pending attempts",
				},
			},
		},
	}
}

const headersHelp = "headers to send: a list of objects with Name and Value"

// Members of several operations.
var (
	subscriberMember = metadata.Member{Name: webhooks.InSubscriber, Type: "string", Required: true}

	rowHashMember = metadata.Member{
		Name: webhooks.MemberRowHash,
		Type: "string",
		Help: "the RowHash that the change is based on; a different current value is a conflict",
	}

	recIDMember = metadata.Member{
		Name: webhook.MemberRecID,
		Type: "string",
		Help: "a GUID that is not in use; generated if omitted; requires the role admin",
	}

	subscriptionMembers = []metadata.Member{
		{
			Name: webhook.MemberHeaders,
			Type: "Header[]",
			Help: headersHelp,
		},
		{
			Name: webhook.MemberRequestHeaders,
			Type: "Header[]",
			Help: "another name for Headers",
		},
		{
			Name: webhooks.MemberOrdered,
			Type: "bool",
			Help: "deliver messages in order: each one waits for the previous one",
		},
		{
			Name: webhooks.MemberOrderBy,
			Type: "string",
			Help: "none, subscription (the same as Ordered), or key: each message waits for the previous one with the same Key",
		},
		{
			Name: webhook.MemberSchedule,
			Type: "string",
			Help: "delays between attempts, such as 5s,30s,2m; empty for the default of the settings",
		},
		{
			Name: webhook.MemberRate,
			Type: "int",
			Help: "attempts that may start in a minute; 0 for the default of the settings",
		},
		{
			Name: webhook.MemberFormat,
			Type: "string",
			Help: "cloudevents adds the headers of CloudEvents to each message; read from the body only",
		},
		{
			Name: webhook.MemberWhere,
			Type: "object",
			Help: "condition on the events: members of queries over the Record of a change, Changed and Before.MEMBER, " +
				"or over the members of a posted body; {} for all events",
		},
	}
)
