package pages

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// pathTry is the path that forms of the API reference are sent to if the operation cannot read them,
// or has a response that browsers do not show.
const pathTry = Root + "/Try/{Name}"

// trials calls operations with the values of these forms.
type trials struct {
	client
	operations []string
}

func (h trials) routes() []edge.Route {
	return []edge.Route{submit(account.NoRole, pathTry, h.call)} // the operations check the role
}

// call calls an operation and shows its response.
func (h trials) call(x *edge.Context) error {
	name := x.Params.Get("Name")
	if !slices.Contains(h.operations, name) {
		return edge.NotFound()
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	members, err := triedMembers(values)
	if err != nil {
		return err
	}
	response, err := h.api.Do(x, Call{
		Method: http.MethodPost,
		Path:   "/api/" + url.PathEscape(name),
		Body:   members,
	})
	if err != nil {
		return err
	}
	if x.HTML() {
		edge.AddSite(x) // with the user, whom the operation has identified
	}
	if len(response.Body) > 0 {
		return x.Document(http.StatusOK, name, json.RawMessage(response.Body))
	}
	if !x.HTML() {
		return x.NoContent(nil)
	}
	return show(x, http.StatusOK, "tried", encode.Page{Title: name, Site: edge.SiteOf(x)})
}

// inputsOfRows are the inputs of Headers and Where.
var inputsOfRows = []string{inputName, inputOperator, inputValue, inputHeaderName, inputHeaderValue}

// triedMembers returns the values of a form as members of a request. Empty inputs are members that
// are not given.
func triedMembers(values url.Values) (map[string]any, error) {
	plain := maps.Clone(values)
	for _, name := range inputsOfRows {
		plain.Del(name)
	}
	members := given(plain, slices.Collect(maps.Keys(plain))...)
	if headers := headersOf(values); len(headers) > 0 {
		members[webhook.MemberHeaders] = headers
	}
	if len(rowsOf(values)) > 0 {
		where, err := conditionOf(values)
		if err != nil {
			return nil, err
		}
		members[webhook.MemberWhere] = where
	}
	return members, nil
}
