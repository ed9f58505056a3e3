package webhooks

import (
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
	admin  *admin.Service
	engine *delivery.Engine
}

// Show returns the history of a key. The state of circuit breakers is that of this daemon.
func (h *explanations) Show(x *edge.Context) error {
	f := form.Read(x)
	key := x.Params.Get(MemberKey)
	if key == "" {
		key = form.Require(f, MemberKey, parseKey)
	} else if _, err := parseKey(key); err != nil {
		f.Refuse(MemberKey, err.Error())
	}
	if err := f.Done(x); err != nil {
		return err
	}
	t, err := h.admin.Trace(x.Request.Context(), key)
	if err != nil {
		return err
	}
	steps := t.Explain(admin.Situation{
		Rules:         h.admin.Rules(),
		Subscriptions: h.engine.Subscriptions(),
		Kinds:         x.Options.Kinds(),
		Breaker:       h.engine.Breaker,
		RequestedWait: h.engine.RequestedWait,
		Visible:       func(k *record.Kind) bool { return queries.MayRead(x, k) },
	})
	return x.Document(http.StatusOK, "Why", wire.Why{Key: key, Steps: steps, More: t.More})
}
