package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/webhook"
)

const groupWebhooks = "Webhooks"

// The paths of webhooks.
const (
	pathSubscribers   = "/Webhooks/Subscribers"
	pathSubscriber    = pathSubscribers + "/{SubscriberID}"
	pathSubscriptions = pathSubscriber + "/Subscriptions"
	pathSubscription  = pathSubscriptions + "/{SubscriptionID}"
	pathMessages      = pathSubscriber + "/Messages"
	pathMessage       = pathSubscription + "/Messages/{MessageID}"
)

// webhookRoutes is the part of the table that is about webhooks. Where no role
// is given the SubscriberID is the key.
func (s *Server) webhookRoutes() []route {
	table := []route{
		{methods: "GET", pattern: "/Webhooks/Events", serve: s.events,
			operation: "Events", summary: "The events that subscriptions can be made for"},
		{methods: "POST", pattern: "/Webhooks/Events", role: account.Publisher, changes: true, large: true, status: http.StatusCreated, serve: s.raiseEvent,
			operation: "RaiseEvent", summary: "Raise an event: one message for each matching subscription"},
		{methods: "POST", pattern: "/Webhooks/Test", large: true, status: http.StatusCreated, serve: s.testTarget,
			operation: "TestTarget", summary: "An address to point a subscription at: it answers with what it got"},

		{methods: "GET", pattern: pathSubscribers, role: account.Admin, kind: "Subscriber", serve: s.query,
			operation: "SubscriberQuery", summary: "The subscribers"},
		{methods: "POST", pattern: pathSubscribers, role: account.Admin, changes: true, status: http.StatusCreated, serve: s.addSubscriber,
			operation: "AddSubscriber", summary: "Add a subscriber; its RecID is the SubscriberID"},
		{methods: "GET", pattern: pathSubscriber, role: account.Admin, serve: s.subscriber,
			operation: "GetSubscriber", summary: "One subscriber with its subscriptions"},
		{methods: "PATCH", pattern: pathSubscriber, role: account.Admin, changes: true, serve: s.changeSubscriber,
			operation: "ChangeSubscriber", summary: "Rename, disable or enable a subscriber"},
		{methods: "DELETE", pattern: pathSubscriber, role: account.Admin, changes: true, status: http.StatusNoContent, serve: s.removeSubscriber,
			operation: "RemoveSubscriber", summary: "Remove a subscriber with its subscriptions and messages"},

		{methods: "GET", pattern: pathSubscriptions, serve: s.subscriptions,
			operation: "Subscriptions", summary: "The subscriptions of a subscriber"},
		{methods: "POST", pattern: pathSubscriptions, changes: true, status: http.StatusCreated, serve: s.addSubscription,
			operation: "AddSubscription", summary: "Add a subscription; its secret is shown this once"},
		{methods: "PATCH", pattern: pathSubscriptions, changes: true, serve: s.changeSubscription,
			operation: "ChangeSubscription", summary: "Change the subscription that the body names"},
		{methods: "GET", pattern: pathSubscription, serve: s.subscription,
			operation: "GetSubscription", summary: "One subscription"},
		{methods: "PATCH", pattern: pathSubscription, changes: true, serve: s.changeSubscription,
			operation: "ChangeSubscription", summary: "Change a subscription"},
		{methods: "DELETE", pattern: pathSubscription, changes: true, status: http.StatusNoContent, serve: s.removeSubscription,
			operation: "RemoveSubscription", summary: "Remove a subscription, and cancel what is pending"},
		{methods: "POST", pattern: pathSubscription + "/Test", changes: true, large: true, status: http.StatusAccepted, serve: s.testSubscription,
			operation: "TestSubscription", summary: "Send a message to a subscription, to see whether it arrives"},

		{methods: "POST", pattern: pathSubscription + "/Secret", changes: true, serve: s.rotateSecret,
			operation: "RotateSecret", summary: "Replace the secret of a subscription; the new one is shown this once"},

		{methods: "GET", pattern: pathMessages, kind: "Message", serve: s.subscriberRows,
			operation: "SubscriberMessages", summary: "The messages of a subscriber, newest first"},
		{methods: "GET", pattern: pathMessages + "/Responses", kind: "MessageResponse", serve: s.subscriberRows,
			operation: "SubscriberResponses", summary: "The attempts to send a subscriber's messages, newest first"},
		{methods: "GET", pattern: pathMessages + "/{MessageID}/Responses", kind: "MessageResponse", serve: s.subscriberRows,
			operation: "MessageResponses", summary: "The attempts to send one message"},
		{methods: "DELETE", pattern: pathMessage, changes: true, status: http.StatusNoContent, serve: s.removeMessage,
			operation: "RemoveMessage", summary: "Remove a message, and cancel what is pending of it"},
		{methods: "POST", pattern: pathMessage + "/Retry", changes: true, status: http.StatusAccepted, serve: s.retryMessage,
			operation: "RetryMessage", summary: "Send a message again that failed"},

		{methods: "GET", pattern: "/Webhooks/Stream", role: account.Admin, lasting: true, serve: s.liveStream,
			operation: "Stream", summary: "What happens to messages, as it happens, by server-sent events"},
		{methods: "GET", pattern: "/Webhooks/Stats", role: account.Admin, serve: s.stats,
			operation: "Stats", summary: "Figures of the delivery of webhooks"},
		{methods: "GET", pattern: "/Webhooks/Messages", role: account.Admin, kind: "Message", serve: s.query,
			operation: "MessageQuery", summary: "The messages of all subscribers, newest first"},
		{methods: "GET", pattern: "/Webhooks/Messages/Responses", role: account.Admin, kind: "Attempt", serve: s.query,
			operation: "AttemptQuery", summary: "The attempts to send the messages of all subscribers, newest first, with the text of answers"},
		{methods: "POST", pattern: "/Webhooks/Messages/Retry", role: account.Admin, changes: true, serve: s.retryMessages,
			operation: "RetryMessages", summary: "Send all messages again that match a filter and have failed"},
		{methods: "POST", pattern: "/Webhooks/Messages/Delete", role: account.Admin, changes: true, serve: s.deleteMessages,
			operation: "DeleteMessages", summary: "Delete all messages that match a filter, and cancel what is pending of them"},
		{methods: "GET", pattern: "/Webhooks/Subscriptions", role: account.Admin, kind: "Subscription", serve: s.query,
			operation: "SubscriptionQuery", summary: "The subscriptions of all subscribers"},
	}
	for i := range table {
		table[i].webhooks = true
	}
	return table
}

