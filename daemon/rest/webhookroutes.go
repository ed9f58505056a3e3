package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
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
func (s *Server) webhookRoutes() []edge.Route {
	table := []edge.Route{
		{Methods: "GET", Pattern: "/Webhooks/Events", Serve: s.handlers.events.list,
			Operation: "Events", Summary: "The events that subscriptions can be made for"},
		{Methods: "POST", Pattern: "/Webhooks/Events", Role: account.Publisher, Changes: true, Large: true, Status: http.StatusCreated, Serve: s.handlers.events.add,
			Operation: "RaiseEvent", Summary: "Raise an event: one message for each matching subscription"},
		{Methods: "POST", Pattern: "/Webhooks/Test", Large: true, Status: http.StatusCreated, Serve: s.handlers.events.echo,
			Operation: "TestTarget", Summary: "An address to point a subscription at: it answers with what it got"},

		{Methods: "GET", Pattern: pathSubscribers, Role: account.Admin, Kind: "Subscriber", Serve: s.handlers.queries.serve,
			Operation: "SubscriberQuery", Summary: "The subscribers"},
		{Methods: "POST", Pattern: pathSubscribers, Role: account.Admin, Changes: true, Status: http.StatusCreated, Serve: s.handlers.subscribers.add,
			Operation: "AddSubscriber", Summary: "Add a subscriber; its RecID is the SubscriberID"},
		{Methods: "GET", Pattern: pathSubscriber, Role: account.Admin, Serve: s.handlers.subscribers.show,
			Operation: "GetSubscriber", Summary: "One subscriber with its subscriptions"},
		{Methods: "PATCH", Pattern: pathSubscriber, Role: account.Admin, Changes: true, Serve: s.handlers.subscribers.change,
			Operation: "ChangeSubscriber", Summary: "Rename, disable or enable a subscriber"},
		{Methods: "DELETE", Pattern: pathSubscriber, Role: account.Admin, Changes: true, Status: http.StatusNoContent, Serve: s.handlers.subscribers.remove,
			Operation: "RemoveSubscriber", Summary: "Remove a subscriber with its subscriptions and messages"},

		{Methods: "GET", Pattern: pathSubscriptions, Serve: s.handlers.subscriptions.list,
			Operation: "Subscriptions", Summary: "The subscriptions of a subscriber"},
		{Methods: "POST", Pattern: pathSubscriptions, Changes: true, Status: http.StatusCreated, Serve: s.handlers.subscriptions.add,
			Operation: "AddSubscription", Summary: "Add a subscription; its secret is shown this once"},
		{Methods: "PATCH", Pattern: pathSubscriptions, Changes: true, Serve: s.handlers.subscriptions.change,
			Operation: "ChangeSubscription", Summary: "Change the subscription that the body names"},
		{Methods: "GET", Pattern: pathSubscription, Serve: s.handlers.subscriptions.show,
			Operation: "GetSubscription", Summary: "One subscription"},
		{Methods: "PATCH", Pattern: pathSubscription, Changes: true, Serve: s.handlers.subscriptions.change,
			Operation: "ChangeSubscription", Summary: "Change a subscription"},
		{Methods: "DELETE", Pattern: pathSubscription, Changes: true, Status: http.StatusNoContent, Serve: s.handlers.subscriptions.remove,
			Operation: "RemoveSubscription", Summary: "Remove a subscription, and cancel what is pending"},
		{Methods: "POST", Pattern: pathSubscription + "/Test", Changes: true, Large: true, Status: http.StatusAccepted, Serve: s.handlers.messages.sendTest,
			Operation: "TestSubscription", Summary: "Send a message to a subscription, to see whether it arrives"},

		{Methods: "POST", Pattern: pathSubscription + "/Secret", Changes: true, Serve: s.handlers.subscriptions.rotateSecret,
			Operation: "RotateSecret", Summary: "Replace the secret of a subscription; the new one is shown this once"},

		{Methods: "GET", Pattern: pathMessages, Kind: "Message", Serve: s.handlers.messages.list,
			Operation: "SubscriberMessages", Summary: "The messages of a subscriber, newest first"},
		{Methods: "GET", Pattern: pathMessages + "/Responses", Kind: "MessageResponse", Serve: s.handlers.messages.list,
			Operation: "SubscriberResponses", Summary: "The attempts to send a subscriber's messages, newest first"},
		{Methods: "GET", Pattern: pathMessages + "/{MessageID}/Responses", Kind: "MessageResponse", Serve: s.handlers.messages.list,
			Operation: "MessageResponses", Summary: "The attempts to send one message"},
		{Methods: "DELETE", Pattern: pathMessage, Changes: true, Status: http.StatusNoContent, Serve: s.handlers.messages.remove,
			Operation: "RemoveMessage", Summary: "Remove a message, and cancel what is pending of it"},
		{Methods: "POST", Pattern: pathMessage + "/Retry", Changes: true, Status: http.StatusAccepted, Serve: s.handlers.messages.retry,
			Operation: "RetryMessage", Summary: "Send a message again that failed"},

		{Methods: "GET", Pattern: "/Webhooks/Stream", Role: account.Admin, Streaming: true, Serve: s.handlers.streams.serve,
			Operation: "Stream", Summary: "What happens to messages, as it happens, by server-sent events"},
		{Methods: "GET", Pattern: "/Webhooks/Stats", Role: account.Admin, Serve: s.handlers.stats.show,
			Operation: "Stats", Summary: "Figures of the delivery of webhooks"},
		{Methods: "GET", Pattern: "/Webhooks/Messages", Role: account.Admin, Kind: "Message", Serve: s.handlers.queries.serve,
			Operation: "MessageQuery", Summary: "The messages of all subscribers, newest first"},
		{Methods: "GET", Pattern: "/Webhooks/Messages/Responses", Role: account.Admin, Kind: "Attempt", Serve: s.handlers.queries.serve,
			Operation: "AttemptQuery", Summary: "The attempts to send the messages of all subscribers, newest first, with the text of answers"},
		{Methods: "POST", Pattern: "/Webhooks/Messages/Retry", Role: account.Admin, Changes: true, Serve: s.handlers.messages.retryAll,
			Operation: "RetryMessages", Summary: "Send all messages again that match a filter and have failed"},
		{Methods: "POST", Pattern: "/Webhooks/Messages/Delete", Role: account.Admin, Changes: true, Serve: s.handlers.messages.removeAll,
			Operation: "DeleteMessages", Summary: "Delete all messages that match a filter, and cancel what is pending of them"},
		{Methods: "GET", Pattern: "/Webhooks/Subscriptions", Role: account.Admin, Kind: "Subscription", Serve: s.handlers.queries.serve,
			Operation: "SubscriptionQuery", Summary: "The subscriptions of all subscribers"},
	}
	for i := range table {
		table[i].Webhooks = true
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
