package rest

import (
	"encoding/base64"
	"errors"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Path parameters of webhooks, and members with the same names.
const (
	inSubscriber   = "SubscriberID"
	inSubscription = "SubscriptionID"
	inMessage      = "MessageID"
	inHeader       = "SubscriptionRequestHeaderID"
)

// The members of subscribers.
const (
	memberEnabled = "IsEnabled"
	memberRowHash = "RowHash"
	maxName       = 256
)

// subscribers has the handlers of /Webhooks/Subscribers.
type subscribers struct{ admin *admin.Service }

func subscriberDocument(b admin.Subscriber) wire.Subscriber {
	d := wire.Subscriber{RecID: b.GUID, Name: b.Name, IsEnabled: b.Enabled, ItemNo: b.ItemNo,
		LastSavedDateTime: wire.Timestamp(b.SavedAt), RowHash: b.RowHash}
	for _, r := range b.Subscriptions {
		d.Subscriptions = append(d.Subscriptions, subscriptionDocument(r))
	}
	return d
}

// show returns a subscriber with its subscriptions.
func (h *subscribers) show(x *edge.Context) error {
	b, err := h.admin.Subscriber(x.Request.Context(), x.Params.Get(inSubscriber))
	return x.Respond("Subscriber", subscriberDocument(b), err)
}

// add creates a subscriber, enabled by default.
func (h *subscribers) add(x *edge.Context) error {
	f := readForm(x)
	n := admin.Subscriber{Name: require(f, memberName, parseName), Enabled: or(read(f, memberEnabled, asBool), true), GUID: or(read(f, webhook.MemberRecID, parseRecID), "")}
	f.notBlank(memberName, n.Name)
	if err := f.done(x); err != nil {
		return err
	}
	b, err := h.admin.AddSubscriber(x.Request.Context(), n, actor(x))
	return x.Created("/Webhooks/Subscribers", b.GUID, "Subscriber", subscriberDocument(b), err)
}

// change updates a subscriber.
func (h *subscribers) change(x *edge.Context) error {
	f := readForm(x)
	f.knows(inSubscriber, "ItemNo")
	c := admin.SubscriberChange{Enabled: read(f, memberEnabled, asBool), RowHash: or(read(f, memberRowHash, parseRowHash), nil)}
	if c.Name = read(f, memberName, parseName); c.Name != nil {
		f.notBlank(memberName, f.required(memberName))
	}
	if err := f.done(x); err != nil {
		return err
	}
	b, err := h.admin.ChangeSubscriber(x.Request.Context(), x.Params.Get(inSubscriber), c, actor(x))
	return x.Respond("Subscriber", subscriberDocument(b), err)
}

// remove removes a subscriber with its subscriptions and messages.
func (h *subscribers) remove(x *edge.Context) error {
	return x.NoContent(h.admin.RemoveSubscriber(x.Request.Context(), x.Params.Get(inSubscriber), actor(x)))
}

func parseName(text string) (string, error) {
	if len([]rune(text)) > maxName {
		return "", errors.New("must be at most 256 characters long")
	}
	return text, nil
}

// parseRowHash parses the row hash that an update is based on.
func parseRowHash(text string) ([]byte, error) {
	if text == "" {
		return nil, nil // an empty byte[] is not given
	}
	hash, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("must be base64 text")
	}
	return hash, nil
}