// webhookOperations is operations for webhooks.
func webhookOperations() []metadata.Operation {
	one := []metadata.Member{subscriberInPath, subscriptionInPath}
	return []metadata.Operation{
		{Name: "Events", Group: groupWebhooks, Summary: "The events that subscriptions can be made for", Answer: []wire.Event{}},
		{Name: "RaiseEvent", Group: groupWebhooks, Summary: "Raise an event", Answer: wire.EventReceipt{}, Members: []metadata.Member{
			{Name: memberEvent, Type: "string", Required: true, Help: "a published event"},
			{Name: memberBody, Type: "string", Required: true, Help: "what is delivered: a text, or any JSON, byte for byte"},
		}},
		{Name: "TestTarget", Group: groupWebhooks, Summary: "An address to point a subscription at", Media: "application/json"},
		{Name: "AddSubscriber", Group: groupWebhooks, Summary: "Add a subscriber", Answer: wire.Subscriber{}, Members: []metadata.Member{
			{Name: memberName, Type: "string", Required: true},
			{Name: memberEnabled, Type: "bool", Help: "true unless given"},
		}},
		{Name: "GetSubscriber", Group: groupWebhooks, Summary: "One subscriber with its subscriptions", Answer: wire.Subscriber{}, Members: []metadata.Member{subscriberInPath}},
		{Name: "ChangeSubscriber", Group: groupWebhooks, Summary: "Rename, disable or enable a subscriber", Answer: wire.Subscriber{}, Members: []metadata.Member{
			subscriberInPath,
			{Name: memberName, Type: "string"},
			{Name: memberEnabled, Type: "bool"},
			rowHashMember,
		}},
		{Name: "RemoveSubscriber", Group: groupWebhooks, Summary: "Remove a subscriber", Members: []metadata.Member{subscriberInPath}},
		{Name: "Subscriptions", Group: groupWebhooks, Summary: "The subscriptions of a subscriber", Answer: []wire.Subscription{}, Members: []metadata.Member{subscriberInPath}},
		{Name: "AddSubscription", Group: groupWebhooks, Summary: "Add a subscription", Answer: wire.Subscription{}, Members: append([]metadata.Member{
			subscriberInPath,
			{Name: webhook.MemberURL, Type: "string", Required: true, Help: "the address that gets the messages"},
			{Name: webhook.MemberEvent, Type: "string", Required: true, Help: "a published event, a family such as debtor.*, or *"},
			{Name: memberEnabled, Type: "bool", Help: "true unless given"},
		}, subscriptionMembers...)},
		{Name: "ChangeSubscription", Group: groupWebhooks, Summary: "Change a subscription", Answer: wire.Subscription{}, Members: append([]metadata.Member{
			subscriberInPath, subscriptionInPath,
			{Name: webhook.MemberURL, Type: "string"},
			{Name: webhook.MemberEvent, Type: "string"},
			{Name: memberEnabled, Type: "bool"},
			rowHashMember,
		}, subscriptionMembers...)},
		{Name: "GetSubscription", Group: groupWebhooks, Summary: "One subscription", Answer: wire.Subscription{}, Members: one},
		{Name: "TestSubscription", Group: groupWebhooks, Summary: "Send a message to a subscription", Answer: wire.MessageState{}, Members: append(one[:2:2],
			metadata.Member{Name: memberEvent, Type: "string", Help: "a published event that the subscription takes, which the message looks like; it takes the role publisher"},
			metadata.Member{Name: memberBody, Type: "string", Help: "what is delivered, as in RaiseEvent; without it, a sample; it takes the role publisher"},
		)},
		{Name: "RemoveSubscription", Group: groupWebhooks, Summary: "Remove a subscription", Members: one},
		{Name: "RotateSecret", Group: groupWebhooks, Summary: "Replace the secret of a subscription", Answer: wire.RotatedSecret{}, Members: append(one[:2:2],
			metadata.Member{Name: webhook.MemberSecret, Type: "string", Help: "whsec_ and 24 to 64 bytes in base64; without it, a new one"},
			metadata.Member{Name: webhook.MemberKeepFor, Type: "string", Help: "how long the present one signs as well: 0, or such as 12h; without it, 24h"},
		)},
		{Name: "SubscriberMessages", Group: groupWebhooks, Summary: "The messages of a subscriber", Members: append(periodMembers[:2:2], subscriberInPath)},
		{Name: "MessageQuery", Members: periodMembers},
		{Name: "Stream", Group: groupWebhooks, Summary: "What happens to messages, as it happens", Media: wire.MediaEventStream, Members: []metadata.Member{
			{Name: memberTopics, Type: "string", Help: "of messages, stats and requests, separated by commas; without it, messages,stats"},
			{Name: memberLastEventID, Type: "string", Help: "behind which event to go on, for those who cannot send the header Last-Event-ID"},
		}},
		{Name: "Stats", Group: groupWebhooks, Summary: "Figures of the delivery of webhooks", Answer: wire.Stats{}, Members: []metadata.Member{
			{Name: memberWindow, Type: "string", Help: "the time that the figures are of, such as 15m, from 1m to 24h; without it, 60m"},
		}},
		{Name: "RetryMessages", Group: groupWebhooks, Summary: "Send all messages again that match a filter", Answer: wire.MessagesRetried{}, Members: selectionMembers},
		{Name: "DeleteMessages", Group: groupWebhooks, Summary: "Delete all messages that match a filter", Answer: wire.MessagesDeleted{}, Members: selectionMembers},
		{Name: "SubscriberResponses", Group: groupWebhooks, Summary: "The attempts to send a subscriber's messages", Members: []metadata.Member{subscriberInPath}},
		{Name: "MessageResponses", Group: groupWebhooks, Summary: "The attempts to send one message", Members: []metadata.Member{subscriberInPath, messageInPath}},
		{Name: "RemoveMessage", Group: groupWebhooks, Summary: "Remove a message", Members: append(one, messageInPath)},
		{Name: "RetryMessage", Group: groupWebhooks, Summary: "Send a message again that failed", Answer: wire.MessageState{}, Members: append(one, messageInPath)},
	}
}

// The members that several operations have.
var (
	subscriberInPath   = metadata.Member{Name: inSubscriber, Type: "string", Required: true}
	subscriptionInPath = metadata.Member{Name: inSubscription, Type: "string", Required: true}
	messageInPath      = metadata.Member{Name: inMessage, Type: "string", Required: true}
	rowHashMember      = metadata.Member{Name: memberRowHash, Type: "string", Help: "of the state that the change is based on; another one is a conflict"}

	subscriptionMembers = []metadata.Member{
		{Name: webhook.MemberHeaders, Type: "string", Help: "headers to send: a list of Name and Value"},
		{Name: memberOrdered, Type: "bool", Help: "each message waits for the one before it"},
		{Name: webhook.MemberSchedule, Type: "string", Help: "waits between attempts, such as 5s,30s,2m; empty for the settings'"},
	}
)
