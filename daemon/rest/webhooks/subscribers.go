package webhooks

import (
	"encoding/base64"
	"errors"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Path parameters of webhooks, and members with the same names.
const (
	InSubscriber   = "SubscriberID"
	inSubscription = "SubscriptionID"
	inMessage      = "MessageID"
	inHeader       = "SubscriptionRequestHeaderID"
)

// The members of subscribers.
const (
	MemberName    = "Name"
	MemberEnabled = "IsEnabled"
	MemberRowHash = "RowHash"
)

// maxName is the maximum length of a name in characters.
const maxName = 256

// subscribers has the handlers of /Webhooks/Subscribers.
type subscribers struct {
	admin         *admin.Service
	subscriptions *subscriptions
}

func (h *subscribers) document(x *edge.Context, b admin.Subscriber) wire.Subscriber {
	d := wire.Subscriber{
		RecID:             b.GUID,
		Name:              b.Name,
		IsEnabled:         b.Enabled,
		ItemNo:            b.ItemNo,
		LastSavedDateTime: wire.Timestamp(b.SavedAt),
		RowHash:           b.RowHash,
	}
	noticed := h.subscriptions.noticed(x)
	for _, r := range b.Subscriptions {
		d.Subscriptions = append(d.Subscriptions, noticed.document(r))
	}
	return d
}

// Show returns a subscriber with its subscriptions.
func (h *subscribers) Show(x *edge.Context) error {
	b, err := h.admin.Subscriber(x.Request.Context(), x.Params.Get(InSubscriber))
	return x.Respond("Subscriber", h.document(x, b), err)
}

// Add creates a subscriber, enabled by default.
func (h *subscribers) Add(x *edge.Context) error {
	f := form.Read(x)
	n := admin.Subscriber{
		Name:    form.Require(f, MemberName, parseName),
		Enabled: form.Or(form.Value(f, MemberEnabled, form.Bool), true),
		GUID:    form.Or(form.Value(f, webhook.MemberRecID, parseRecID), ""),
	}
	f.NotBlank(MemberName, n.Name)
	if err := f.Done(x); err != nil {
		return err
	}
	b, err := h.admin.AddSubscriber(x.Request.Context(), n, accounts.Actor(x))
	return x.Created("/Webhooks/Subscribers", b.GUID, "Subscriber", h.document(x, b), err)
}

// Change updates a subscriber.
func (h *subscribers) Change(x *edge.Context) error {
	f := form.Read(x)
	f.Knows(InSubscriber, "ItemNo")
	c := admin.SubscriberChange{
		Enabled: form.Value(f, MemberEnabled, form.Bool),
		RowHash: form.Or(form.Value(f, MemberRowHash, parseRowHash), nil),
		Name:    form.Value(f, MemberName, parseName),
	}
	if c.Name != nil {
		f.NotBlank(MemberName, f.Required(MemberName))
	}
	if err := f.Done(x); err != nil {
		return err
	}
	b, err := h.admin.ChangeSubscriber(x.Request.Context(), x.Params.Get(InSubscriber), c, accounts.Actor(x))
	return x.Respond("Subscriber", h.document(x, b), err)
}

// Remove removes a subscriber with its subscriptions and messages.
func (h *subscribers) Remove(x *edge.Context) error {
	return x.NoContent(h.admin.RemoveSubscriber(x.Request.Context(), x.Params.Get(InSubscriber), accounts.Actor(x)))
}

// parseName parses the name of a subscriber.
func parseName(text string) (string, error) {
	if len([]rune(text)) > maxName {
		return "", errors.New("must be at most 256 characters long")
	}
	return text, nil
}

// parseRowHash parses the row hash that an update is based on.
func parseRowHash(text string) ([]byte, error) {
	if text == "" {
		return nil, nil // typed clients send an empty byte[] for a value that was not set
	}
	hash, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("must be base64 text")
	}
	return hash, nil
}
