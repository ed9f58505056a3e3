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

// keysLink leads to the list of keys.
var keysLink = encode.Link{Name: "API keys", URL: pathKeys}

// keys has the pages of API keys.
type keys struct{ client }

func (h keys) routes() []edge.Route {
	return slices.Concat(
		[]edge.Route{route(account.Admin, pathKeys, h.list)},
		both(account.Admin, pathKeys+"/Do/New", h.create, h.add),
		h.collection().removal(pathKey+"/Revoke", revocation),
	)
}

// collection returns the keys of the API.
func (h keys) collection() collection[wire.APIKey] {
	return collection[wire.APIKey]{client: h.client, api: apiKeys, param: "KeyID"}
}

// list shows the keys.
func (h keys) list(x *edge.Context) error {
	page := table{
		Page:     frame(x, "API keys", startLink),
		Lede:     "Programs send a key with each request.",
		Actions:  []encode.Link{{Name: "New key", URL: x.Base + pathKeys + "/Do/New"}},
		Headings: []string{"Name", "Role", "Last used", "Expires", "Added", "ID"},
		Empty:    "There are no API keys.",
	}
	return h.collection().show(x, page, keyRow)
}

// keyRow returns a key as a row of the list.
func keyRow(x *edge.Context, k *wire.APIKey) tableRow {
	revoke := encode.Link{Name: "Revoke…", URL: x.Base + pathKeys + "/" + url.PathEscape(k.KeyID) + "/Revoke"}
	return tableRow{
		Cells: []cell{
			{Text: k.Name},
			{Text: k.Role},
			dated(x, k.LastUsedDateTime, "never"),
			dated(x, k.ExpiryDateTime, "never"),
			dated(x, k.AddedDateTime, ""),
			{Text: k.KeyID, Code: true},
		},
		Links: []encode.Link{revoke},
	}
}

// create shows the form of a new key.
func (h keys) create(x *edge.Context) error { return newKey(x, nil).open(x) }

// newKey returns the form of a new key with the values that were sent.
func newKey(x *edge.Context, values url.Values) confirmation {
	return confirmation{
		Page:    frame(x, "New API key", keysLink),
		Effects: []string{"The page that follows shows the key. It is not shown again."},
		Fields: []field{
			{
				Name:     "Name",
				Value:    values.Get("Name"),
				Help:     "The program that uses it",
				Required: true,
			},
			{Name: "Role", Choices: roles(values.Get("Role")), Help: roleHelp},
			{
				Name:  "ExpiryDateTime",
				Value: values.Get("ExpiryDateTime"),
				Help:  "A date such as 2030-01-31, or never; in 90 days if empty",
			},
		},
		Action: pathKeys + "/Do/New",
		Button: "Create the key",
		Back:   pathKeys,
	}
}

// keyPage shows a new key.
type keyPage struct {
	encode.Page
	wire.APIKey
	Expires moment
	ListURL string
}

// add creates a key and shows it, which happens only once. The page has nothing else that could
// fail: the key would be lost. If a browser sends the form again, the name is taken.
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
	return show(x, http.StatusCreated, "key", keyPage{
		Page:    frame(x, "API key "+added.Name, keysLink),
		APIKey:  added,
		Expires: dated(x, added.ExpiryDateTime, "").When,
		ListURL: x.Base + pathKeys,
	})
}

// revocation returns the confirmation before a key is revoked.
func revocation(x *edge.Context, k *wire.APIKey) confirmation {
	return confirmation{
		Page:    frame(x, "Revoke "+k.Name, keysLink),
		Effects: []string{"Programs that use this key will be refused at once. This cannot be undone."},
		Facts: []encode.Pair{
			{Name: "Name", Value: k.Name},
			{Name: "Role", Value: k.Role},
			{Name: "ID", Value: k.KeyID},
		},
		Action: pathKeys + "/" + url.PathEscape(k.KeyID) + "/Revoke",
		Button: "Revoke the key",
		Danger: true,
		Back:   pathKeys,
	}
}
