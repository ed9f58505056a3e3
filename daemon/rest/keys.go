package rest

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// keyLife is the default validity of a key.
const keyLife = 90 * 24 * time.Hour

// keys has the handlers of /ApiKeys.
type keys struct{ accounts *account.Service }

func keyDocument(k account.Key) wire.APIKey {
	return wire.APIKey{
		KeyID: k.ID, Name: k.Name, Role: k.Role.String(),
		AddedDateTime: dateText(k.Added), ExpiryDateTime: dateText(k.Expires), LastUsedDateTime: dateText(k.LastUsed),
	}
}

// list returns the API keys without their secrets.
func (h *keys) list(x *edge.Context) error {
	keys, err := h.accounts.Keys(x.Request.Context())
	return listPage(x, "ApiKeys", keys, err, keyDocument)
}

// show returns one API key without its secret.
func (h *keys) show(x *edge.Context) error {
	k, err := h.accounts.FindKey(x.Request.Context(), x.Params.Get(inKeyID))
	return x.Respond("ApiKey", keyDocument(k), err)
}

// add creates an API key. Only this response contains its secret.
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

// parseExpiry parses the expiry of a key; the zero time means never.
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
	return time.Parse(wire.DateLayout, date) // the layout that ParseDate returns
}

// remove revokes an API key.
func (h *keys) remove(x *edge.Context) error {
	return x.NoContent(h.accounts.As(actor(x)).RemoveKey(x.Request.Context(), x.Params.Get(inKeyID)))
}
