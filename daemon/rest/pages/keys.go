package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Operations on API keys, and the paths of their pages.
const (
	apiKeys = "/ApiKeys"

	pathKeys = Root + "/Keys"
	pathKey  = pathKeys + "/{KeyID}"
)

// keys has the pages of API keys.
type keys struct{ client }

func (h keys) routes() []edge.Route {
	return slices.Concat(
		[]edge.Route{route(account.Admin, pathKeys, h.list)},
		both(account.Admin, pathKeys+"/Do/New", h.create, h.add),
		both(account.Admin, pathKey+"/Revoke", h.confirm, h.revoke),
	)
}

// table returns the page with the keys.
func (h keys) table(x *edge.Context) (table, error) {
	page := table{
		Page:     frame(x, "API keys", startLink),
		Lede:     "Programs send a key with each request.",
		Actions:  []encode.Link{{Name: "New key", URL: x.Base + pathKeys + "/Do/New"}},
		Headings: []string{"Name", "Role", "Last used", "Expires", "Added", "ID"},
		Empty:    "There are no API keys.",
	}
	var list []wire.APIKey
	err := h.get(x, apiKeys, nil, &list)
	for _, k := range list {
		cells := append(texts(k.Name, k.Role), dated(x, k.LastUsedDateTime, "never"), dated(x, k.ExpiryDateTime, "never"),
			dated(x, k.AddedDateTime, ""), cell{Text: k.KeyID, Code: true})
		revoke := encode.Link{Name: "Revoke…", URL: x.Base + pathKeys + "/" + url.PathEscape(k.KeyID) + "/Revoke"}
		page.Rows = append(page.Rows, tableRow{cells, []encode.Link{revoke}})
	}
	return page, err
}

// list shows the keys.
func (h keys) list(x *edge.Context) error {
	page, err := h.table(x)
	if err != nil {
		return err
	}
	return page.show(x, http.StatusOK)
}

// keysLink leads to the list of keys.
var keysLink = encode.Link{Name: "API keys", URL: pathKeys}

// create shows the form of a new key.
func (h keys) create(x *edge.Context) error { return newKey(x, nil).open(x) }

func newKey(x *edge.Context, values url.Values) confirmation {
	return confirmation{
		Page:    frame(x, "New API key", keysLink),
		Effects: []string{"The page that follows shows the key. It is not shown again."},
		Fields: []field{
			{Name: "Name", Label: "Name", Value: values.Get("Name"), Required: true, Help: "The program that uses it"},
			{Name: "Role", Label: "Role", Choices: roles(values.Get("Role")), Help: roleHelp},
			{Name: "ExpiryDateTime", Label: "Expires", Value: values.Get("ExpiryDateTime"), Help: "A date such as 2030-01-31, or never; in 90 days if empty"},
		},
		Action: pathKeys + "/Do/New",
		Button: "Create the key",
		Back:   pathKeys,
	}
}

// add creates a key and shows it, which happens only once.
func (h keys) add(x *edge.Context) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	var added wire.APIKey
	err = h.send(x, http.MethodPost, apiKeys, given(values, "Name", "Role", "ExpiryDateTime"), &added)
	if err != nil {
		return newKey(x, values).retry(x, err)
	}
	page, err := h.table(x)
	if err != nil {
		return err
	}
	page.Note = noteOf("Added")
	page.Secret = added.Key
	return page.show(x, http.StatusCreated)
}

// find returns the key in the address.
func (h keys) find(x *edge.Context) (wire.APIKey, error) {
	var k wire.APIKey
	err := h.get(x, apiKeys+"/"+url.PathEscape(x.Params.Get("KeyID")), nil, &k)
	return k, err
}

// revocation returns the confirmation before a key is revoked.
func revocation(x *edge.Context, k *wire.APIKey) confirmation {
	return confirmation{
		Page:    frame(x, "Revoke "+k.Name, keysLink),
		Effects: []string{"Programs that use this key are refused from now on. This cannot be undone."},
		Facts:   []encode.Pair{{Name: "Name", Value: k.Name}, {Name: "Role", Value: k.Role}, {Name: "ID", Value: k.KeyID}},
		Action:  pathKeys + "/" + url.PathEscape(k.KeyID) + "/Revoke",
		Button:  "Revoke",
		Danger:  true,
		Back:    pathKeys,
	}
}

// confirm shows the confirmation of a key is revoked.
func (h keys) confirm(x *edge.Context) error {
	k, err := h.find(x)
	if err != nil {
		return err
	}
	return revocation(x, &k).open(x)
}

// revoke revokes a key.
func (h keys) revoke(x *edge.Context) error {
	k, err := h.find(x)
	if err != nil {
		return err
	}
	if err := h.send(x, http.MethodDelete, apiKeys+"/"+url.PathEscape(k.KeyID), nil, nil); err != nil {
		return revocation(x, &k).retry(x, err)
	}
	return goTo(x, pathKeys+"?"+memberNote+"=Removed")
}
