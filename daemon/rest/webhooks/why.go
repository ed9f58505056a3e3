package webhooks

import (
	"context"
	"errors"
	"net/http"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// explanations has the handler of /Webhooks/Why.
type explanations struct {
	admin    *admin.Service
	engine   *delivery.Engine
	captures Captures // nil if changes are not captured
}

// Show returns the history of a key, or of a message. The states of circuit breakers are from this
// daemon.
func (h *explanations) Show(x *edge.Context) error {
	f := form.Read(x)
	message := form.Or(form.Value(f, MemberMessage, parseMessage), "")
	key := x.Params.Get(MemberKey)
	switch {
	case message != "":
		_, hasKey := f.Given(MemberKey)
		if key != "" || hasKey {
			f.Refuse(MemberMessage, "cannot be combined with Key")
		}
	case key == "":
		key = form.Require(f, MemberKey, parseKey)
	default:
		_, err := parseKey(key)
		if err != nil {
			f.Refuse(MemberKey, err.Error())
		}
	}
	err := f.Done(x)
	if err != nil {
		return err
	}

	t, err := h.trace(x.Request.Context(), key, message)
	if err != nil {
		return err
	}
	if t.Only != nil {
		key = t.Only.Event.Key
	}
	steps := t.Explain(admin.Situation{
		Rules:         h.admin.Rules(),
		Subscriptions: h.engine.Subscriptions(),
		Kinds:         x.Options.Kinds(),
		Breaker:       h.engine.Breaker,
		RequestedWait: h.engine.RequestedWait,
		RateWait:      h.engine.RateWait,
		Now:           h.engine.Now(),
		Visible:       func(k *record.Kind) bool { return queries.MayRead(x, k) },
		NotRequested:  notRequested(x.Request.Context(), h.captures),
	})
	return x.Document(http.StatusOK, "Why", wire.Why{Key: key, Steps: steps, More: t.More})
}

// trace returns the stored facts about a message, or about a key if the message is empty.
func (h *explanations) trace(ctx context.Context, key, message string) (*admin.Trace, error) {
	if message != "" {
		return h.admin.TraceMessage(ctx, message)
	}
	return h.admin.Trace(ctx, key)
}

// parseMessage parses the ID of a message.
func parseMessage(text string) (string, error) {
	id, err := wire.ParseGuid(text)
	if err != nil {
		return "", errors.New("must be the whole ID of a message")
	}
	return id, nil
}
