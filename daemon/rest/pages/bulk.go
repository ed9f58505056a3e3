package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	memberList    = "List"    // the filters of the list that led to it, as a query string; less exact
	memberCounted = "Counted" // of the dry run with the number that the user has confirmed
)

// pathBulk is the path of the pages of actions on many messages.
const pathBulk = Root + "/AllMessages/{Action}"

// bulk has the pages of actions on all messages that match filters.
type bulk struct{ client }

func (h bulk) routes() []edge.Route {
	return webhooksAll(both(account.Admin, pathBulk, h.confirm, h.act))
}

// bulkAction is something that can be done with many messages.
type bulkAction struct {
	name    string // in addresses
	button  string
	title   func(messages string) string
	path    string // of the operation
	danger  bool
	isExact bool   // the confirmed messages are changed, or none
	none    string // the effect without messages
	done    string // in the note
	fits    func(s webhook.Status) bool
	effects func(n tally) string
}

const noneMatches = "No message matches, so nothing would change."

var bulkActions = []bulkAction{
	{
		name:   "Retry",
		button: "Retry",
		title:  func(messages string) string { return "Retry " + messages },
		path:   apiMessages + "/Retry",
		none:   noneMatches,
		done:   "Retried",
		fits:   func(s webhook.Status) bool { return s != webhook.Successful },
		effects: func(n tally) string {
			if n.Replayed > 0 {
				return "All that match become due now, the oldest first. " +
					"Delivered ones are sent once more, with the same webhook-id and the header webhook-replay."
			}
			return "All that are not delivered become due now, the oldest first. Delivered ones stay as they are."
		},
	},
	{
		name:    actionSendAgain,
		button:  "Send again",
		title:   func(messages string) string { return "Send " + messages + " again" },
		path:    apiMessages + "/Retry",
		isExact: true,
		none:    noneMatches + " Only delivered messages can be sent again.",
		done:    "Sent",
		fits:    func(s webhook.Status) bool { return s == webhook.Successful },
		effects: func(tally) string {
			return "They have been delivered. Each is sent once more, with the same webhook-id and the header " +
				"webhook-replay; receivers that have kept the webhook-id will ignore it."
		},
	},
	{
		name:    "Delete",
		button:  "Delete",
		title:   func(messages string) string { return "Delete " + messages },
		path:    apiMessages + "/Delete",
		done:    "Deleted",
		danger:  true,
		isExact: true,
		none:    noneMatches,
		fits:    func(webhook.Status) bool { return true },
		effects: func(tally) string {
			return "The messages and their attempts are deleted, and no further attempts are made. " +
				"This cannot be undone."
		},
	},
}

// actionSendAgain has an effect on delivered messages only.
const actionSendAgain = "SendAgain"

// address returns the address of the page of an action.
func (a bulkAction) address() string { return strings.ReplaceAll(pathBulk, "{Action}", a.name) }

// bulkLinks returns the links to the actions on the messages that match the filters of a list.
func bulkLinks(base string, filters url.Values) []encode.Link {
	status, hasStatus := onlyStatus(filters)
	var links []encode.Link
	for _, a := range bulkActions {
		if !hasStatus || a.fits(status) {
			links = append(links, encode.Link{Name: a.button, URL: with(base+a.address(), filters)})
		}
	}
	return links
}

// selection is the messages that an action has an effect on.
type selection struct {
	filters url.Values // of the operation
	list    url.Values // of the list that led to the action
	counted string     // limits the operation to the messages of a dry run; empty if these are none
}

// operation returns the filters for the messages that are changed. Those that have changed since the
// user has seen their number are not among them, so that a form that is sent twice has no second effect.
func (s selection) operation() url.Values {
	filters := without(s.filters)
	filters.Set(memberCounted, s.counted)
	return filters
}

// tally is the response of both operations.
type tally struct {
	wire.MessagesRetried
	Deleted int64
}

// changed returns the number of messages that the action changes, or has changed.
func (t tally) changed() int64 { return t.Retried + t.Deleted }

// forecast is the result that an action would have.
type forecast struct {
	tally
	state string // of the confirmation
}

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
	list, err := listFilters().in(x)
	if err != nil {
		return err
	}
	filters, err := a.filters(x, list)
	if err != nil {
		return err
	}
	n, err := h.forecast(x, a, filters)
	if err != nil {
		return err
	}
	return a.confirmation(x, selection{filters, list, n.Counted}, n).open(x)
}

// filters returns the filters of an action on the messages of a list.
func (a bulkAction) filters(x *edge.Context, list url.Values) (url.Values, error) {
	filters, err := withStart(x, list)
	if err != nil {
		return nil, err
	}
	filters = without(filters)
	if !filters.Has(queries.MemberUntil) { // messages that come later are not meant
		filters.Set(queries.MemberUntil, x.Timing.Start.UTC().Format("2006-01-02T15:04:05.0000000Z"))
	}
	status, hasStatus := onlyStatus(filters)
	if a.name != actionSendAgain || hasStatus && status == webhook.Successful {
		return filters, nil
	}
	delivered := strconv.Itoa(int(webhook.Successful))
	for _, name := range []string{fieldStatus, statusIn} {
		if !filters.Has(name) { // in addition to the filters of the user
			filters.Set(name, delivered)
			break
		}
	}
	return filters, nil
}

// forecast counts the messages that an action would change.
func (h bulk) forecast(x *edge.Context, a bulkAction, filters url.Values) (forecast, error) {
	var n forecast
	err := h.operate(x, a, filters, true, &n.tally)
	if err != nil {
		return n, err
	}
	if a.name == actionSendAgain && n.Replayed < n.Retried {
		return n, fault.New(fault.Invalid,
			"The filters select messages that have not been delivered; remove those on %s", fieldStatus)
	}
	n.state = stateOf(
		strconv.FormatInt(n.changed(), 10),
		strconv.FormatInt(n.Replayed, 10),
		strconv.FormatInt(n.InOrder, 10),
	)
	return n, nil
}

