package webhooks

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The members of an event.
const (
	MemberEvent = "EventName"
	MemberBody  = "Body"
	MemberKey   = "Key"

	// MemberMessage selects the history of a message instead of a key.
	MemberMessage = inMessage
)

// events has the handlers of /Webhooks/Events.
type events struct {
	admin  *admin.Service
	engine *delivery.Engine
	access *accounts.Access
}

// List returns the published events. It leaves out captured events of kinds that the caller may
// not read.
func (h *events) List(x *edge.Context) error {
	rules := h.admin.Rules()
	if len(rules.Captured) > 0 {
		h.access.Identify(x)
	}
	events := slices.DeleteFunc(rules.SubscribableEvents(), func(e record.Event) bool {
		kind := rules.CapturedBy(e.Name)
		return kind != nil && !queries.MayQuery(x, kind)
	})
	return edge.List(x, "Events", events, nil, func(e record.Event) wire.Event {
		d := wire.Event{Name: e.Name, Description: e.Description}
		if kind := rules.CapturedBy(e.Name); kind != nil {
			d.Source = wire.SourceCaptured
			d.Kind = kind.Name
			d.Deletes = true
			d.Before = len(kind.Before) > 0
			d.Coalesced = true
		}
		return d
	})
}

// Add publishes an event. It responds after the event's messages are durable.
func (h *events) Add(x *edge.Context) error {
	f := form.Read(x)
	name := f.Required(MemberEvent)
	key := form.Or(form.Value(f, MemberKey, parseKey), "")
	body := eventBody(x, f)
	if body == nil {
		f.Missing = append(f.Missing, fault.Field{Name: MemberBody, Message: "is required; it may be an empty text"})
	}
	if err := f.Done(x); err != nil {
		return err
	}
	name, err := h.admin.Rules().Posted(name, func(k *record.Kind) bool { return queries.MayQuery(x, k) })
	if err != nil {
		return err
	}
	receipt, err := h.publish(x, delivery.Post{Name: name, Key: key, Body: body})
	if err != nil {
		return err
	}
	return x.Document(http.StatusCreated, "EventReceipt", receipt)
}

// publish publishes an event, with the request's idempotency key if there is one.
func (h *events) publish(x *edge.Context, e delivery.Post) (wire.EventReceipt, error) {
	keys := x.Request.Header.Values(wire.HeaderIdempotencyKey)
	if len(keys) == 0 {
		return h.engine.Publish(x.Request.Context(), e)
	}
	key := keys[0]
	if len(keys) > 1 || !isIdempotencyKey(key) {
		text := fmt.Sprintf("must be one text of 1 to %d printable ASCII characters", maxIdempotencyKey)
		return wire.EventReceipt{}, &fault.Error{
			Kind:    fault.Invalid,
			Message: wire.HeaderIdempotencyKey + " " + text,
			Fields:  []fault.Field{{Name: wire.HeaderIdempotencyKey, Message: text}},
		}
	}

	// Users and API keys have separate idempotency keys, also if their names are the same. Earlier
	// versions stored the name alone.
	stored := x.Identity.Owner() + "\n" + key
	former := x.Identity.Name + "\n" + key
	receipt, replayed, err := h.engine.PublishOnce(x.Request.Context(), e, stored, former)
	if replayed {
		x.Response.Header().Set(wire.HeaderReplayed, "true")
	}
	return receipt, err
}

// maxIdempotencyKey is the maximum length of an idempotency key in characters.
const maxIdempotencyKey = 255

// isIdempotencyKey reports whether a text has only printable ASCII, which includes blanks, and a
// valid length.
func isIdempotencyKey(key string) bool {
	if key == "" || len(key) > maxIdempotencyKey {
		return false
	}
	return !strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
}

// MaxKey is the maximum length of the key of an event in characters.
const MaxKey = 128

// parseKey parses the key of an event.
func parseKey(text string) (string, error) {
	isText := utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	if !isText || utf8.RuneCountInString(text) > MaxKey {
		return "", fmt.Errorf("must be a text of at most %d characters without control characters", MaxKey)
	}
	return text, nil
}

// eventBody returns the payload of an event. A string is delivered as its text; any
// other JSON value as its bytes in the request. It is nil if there is none.
func eventBody(x *edge.Context, f *form.Form) []byte {
	f.Knows(MemberBody)
	m, ok := f.Members.Get(MemberBody)
	isEmptyList := m.List && m.Raw != "" // a value in JSON
	hasValue := !m.Empty || isEmptyList
	if !ok || !hasValue {
		return nil
	}
	body := m.Raw
	isText := body == "" || body[0] == '"'
	if isText {
		body, _ = f.Given(MemberBody)
	}
	if !utf8.ValidString(body) || strings.ContainsRune(body, 0) {
		f.Refuse(MemberBody, "must be UTF-8 without NUL characters")
	}
	return []byte(body)
}

// Echo returns the body of the request. It is a target for testing subscriptions.
func (h *events) Echo(x *edge.Context) error {
	x.Response.Header().Set("Content-Type", wire.BodyType(x.Body))
	return x.WriteShared(http.StatusCreated, nil, x.Body) // http.body_memory counts it
}
