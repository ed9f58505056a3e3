package accounts

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// keyLife is the default validity of a key.
const keyLife = 90 * 24 * time.Hour

// keys has the handlers of /ApiKeys.
type keys struct{ accounts *account.Service }

func keyDocument(k account.Key) wire.APIKey {
	return wire.APIKey{
		KeyID:            k.ID,
		Name:             k.Name,
		Role:             k.Role.String(),
		AddedDateTime:    dateText(k.Added),
		ExpiryDateTime:   dateText(k.Expires),
		LastUsedDateTime: dateText(k.LastUsed),
	}
}

// List returns the API keys without their secrets.
func (h *keys) List(x *edge.Context) error {
	keys, err := h.accounts.Keys(x.Request.Context())
	return form.ListPage(x, "ApiKeys", keys, err, keyDocument)
}

// Show returns one API key without its secret.
func (h *keys) Show(x *edge.Context) error {
	k, err := h.accounts.FindKey(x.Request.Context(), x.Params.Get(inKeyID))
	return x.Respond("ApiKey", keyDocument(k), err)
}

// Add creates an API key. Only this response contains its secret.
func (h *keys) Add(x *edge.Context) error {
	f := form.Read(x)
	n := account.NewKey{
		Name:    f.Required(MemberName),
		Role:    form.Require(f, MemberRole, account.ParseRole),
		Expires: form.Or(form.Value(f, MemberExpiry, parseExpiry), time.Now().Add(keyLife)),
	}
	f.Check(func() error { return n.Check(time.Now()) })
	if err := f.Done(x); err != nil {
		return err
	}
	secret, k, err := h.accounts.As(Actor(x)).AddKey(x.Request.Context(), n)
	document := keyDocument(k)
	document.Key = secret
	return x.Created("/ApiKeys", k.ID, "ApiKey", document, err)
}

// parseExpiry parses the expiry of a key. The result is the zero time only for the word never: a
// request for the date of that time must not make a key that does not expire.
func parseExpiry(text string) (time.Time, error) {
	if text == "" {
		return time.Now().Add(keyLife), nil
	}
	if strings.EqualFold(text, wire.NeverExpires) {
		return time.Time{}, nil
	}
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w, or %s", err, wire.NeverExpires)
	}
	expires, err := time.Parse(wire.DateLayout, date) // the layout that ParseDate returns
	if err == nil && expires.IsZero() {
		return time.Time{}, errors.New("must be in the future") // as for other past times
	}
	return expires, err
}

// Remove revokes an API key.
func (h *keys) Remove(x *edge.Context) error {
	return x.NoContent(h.accounts.As(Actor(x)).RemoveKey(x.Request.Context(), x.Params.Get(inKeyID)))
}
