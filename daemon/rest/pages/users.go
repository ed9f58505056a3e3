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

// Operations on users, and the paths of their pages.
const (
	apiUsers = "/Users"

	pathUsers = Root + "/Users"
	pathUser  = pathUsers + "/{UserName}"
)

// users has the pages of users.
type users struct{ client }

func (h users) routes() []edge.Route {
	return slices.Concat(
		[]edge.Route{route(account.Admin, pathUsers, h.list)},
		both(account.Admin, pathUsers+"/Do/New", h.create, h.add),
		both(account.Admin, pathUser+"/Edit", h.edit, h.save),
		h.collection().removal(pathUser+"/Remove", removal),
	)
}

// collection returns the users of the API.
func (h users) collection() collection[wire.User] {
	return collection[wire.User]{client: h.client, api: apiUsers, param: "UserName"}
}

// list shows the users.
func (h users) list(x *edge.Context) error {
	page := table{
		Page:     frame(x, "Users", startLink),
		Lede:     "Users log in with a name and a password. Programs use API keys.",
		Actions:  []encode.Link{{Name: "New user", URL: x.Base + pathUsers + "/Do/New"}},
		Headings: []string{"Name", "Display name", "Role", "Added", "Changed"},
		Empty:    "There are no users.",
	}
	return h.collection().show(x, page, userRow)
}

// userRow returns a user as a row of the list.
func userRow(x *edge.Context, u *wire.User) tableRow {
	address := x.Base + pathUsers + "/" + url.PathEscape(u.UserName)
	return tableRow{
		Cells: []cell{
			{Text: u.UserName},
			{Text: u.DisplayName},
			{Text: u.Role},
			dated(x, u.AddedDateTime, ""),
			dated(x, u.LastSavedDateTime, ""),
		},
		Links: []encode.Link{
			{Name: "Edit", URL: address + "/Edit"},
			{Name: "Remove…", URL: address + "/Remove"},
		},
	}
}

// usersLink leads to the list of users.
var usersLink = encode.Link{Name: "Users", URL: pathUsers}

// roleHelp describes the roles.
const roleHelp = "A reader reads records, a publisher also publishes events, a writer also changes bills, " +
	"an admin may do everything. Each role includes the ones before it."

// roles returns the roles with the selected one.
func roles(selected string) []encode.Choice {
	var choices []encode.Choice
	for _, r := range account.Roles() {
		choices = append(choices, encode.Choice{Value: r.String(), Text: r.String(), Selected: r.String() == selected})
	}
	return choices
}

// create shows the form of a new user.
func (h users) create(x *edge.Context) error { return newUser(x, nil).open(x) }

func newUser(x *edge.Context, values url.Values) confirmation {
	return confirmation{
		Page: frame(x, "New user", usersLink),
		Fields: []field{
			{Name: "UserName", Value: values.Get("UserName"), Required: true},
			{
				Name:  "DisplayName",
				Value: values.Get("DisplayName"),
				Help:  "As pages show it; the user name if empty",
			},
			{Name: "Role", Choices: roles(values.Get("Role")), Help: roleHelp},
			{Name: "Password", Type: "password", Required: true},
		},
		Action: pathUsers + "/Do/New",
		Button: "Add the user",
		Back:   pathUsers,
	}
}

// add adds a user.
func (h users) add(x *edge.Context) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	err = h.send(x, http.MethodPost, apiUsers, given(values, "UserName", "DisplayName", "Role", "Password"), nil)
	if err != nil {
		return newUser(x, values).retry(x, err)
	}
	return goTo(x, pathUsers+"?"+memberNote+"=Added")
}

// given returns the values of a form that are not empty.
func given(values url.Values, names ...string) map[string]any {
	members := make(map[string]any)
	for _, name := range names {
		if text := values.Get(name); text != "" {
			members[name] = text
		}
	}
	return members
}

// editForm returns the form of a user.
func editForm(x *edge.Context, u *wire.User) confirmation {
	return confirmation{
		Page: frame(x, "Edit "+u.UserName, usersLink),
		Fields: []field{
			{Name: "DisplayName", Value: u.DisplayName},
			{Name: "Role", Choices: roles(u.Role), Help: roleHelp},
			{
				Name:  "Password",
				title: "New password",
				Type:  "password",
				Help:  "Leave it empty to keep the password. A new one ends the sessions of the user.",
			},
		},
		Action: pathUsers + "/" + url.PathEscape(u.UserName) + "/Edit",
		Button: "Save the user",
		Back:   pathUsers,
	}
}

// edit shows the form of a user.
func (h users) edit(x *edge.Context) error {
	u, err := h.collection().find(x)
	if err != nil {
		return err
	}
	return editForm(x, u).open(x)
}

// save changes a user.
func (h users) save(x *edge.Context) error {
	u, err := h.collection().find(x)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	members := given(values, "Password")
	if role := values.Get("Role"); role != u.Role {
		members["Role"] = role
	}
	members["DisplayName"] = values.Get("DisplayName")
	err = h.send(x, http.MethodPatch, h.collection().itemPath(x), members, nil)
	if err != nil {
		u.DisplayName, u.Role = values.Get("DisplayName"), values.Get("Role")
		return editForm(x, u).retry(x, err)
	}
	return goTo(x, pathUsers+"?"+memberNote+"=Saved")
}

// removal returns the confirmation before a user is removed.
func removal(x *edge.Context, u *wire.User) confirmation {
	return confirmation{
		Page: frame(x, "Remove "+u.UserName, usersLink),
		Effects: []string{
			"The user is removed and logged out everywhere.",
			"Subscriptions that the user owns stay. If only some roles may read the records of their events, " +
				"their messages are held.",
		},
		Facts:  []encode.Pair{{Name: "Name", Value: u.UserName}, {Name: "Role", Value: u.Role}},
		Action: pathUsers + "/" + url.PathEscape(u.UserName) + "/Remove",
		Button: "Remove the user",
		Danger: true,
		Back:   pathUsers,
	}
}
