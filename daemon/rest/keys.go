package rest

import (
	"net/http"
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
	if err != nil {
		return err
	}
	documents := make([]wire.APIKey, len(keys))
	for i, k := range keys {
		documents[i] = keyDocument(k)
	}
	return x.List("ApiKeys", documents, len(documents))
}

// show shows one API key, without the key itself.
func (h *keys) show(x *edge.Context) error {
	k, err := h.accounts.FindKey(x.Request.Context(), x.Params.Get(inKeyID))
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, "ApiKey", keyDocument(k))
}

// add makes an API key and shows it, once.
func (h *keys) add(x *edge.Context) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	n := account.NewKey{Name: f.required(memberName), Role: roleOf(f, f.required(memberRole)), Expires: expiryOf(f)}
	if err := f.done(x); err != nil {
		return err
	}
	secret, k, err := h.accounts.As(actor(x)).AddKey(x.Request.Context(), n)
	if err != nil {
		return err
	}
	document := keyDocument(k)
	document.Key = secret
	return x.Created("/ApiKeys", k.ID, "ApiKey", document)
}

// expiryOf reads when a key ends; the zero time is never.
func expiryOf(f *form) time.Time {
	text, ok := f.given(memberExpiry)
	switch {
	case !ok || text == "":
		return time.Now().Add(keyLife)
	case strings.EqualFold(text, wire.NeverExpires):
		return time.Time{}
	}
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		f.refuse(memberExpiry, err.Error()+", or "+wire.NeverExpires)
		return time.Time{}
	}
	at, _ := time.Parse(wire.DateLayout, date) // which is what ParseDate writes
	return at
}

// remove ends an API key.
func (h *keys) remove(x *edge.Context) error {
	if err := h.accounts.As(actor(x)).RemoveKey(x.Request.Context(), x.Params.Get(inKeyID)); err != nil {
		return err
	}
	return x.NoContent()
}