// operate calls the operation of an action. The filters are in the address, as those of the list: in a
// body, the value a,b would be one text instead of a list of two.
func (h bulk) operate(x *edge.Context, a bulkAction, filters url.Values, isDryRun bool, into *tally) error {
	if isDryRun {
		filters = without(filters)
		filters.Set("DryRun", "true")
	}
	return h.call(x, Call{Method: http.MethodPost, Path: a.path, Query: filters, DryRun: isDryRun}, into)
}

// confirmation returns the confirmation before an action.
func (a bulkAction) confirmation(x *edge.Context, s selection, n forecast) confirmation {
	title := a.title(display.Count(n.changed(), "message", "messages"))
	c := confirmation{
		Effects: []string{a.effects(n.tally)},
		Action:  a.address(),
		Hidden: append(pairsOf(s.filters),
			encode.Pair{Name: memberState, Value: n.state},
			encode.Pair{Name: memberList, Value: s.list.Encode()},
			encode.Pair{Name: memberCounted, Value: s.counted},
		),
		Button: title,
		Danger: a.danger,
		Back:   with(pathMessages, s.list),
	}
	for _, condition := range conditionsOf(messageKind(), "", a.shown(s, n), messageWords) {
		c.Facts = append(c.Facts, encode.Pair{
			Name:  condition.Field + " " + condition.Operator,
			Value: condition.Value,
		})
	}
	switch skipped := n.Matched - n.changed(); skipped {
	case 0:
	case 1:
		c.Effects = append(c.Effects, "1 other message matches and stays as it is.")
	default:
		c.Effects = append(c.Effects, count(skipped)+" other messages match and stay as they are.")
	}
	if n.Warning != "" {
		c.Effects = append(c.Effects, sentence(n.Warning))
	}
	if n.changed() == 0 {
		title = a.title("messages")
		c.Effects = []string{a.none}
		c.Button = ""
	}
	c.Page = frame(x, title, messagesLink)
	return c
}

// shown returns the filters that the confirmation of an action shows. Of the messages that a list selects,
// only the delivered ones are sent again; without any, the page shows which the list selects.
func (a bulkAction) shown(s selection, n forecast) url.Values {
	if a.name != actionSendAgain {
		return s.filters
	}
	filters := withoutStatus(s.filters)
	hasStatus := len(withoutStatus(s.list)) < len(s.list)
	if n.changed() > 0 || !hasStatus {
		filters.Set(fieldStatus, strconv.Itoa(int(webhook.Successful)))
		return filters
	}
	for name, texts := range s.list {
		if s.filters.Has(name) {
			filters[name] = texts
		}
	}
	return filters
}

// sentence returns a text that starts in lower case as a sentence.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
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
	s, err := selectionOf(values)
	if err != nil {
		return err
	}
	unchanged, err := h.forecast(x, a, s.operation())
	if err != nil {
		return err
	}
	n := unchanged
	if !a.isExact { // attempts may go on while the page is open
		n, err = h.forecast(x, a, s.filters)
		if err != nil {
			return err
		}
	}
	if unchanged.changed() == 0 {
		return a.doneBefore(x, s)
	}
	if n.state != values.Get(memberState) {
		return h.recount(x, a, s)
	}
	var done tally
	err = h.operate(x, a, s.operation(), false, &done)
	if err != nil {
		return a.confirmation(x, s, n).retry(x, err)
	}
	if done.changed() == 0 { // the same form was sent twice at the same time
		return a.doneBefore(x, s)
	}
	back := withoutStatus(s.list) // which the action has changed
	return goTo(x, withFilter(pathMessages, back, memberNote, countedNote(x, a.done, done.changed())))
}

// recount shows the confirmation again, with the messages that match now.
func (h bulk) recount(x *edge.Context, a bulkAction, s selection) error {
	n, err := h.forecast(x, a, s.filters)
	if err != nil {
		return err
	}
	s.counted = n.Counted
	c := a.confirmation(x, s, n)
	c.Error = &problem{Message: "Since this page was opened, the selection has changed to " +
		display.Count(n.changed(), "message", "messages") + ". Nothing has been done; confirm again."}
	return c.show(x, http.StatusConflict)
}

// doneBefore shows that a form has no effect, since all of its messages have changed.
func (a bulkAction) doneBefore(x *edge.Context, s selection) error {
	c := a.confirmation(x, s, forecast{})
	c.Error = &problem{Message: "This was done already, or is no longer needed: all of these messages have been" +
		" attempted, changed or deleted since this page was opened. Nothing has been done now."}
	c.Effects = []string{"The list shows the messages as they are now."}
	c.BackText = "Show the messages"
	return c.show(x, http.StatusConflict)
}

// selectionOf returns the selection of a form.
func selectionOf(values url.Values) (selection, error) {
	filters, err := messageFilters(memberState, memberList, memberCounted).read(values)
	if err != nil {
		return selection{}, err
	}
	for member, text := range map[string]string{
		queries.MemberUntil: filters.Get(queries.MemberUntil),
		memberCounted:       values.Get(memberCounted),
	} {
		if text == "" {
			return selection{}, fault.New(fault.Invalid,
				"The form has no %s; start again from the list of messages", member)
		}
	}
	list, err := url.ParseQuery(values.Get(memberList))
	if err == nil {
		list, err = listFilters().read(list)
	}
	return selection{filters, list, values.Get(memberCounted)}, err
}
