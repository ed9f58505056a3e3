package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// Members of the form of an action on many messages, in addition to the filters.
const (
	memberExpected = "Expected" // the number that the user has confirmed
	memberBounded  = "Bounded"  // Until is of the page, not of the user
	memberCounted  = "Counted"  // of the dry run with the number that the user has confirmed
	pathBulk       = Root + "/AllMessages/{Action}"
)

// bulk has the pages of actions on all messages that match filters.
type bulk struct{ client }

func (h bulk) routes() []edge.Route {
	return webhooksAll(both(account.Admin, pathBulk, h.confirm, h.act))
}

// bulkAction is something that can be done with many messages.
type bulkAction struct {
	name    string // in addresses
	button  string
	path    string // of the operation
	danger  bool
	done    string // in the note
	effects string
	replays bool // sends delivered messages
}

// fits reports whether the action has an effect on delivered messages, or on others.
func (a bulkAction) fits(delivered bool) bool {
	return a.danger || a.replays == delivered
}

var bulkActions = []bulkAction{
	{
		name:    "Retry",
		button:  "Retry",
		path:    apiMessages + "/Retry",
		done:    "Retried",
		effects: "All that are not delivered become due now, the oldest first. Delivered ones stay as they are.",
	},
	{
		name:    "SendAgain",
		button:  "Send again",
		path:    apiMessages + "/Retry",
		done:    "Sent",
		replays: true,
		effects: "They have been delivered. Each is sent once more, with the same webhook-id and the header " +
			"webhook-replay; receivers that have kept the webhook-id will ignore it.",
	},
	{
		name:    "Delete",
		button:  "Delete",
		path:    apiMessages + "/Delete",
		done:    "Deleted",
		danger:  true,
		effects: "The messages and their attempts are deleted, and no further attempts are made. This cannot be undone.",
	},
}

// bulkLinks returns the links to the actions on the messages that match filters.
func bulkLinks(base string, filters url.Values) []encode.Link {
	delivered := strconv.Itoa(int(webhook.Successful))
	var links []encode.Link
	for _, a := range bulkActions {
		status := filters.Get("Status")
		if status != "" && !a.fits(status == delivered) {
			continue
		}
		path := base + strings.ReplaceAll(pathBulk, "{Action}", a.name)
		link := encode.Link{Name: a.button, URL: with(path, filters)}
		if a.replays {
			link.URL = with(path, filters, "Status", delivered)
		}
		links = append(links, link)
	}
	return links
}

// tally is the response of both operations.
type tally struct {
	wire.MessagesRetried
	Deleted int64
}

// changed returns the number of messages that the action changes, or has changed.
func (t tally) changed() int64 { return t.Retried + t.Deleted }

func (h bulk) actionOf(x *edge.Context) (bulkAction, error) {
	name := x.Params.Get("Action")
	i := slices.IndexFunc(bulkActions, func(a bulkAction) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return bulkAction{}, edge.NotFound()
	}
	return bulkActions[i], nil
}

// confirm counts the messages and shows the confirmation of an action.
func (h bulk) confirm(x *edge.Context) error {
	a, err := h.actionOf(x)
	if err != nil {
		return err
	}
	filters, err := messageFilters().in(x)
	if err != nil {
		return err
	}
	isBounded := filters.Get(queries.MemberUntil) == ""
	if isBounded { // messages that come later are not meant
		filters.Set(queries.MemberUntil, x.Timing.Start.UTC().Format("2006-01-02T15:04:05.0000000Z"))
	}
	if a.replays {
		filters.Set("Status", strconv.Itoa(int(webhook.Successful)))
	}
	n, err := h.count(x, a, filters)
	if err != nil {
		return err
	}
	return a.confirmation(x, filters, n, isBounded).open(x)
}

// count returns the number of messages that an action would change.
func (h bulk) count(x *edge.Context, a bulkAction, filters url.Values) (tally, error) {
	selection := without(filters)
	selection.Set("DryRun", "true")
	response, err := h.api.Do(x, Call{Method: http.MethodPost, Path: a.path, Query: selection, DryRun: true})
	var n tally
	if err == nil {
		err = decode(response, &n)
	}
	return n, err
}

// carryOut changes the messages that count has counted. The filters are in the address, as those of the list: a text
// in JSON could select other messages.
func (h bulk) carryOut(x *edge.Context, a bulkAction, filters url.Values) (tally, error) {
	response, err := h.api.Do(x, Call{Method: http.MethodPost, Path: a.path, Query: filters})
	var n tally
	if err == nil {
		err = decode(response, &n)
	}
	return n, err
}

