package rest

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// rotateSecret replaces the secret of a subscription, and shows the new one this
// once.
func (h *subscriptions) rotateSecret(x *edge.Context) error {
	admin, err := h.limitChanges(x)
	if err == nil && !admin {
		err = h.countRetry(x)
	}
	if err != nil {
		return err
	}
	f, err := readForm(x)
	if err != nil {
		return err
	}
	f.knows(inSubscriber, inSubscription)
	secret, _ := f.given(webhook.MemberSecret)
	keep := keepForOf(f)
	if err := f.done(x); err != nil {
		return err
	}
	r, err := h.admin.RotateSecret(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription), secret, keep)
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, "RotatedSecret", wire.RotatedSecret{Secret: r.Secret, OldSecretUntil: wire.Moment(r.OldSecretUntil)})
}

// keepForOf is how long the secret that is replaced signs as well.
func keepForOf(f *form) time.Duration {
	text, ok := f.given(webhook.MemberKeepFor)
	if !ok {
		return webhook.DefaultKeepFor
	}
	keep, err := time.ParseDuration(text)
	if err != nil || webhook.CheckKeepFor(keep) != nil {
		f.refuse(webhook.MemberKeepFor, "must be a duration such as 12h, from 0 to 720h")
	}
	return keep
}
