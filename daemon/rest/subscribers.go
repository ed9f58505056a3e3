package rest

import (
	"encoding/base64"
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// The parameters of the paths of webhooks, and members of the same names.
const (
	inSubscriber   = "SubscriberID"
	inSubscription = "SubscriptionID"
	inMessage      = "MessageID"
)

// The members of subscribers.
const (
	memberEnabled = "IsEnabled"
	memberRowHash = "RowHash"
	maxName       = 256
)

// subscribers are the handlers of /Webhooks/Subscribers.
type subscribers struct{ admin *admin.Service }

func subscriberDocument(b admin.Subscriber) wire.Subscriber {
	d := wire.Subscriber{RecID: b.GUID, Name: b.Name, IsEnabled: b.Enabled, ItemNo: b.ItemNo,
		LastSavedDateTime: wire.Moment(b.SavedAt), RowHash: b.RowHash}
	for _, r := range b.Subscriptions {
		d.Subscriptions = append(d.Subscriptions, subscriptionDocument(r))
	}
	return d
}

// show shows a subscriber with its subscriptions.
func (h *subscribers) show(x *edge.Context) error {
	b, err := h.admin.Subscriber(x.Request.Context(), x.Params.Get(inSubscriber))
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, "Subscriber", subscriberDocument(b))
}

// add adds a subscriber, enabled unless the request says otherwise.
func (h *subscribers) add(x *edge.Context) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	n := admin.Subscriber{Name: checkedName(f, f.required(memberName)), Enabled: true}
	if enabled := f.flag(memberEnabled); enabled != nil {
		n.Enabled = *enabled
	}
	if err := f.done(x); err != nil {
		return err
	}
	b, err := h.admin.AddSubscriber(x.Request.Context(), n, actor(x))
	if err != nil {
		return err
	}
	return x.Created("/Webhooks/Subscribers", b.GUID, "Subscriber", subscriberDocument(b))
}

// change changes a subscriber.
func (h *subscribers) change(x *edge.Context) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	f.knows(inSubscriber, "ItemNo")
	c := admin.SubscriberChange{Enabled: f.flag(memberEnabled), RowHash: rowHashOf(f)}
	if f.optional(memberName) != nil {
		text := checkedName(f, f.required(memberName))
		c.Name = &text
	}
	if err := f.done(x); err != nil {
		return err
	}
	b, err := h.admin.ChangeSubscriber(x.Request.Context(), x.Params.Get(inSubscriber), c, actor(x))
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, "Subscriber", subscriberDocument(b))
}

// remove removes a subscriber with its subscriptions and messages.
func (h *subscribers) remove(x *edge.Context) error {
	if err := h.admin.RemoveSubscriber(x.Request.Context(), x.Params.Get(inSubscriber), actor(x)); err != nil {
		return err
	}
	x.Response.WriteHeader(http.StatusNoContent)
	return nil
}

// checkedName checks a name that is given.
func checkedName(f *form, text string) string {
	if len([]rune(text)) > maxName {
		f.refuse(memberName, "must be at most 256 characters long")
	}
	return text
}

// rowHashOf is what a change is based on, nil for whatever there is.
func rowHashOf(f *form) []byte {
	text, ok := f.given(memberRowHash)
	if !ok {
		return nil
	}
	hash, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		f.refuse(memberRowHash, "must be base64 text")
	}
	return hash
}