// namesDelivered reports whether filters name the status of delivered messages, so that a retry sends
// them again.
func namesDelivered(filters url.Values) bool {
	delivered := strconv.Itoa(int(webhook.Successful))
	for _, text := range slices.Concat(filters["Status"], filters["StatusIn"]) {
		if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }), delivered) {
			return true
		}
	}
	return false
}

// confirmation returns the confirmation before an action. isBounded reports whether the page has added
// Until to the filters.
func (a bulkAction) confirmation(x *edge.Context, filters url.Values, n tally, isBounded bool) confirmation {
	const noun, nouns = "message", "messages"
	title := a.button + " " + display.Count(n.changed(), noun, nouns)
	if a.replays {
		title = "Send " + display.Count(n.changed(), noun, nouns) + " again"
	}
	c := confirmation{
		Page:    frame(x, title, messagesLink),
		Effects: []string{a.effects},
		Action:  strings.ReplaceAll(pathBulk, "{Action}", a.name),
		Hidden:  append(pairsOf(filters), encode.Pair{Name: memberExpected, Value: strconv.FormatInt(n.changed(), 10)}),
		Button:  title,
		Danger:  a.danger,
		Back:    with(pathMessages, filters),
	}
	if n.Counted != "" {
		c.Hidden = append(c.Hidden, encode.Pair{Name: memberCounted, Value: n.Counted})
	}
	if isBounded {
		c.Hidden = append(c.Hidden, encode.Pair{Name: memberBounded, Value: "true"})
		c.Back = with(pathMessages, without(filters, queries.MemberUntil))
	}
	if a.name == "Retry" && namesDelivered(filters) {
		c.Effects = []string{"All that match become due now, the oldest first. " +
			"Delivered ones are sent once more, with the same webhook-id and the header webhook-replay."}
	}
	for _, condition := range conditionsOf(messageKind(), "", filters, messageWords) {
		c.Facts = append(c.Facts, encode.Pair{
			Name:  condition.Field + " " + condition.Operator,
			Value: condition.Value,
		})
	}
	if skipped := n.Matched - n.changed(); skipped == 1 {
		c.Effects = append(c.Effects, "1 other message matches and stays as it is.")
	} else if skipped > 1 {
		c.Effects = append(c.Effects, count(skipped)+" other messages match and stay as they are.")
	}
	if n.Warning != "" {
		c.Effects = append(c.Effects, strings.ToUpper(n.Warning[:1])+n.Warning[1:]+".")
	}
	if n.changed() == 0 {
		c.Title = a.button + " messages"
		c.Breadcrumbs[len(c.Breadcrumbs)-1].Name = c.Title
		c.Effects = []string{"No message matches, so nothing would change."}
		c.Button = ""
	}
	return c
}

// act carries out an action, unless other messages match than the user has confirmed.
func (h bulk) act(x *edge.Context) error {
	a, err := h.actionOf(x)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	filters, err := messageFilters(memberExpected, memberBounded, memberCounted).read(values)
	if err != nil {
		return err
	}
	isBounded := values.Get(memberBounded) != ""
	if filters.Get(queries.MemberUntil) == "" {
		return fault.New(fault.Invalid, "the form has no %s; start again from the list of messages", queries.MemberUntil)
	}
	selected := without(filters)
	if counted := values.Get(memberCounted); counted != "" {
		selected.Set(memberCounted, counted)
	}
	n, err := h.count(x, a, selected)
	if err != nil {
		return err
	}
	if strconv.FormatInt(n.changed(), 10) != values.Get(memberExpected) {
		c := a.confirmation(x, filters, n, isBounded)
		c.Error = &problem{
			Message: "The number has changed to " + count(n.changed()) + ". Nothing has been done; confirm again.",
		}
		return c.show(x, http.StatusConflict)
	}
	done, err := h.carryOut(x, a, selected)
	if err != nil {
		return a.confirmation(x, filters, n, isBounded).retry(x, err)
	}
	back := without(filters, "Status", "StatusIn") // which the action has changed
	if isBounded {
		back = without(back, queries.MemberUntil)
	}
	return goTo(x, with(pathMessages, back, memberNote, a.done+"."+strconv.FormatInt(done.changed(), 10)))
}
