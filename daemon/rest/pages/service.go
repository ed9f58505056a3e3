package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// Operations of the service itself, and the paths of their pages.
const (
	apiSettings = "/Settings"
	apiCaptures = "/Changes"

	pathSettings = Root + "/Settings"
	pathCaptures = Root + "/Captures"
	pathKinds    = Root + "/Kinds"
)

// service has the pages of settings, captures and record kinds.
type service struct{ client }

func (h service) routes() []edge.Route {
	return slices.Concat(
		[]edge.Route{
			route(account.Admin, pathSettings, h.settings),
			route(account.Admin, pathCaptures, h.captures),
			route(account.Admin, pathKinds, h.kinds),
		},
		both(account.Admin, pathCaptures+"/{Kind}/Resume", h.confirm, h.resume),
	)
}

// settings shows the settings.
func (h service) settings(x *edge.Context) error {
	var list []wire.Setting
	if err := h.get(x, apiSettings, nil, &list); err != nil {
		return err
	}
	page := table{
		Page:     frame(x, "Settings", startLink),
		Lede:     "Settings that may change while the service runs: change them in the settings file, and reload.",
		Headings: []string{"Name", "Value", "Default", "From", "Meaning"},
	}
	for _, s := range list {
		cells := texts(s.Name, s.Value, s.Default, s.Origin, s.Help)
		cells[0].Code = true
		cells[4].Class = "long"
		page.Rows = append(page.Rows, tableRow{Cells: cells})
	}
	return page.show(x, http.StatusOK)
}

// captures shows the state of the capture of changes.
func (h service) captures(x *edge.Context) error {
	var list []wire.Capture
	if err := h.get(x, apiCaptures, nil, &list); err != nil {
		return err
	}
	page := table{
		Page:     frame(x, "Captures", startLink),
		Lede:     "The service finds changes of these record kinds in the ERP's database, and publishes them as events.",
		Headings: []string{"Kind", "State", "Lag", "Rows", "Created", "Updated", "Deleted", "Events"},
		Empty:    `No changes are captured. Set capture = "always" for a kind in a file of record kinds.`,
	}
	for _, c := range list {
		lag := ""
		if c.Lag > 0 {
			lag = display.Age(time.Duration(c.Lag))
		}
		row := tableRow{Cells: []cell{
			{Text: c.Kind, URL: x.Base + recordsPath(c.Kind)},
			{Text: c.Phase + after(": ", c.Reason)},
			{Text: lag},
			{Text: count(c.Rows), Class: "n"},
			{Text: count(c.Created), Class: "n"},
			{Text: count(c.Updated), Class: "n"},
			{Text: count(c.Deleted), Class: "n"},
			{Text: c.Events},
		}}
		if c.Manual {
			resume := x.Base + pathCaptures + "/" + url.PathEscape(c.Kind) + "/Resume"
			row.Links = []encode.Link{{Name: "Resume…", URL: resume}}
		}
		page.Rows = append(page.Rows, row)
	}
	return page.show(x, http.StatusOK)
}

// captureIn returns the state of the capture of the kind in the address. It has no Phase if the
// changes of the kind are not captured.
func (h service) captureIn(x *edge.Context) (wire.Capture, error) {
	kind, err := kindIn(x)
	if err != nil {
		return wire.Capture{}, err
	}
	var list []wire.Capture
	err = h.get(x, apiCaptures, nil, &list)
	if err != nil {
		return wire.Capture{}, err
	}
	i := slices.IndexFunc(list, func(c wire.Capture) bool { return c.Kind == kind.Name })
	if i < 0 {
		return wire.Capture{Kind: kind.Name}, nil
	}
	return list[i], nil
}

// modes are the values of Mode, in words.
var modes = []encode.Choice{
	{Value: wire.ResumePublish, Text: "deliver all of them"},
	{Value: wire.ResumeSilent, Text: "forget them; followers of the changes must load all records again"},
}

// resumption returns the confirmation of how a capture is resumed, with the selected mode. It has no
// button if the capture does not wait for that.
func resumption(x *edge.Context, c *wire.Capture, mode string) confirmation {
	page := confirmation{
		Page:   frame(x, "Resume the capture of "+c.Kind, encode.Link{Name: "Captures", URL: pathCaptures}),
		Action: pathCaptures + "/" + url.PathEscape(c.Kind) + "/Resume",
		Back:   pathCaptures,
	}
	if c.Phase == "" {
		page.Effects = []string{"There is nothing to resume: the changes of " + c.Kind + " are not captured."}
		return page
	}
	if !c.Manual {
		state := c.Phase + after(": ", c.Reason)
		page.Effects = []string{"There is nothing to resume: no decision is needed. State: " + state + "."}
		return page
	}
	page.Effects = []string{"The capture has stopped and waits for a decision" + after(": ", c.Reason) + "."}
	page.Fields = []field{{Name: "Mode", Choices: selecting(modes, mode)}}
	page.Button = "Resume the capture"
	return page
}

// kindIn returns the record kind in the address.
func kindIn(x *edge.Context) (*record.Kind, error) {
	kind, ok := x.Options.Kinds().Lookup(x.Params.Get("Kind"))
	if !ok || !queries.MayRead(x, kind) {
		return nil, edge.NotFound()
	}
	return kind, nil
}

// confirm shows the form that resumes a capture.
func (h service) confirm(x *edge.Context) error {
	c, err := h.captureIn(x)
	if err != nil {
		return err
	}
	return resumption(x, &c, "").open(x)
}

// resume resumes a capture.
func (h service) resume(x *edge.Context) error {
	c, err := h.captureIn(x)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	members := map[string]any{"Mode": values.Get("Mode")}
	err = h.send(x, http.MethodPost, apiCaptures+"/"+url.PathEscape(c.Kind)+"/Resume", members, nil)
	if err != nil {
		return resumption(x, &c, values.Get("Mode")).retry(x, err)
	}
	return goTo(x, pathCaptures+"?"+memberNote+"=Resumed")
}

// lowestRole returns the lowest role that may read the records of a kind.
func lowestRole(x *edge.Context, kind *record.Kind) string {
	required := account.RoleOf(kind)
	if x.Options.AnonymousQueries && required.Allows(account.NoRole) {
		return "none"
	}
	for _, role := range account.Roles() {
		if required.Allows(role) {
			return role.String()
		}
	}
	return "" // not reached: the user has a role that may read the kind
}

// kinds shows the record kinds.
func (h service) kinds(x *edge.Context) error {
	page := table{
		Page:     frame(x, "Record kinds", startLink),
		Lede:     "The kinds of records that the service offers.",
		Headings: []string{"Kind", "Area", "Description", "Key", "Role", "Fields"},
	}
	kinds := x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayRead(x, k) })
	for _, k := range kinds.Kinds() {
		page.Rows = append(page.Rows, tableRow{Cells: []cell{
			{Text: k.Name, URL: x.Base + recordsPath(k.Name)},
			{Text: k.Area},
			{Text: k.Summary},
			{Text: cmp.Or(strings.Join(k.Key, ", "), "none declared")},
			{Text: lowestRole(x, k)},
			{
				Text:  strconv.Itoa(len(k.Fields)),
				URL:   x.Base + "/metadata?op=" + url.QueryEscape(k.Operation()),
				Class: "n",
			},
		}})
	}
	return page.show(x, http.StatusOK)
}
