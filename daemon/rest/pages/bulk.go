package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	filters := filtersOf(x)
	if filters.Get(queries.MemberUntil) == "" { // messages that come later are not meant
		filters.Set(queries.MemberUntil, x.Timing.Start.UTC().Format("2006-01-02T15:04:05.0000000Z"))
	}
	n, err := h.count(x, a, filters)
	if err != nil {
		return err
	}
	return a.confirmation(x, filters, n).open(x)
}

// count returns the number of messages that an action would change.
func (h bulk) count(x *edge.Context, a bulkAction, filters url.Values) (tally, error) {
	body := membersOf(filters)
	body["DryRun"] = true
	response, err := h.api.Do(x, Call{Method: http.MethodPost, Path: a.path, Body: body, DryRun: true})
	var n tally
	if err == nil {
		err = decode(response, &n)
	}
	return n, err
}

// membersOf returns filters as members of a request.
func membersOf(filters url.Values) map[string]any {
	members := make(map[string]any)
	for name, texts := range filters {
		if len(texts) == 1 {
			members[name] = texts[0]
			continue
		}
		members[name] = texts
	}
	return members
}

// confirmation returns the confirmation before an action.
func (a bulkAction) confirmation(x *edge.Context, filters url.Values, n tally) confirmation {
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
		Back:    with(pathMessages, without(filters, queries.MemberUntil)),
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
	filters := without(onlyFilters(values), memberExpected)
	if _, err := time.Parse(time.RFC3339, filters.Get(queries.MemberUntil)); err != nil {
		return fault.New(fault.Invalid, "the form has no %s; start again from the list of messages", queries.MemberUntil)
	}
	n, err := h.count(x, a, filters)
	if err != nil {
		return err
	}
	if strconv.FormatInt(n.changed(), 10) != values.Get(memberExpected) {
		c := a.confirmation(x, filters, n)
		c.Error = &problem{
			Message: "The number has changed to " + count(n.changed()) + ". Nothing has been done; confirm again.",
		}
		return c.show(x, http.StatusConflict)
	}
	var done tally
	if err := h.send(x, http.MethodPost, a.path, membersOf(filters), &done); err != nil {
		return a.confirmation(x, filters, n).retry(x, err)
	}
	back := without(filters, queries.MemberUntil, "Status")
	return goTo(x, with(pathMessages, back, memberNote, a.done+"."+strconv.FormatInt(done.changed(), 10)))
}
