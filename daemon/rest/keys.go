package rest

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// keyLife is how long a key works where the request does not say.
const keyLife = 90 * 24 * time.Hour

// keys are the handlers of /ApiKeys.
type keys struct{ accounts *account.Service }

func keyDocument(k account.Key) wire.APIKey {
	return wire.APIKey{
		KeyID: k.ID, Name: k.Name, Role: k.Role.String(),
		AddedDateTime: dateText(k.Added), ExpiryDateTime: dateText(k.Expires), LastUsedDateTime: dateText(k.LastUsed),
	}
}

// list lists the API keys, without the keys themselves.
func (h *keys) list(x *edge.Context) error {
	keys, err := h.accounts.Keys(x.Request.Context())
	return edge.List(x, "ApiKeys", keys, err, keyDocument)
}

// show shows one API key, without the key itself.
func (h *keys) show(x *edge.Context) error {
	k, err := h.accounts.FindKey(x.Request.Context(), x.Params.Get(inKeyID))
	return x.Answer("ApiKey", keyDocument(k), err)
}

// add makes an API key and shows it, once.
func (h *keys) add(x *edge.Context) error {
	f := readForm(x)
	n := account.NewKey{Name: f.required(memberName), Role: require(f, memberRole, account.ParseRole),
		Expires: or(read(f, memberExpiry, parseExpiry), time.Now().Add(keyLife))}
	if err := f.done(x); err != nil {
		return err
	}
	secret, k, err := h.accounts.As(actor(x)).AddKey(x.Request.Context(), n)
	document := keyDocument(k)
	document.Key = secret
	return x.Created("/ApiKeys", k.ID, "ApiKey", document, err)
}

// parseExpiry reads when a key ends; the zero time is never.
func parseExpiry(text string) (time.Time, error) {
	switch {
	case text == "":
		return time.Now().Add(keyLife), nil
	case strings.EqualFold(text, wire.NeverExpires):
		return time.Time{}, nil
	}
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w, or %s", err, wire.NeverExpires)
	}
	return time.Parse(wire.DateLayout, date) // which is what ParseDate writes
}

// remove ends an API key.
func (h *keys) remove(x *edge.Context) error {
	return x.NoContent(h.accounts.As(actor(x)).RemoveKey(x.Request.Context(), x.Params.Get(inKeyID)))
}
