package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/sqlite"
)

// visitor returns a client with a session of the subscriber of a shop.
func (m *messagesFixture) visitor(t *testing.T, shop int) client {
	t.Helper()
	return portalFixture{Instance: m.Instance, t: t, shop: wire.Subscriber{RecID: m.shops[shop].Subscriber}}.open()
}

// messages returns the messages that match filters, the oldest first.
func (m *messagesFixture) messages(t *testing.T, filters string) (list []wire.Message) {
	t.Helper()
	for _, row := range m.admin.do("GET /Webhooks/Messages?OrderBy=ItemNo&"+filters, "").want(t, 200).envelope(t).Results {
		var message wire.Message
		if err := json.Unmarshal(row, &message); err != nil {
			t.Fatal(err)
		}
		list = append(list, message)
	}
	return list
}

// messagePath returns the path of the operations on a message.
func messagePath(m wire.Message) string {
	return "/Webhooks/Subscribers/" + m.SubscriberID + "/Subscriptions/" + m.SubscriptionID + "/Messages/" + m.MessageID
}

// main returns the content of a page, without the bar.
func (a answer) main() string { return a.body[max(0, strings.Index(a.body, "<main")):] }

// TestPageMembersInAnyLetterCase checks that members of pages are read as they are accepted.
func TestPageMembersInAnyLetterCase(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	all := m.messages(t, "")
	for _, name := range []string{"Before", "before", "BEFORE"} {
		page := fmt.Sprintf("?%s=%d", name, all[4].ItemNo)
		older := c.do("GET /Pages/Messages"+page, "").want(t, 200).wantText(t, "Newest")
		if n := rowCount(older); n != 4 {
			t.Errorf("%s: %d rows, want 4", page, n)
		}
		theirs := m.visitor(t, 0).do("GET "+edge.PortalPath+"/Messages"+page, "").want(t, 200)
		if n := rowCount(theirs); n != 4 {
			t.Errorf("%s: the subscriber sees %d rows, want 4", page, n)
		}
	}
	c.do("GET /Pages/Messages?count=true", "").want(t, 200).wantText(t, "10 match.")
	c.do("GET /Pages/Messages?note=Delete", "").want(t, 200).wantText(t, "The message has been deleted.")
	c.do("GET /Pages/Messages/"+all[0].MessageID+"?note=Test", "").want(t, 200).wantText(t, "on its way")
	subscribers := c.do("GET /Pages/Subscribers?SKIP=1", "").want(t, 200).wantText(t, "Shop 1")
	if strings.Contains(subscribers.body, "Shop 0") {
		t.Error("the page of subscribers shows those that it skips")
	}
}

// TestTotalOfLaterPages checks that a page of older messages does not show their number as the total.
func TestTotalOfLaterPages(t *testing.T) {
	m := newMessagesFixture(t)
	page := fmt.Sprintf("/Pages/Messages?Count=true&Before=%d", m.messages(t, "")[4].ItemNo)
	a := signIn(t, m.Instance).do("GET "+page, "").want(t, 200)
	if strings.Contains(a.body, "4 match.") {
		t.Error("the page shows the number of the older messages as the total")
	}
}

// TestActionsFitTheStatus checks that an action that does not fit the status of a message is neither
// offered nor carried out, and that the page shows the present status.
func TestActionsFitTheStatus(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	theirs := m.visitor(t, 0)
	c := signIn(t, m.Instance)
	failed := m.messages(t, "Status=3&SubscriptionID="+m.shops[0].GUID)[0]
	delivered := m.messages(t, "Status=1&SubscriptionID="+m.shops[0].GUID)[0]
	for _, tt := range []struct {
		client
		path, reason, status string
	}{
		{c, "/Pages/Messages/" + failed.MessageID + "/SendAgain", "this one has not", "failed"},
		{c, "/Pages/Messages/" + delivered.MessageID + "/Retry", "nothing to retry", "delivered"},
		{theirs, edge.PortalPath + "/Messages/" + delivered.MessageID + "/Do/Retry", "nothing to retry", "delivered"},
	} {
		shown := tt.do("GET "+tt.path, "").want(t, 200).wantText(t, tt.reason, "<dt>Status</dt><dd>"+tt.status)
		sent := tt.do("POST "+tt.path, "", formType).want(t, 409).
			wantText(t, tt.reason, "Nothing has been done: the status is now "+tt.status)
		for _, a := range []answer{shown, sent} {
			if strings.Contains(a.main(), "<button") {
				t.Errorf("%s has a button: %s", tt.path, a.main())
			}
			if strings.Contains(a.body, "POST /Webhooks") {
				t.Errorf("%s shows an operation of the API: %s", tt.path, a.main())
			}
		}
	}
	m.wantStatuses(t, 0, asFilled)
	theirs.do("POST "+edge.PortalPath+"/Messages/"+delivered.MessageID+"/Do/SendAgain", "", formType).want(t, 404)
}

// TestConfirmationNamesPresentEndpoint checks that the page before a retry has the address to which the
// message will be sent, if that is not the one of the last attempt any more.
func TestConfirmationNamesPresentEndpoint(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal", "--webhooks-allow-targets", "127.0.0.1")
	failed := m.messages(t, "Status=3&SubscriptionID="+m.shops[0].GUID)[0]
	clients := map[string]client{
		"/Pages/Messages/" + failed.MessageID + "/Retry":                signIn(t, m.Instance),
		edge.PortalPath + "/Messages/" + failed.MessageID + "/Do/Retry": m.visitor(t, 0),
	}
	for path, c := range clients {
		page := c.do("GET "+path, "").want(t, 200)
		if strings.Contains(page.main(), "Now sent to") {
			t.Errorf("%s has two addresses although the subscription was not changed: %s", path, page.main())
		}
	}
	subscription := "/Webhooks/Subscribers/" + failed.SubscriberID + "/Subscriptions/" + failed.SubscriptionID
	m.admin.do("PATCH "+subscription, `{"URL":"http://127.0.0.1:9/ok"}`).want(t, 200)
	for path, c := range clients {
		c.do("GET "+path, "").want(t, 200).
			wantText(t, "<dt>Now sent to</dt><dd>http://127.0.0.1:9/ok", "<dt>Endpoint</dt><dd>"+failed.URL)
	}
}

// TestPeriodsStaySelected checks that the tab of a period selects the period and not its start, so that
// it stays selected when the page is loaded again later.
func TestPeriodsStaySelected(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	for name, rows := range map[string]int{"last hour": 0, "last 24 hours": 0, "last 7 days": 10} {
		to := c.do("GET /Pages/Messages", "").want(t, 200).link(t, name)
		if strings.Contains(to, "Since=") {
			t.Errorf("the link to the %s has a fixed start: %s", name, to)
		}
		page := c.do("GET "+to+"&Refresh=10", "").want(t, 200).
			wantText(t, `<b aria-current="true">`+name+`</b>`, "Added in the <b>"+name+"</b>")
		if n := rowCount(page); n != rows {
			t.Errorf("%d messages of the %s, want %d", n, name, rows)
		}
		if stop := page.link(t, "Stop"); stop != to {
			t.Errorf("the link that ends the refreshing of the %s leads to %s", name, stop)
		}
	}
	m.visitor(t, 0).do("GET "+edge.PortalPath+"/Messages?period=WEEK", "").want(t, 200).
		wantText(t, `<b aria-current="true">last 7 days</b>`, "5 shown")

	list := c.do("GET /Pages/Messages?Period=week", "").want(t, 200)
	confirmation := c.do("GET "+list.link(t, "Delete…"), "").want(t, 200).
		wantText(t, "Delete 10 messages", "Added since")
	to := c.send(t, confirmation).want(t, 303).header.Get("Location")
	if !strings.Contains(to, "Period=week") || strings.Contains(to, "Since=") {
		t.Errorf("the action leads to %s, want the list of the period", to)
	}
}

// TestMessagesByTime selects messages by the times of the form. The page names both bounds with links that
// remove them, actions keep them, and a period replaces them.
func TestMessagesByTime(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	since, until := hoursLater(2, "2006-01-02T15:04"), hoursLater(5, "2006-01-02T15:04")
	unescape := func(text string) string { return strings.ReplaceAll(text, "%3A", ":") }
	var form pageForm
	for _, f := range c.do("GET /Pages/Messages?Status=3", "").want(t, 200).forms() {
		form = f
	}
	for _, name := range []string{"Since", "Until"} {
		if !form.values.Has(name) {
			t.Fatalf("the form has no input %s: %v", name, form.values)
		}
	}
	form.values.Set("Since", unescape(since))
	form.values.Set("Until", unescape(until))
	list := c.do("GET /Pages/Messages?"+form.values.Encode(), "").want(t, 200).
		wantText(t, "Status is <b>failed</b>", "Added since", "Added before", `value="`+unescape(until)+`"`)
	if n := rowCount(list); n != 2 {
		t.Errorf("%d failed messages between the bounds, want 2", n)
	}
	for removed, rows := range map[string]int{"Added since": 2, "Added before": 4} {
		link := regexp.MustCompile(`href="([^"]*)" aria-label="Remove: ` + removed).FindStringSubmatch(list.body)
		if link == nil {
			t.Fatalf("no link removes %s: %s", removed, list.main())
		}
		if n := rowCount(c.do("GET "+html.UnescapeString(link[1]), "").want(t, 200)); n != rows {
			t.Errorf("%d rows without %s, want %d", n, removed, rows)
		}
	}
	if to := list.link(t, "last 7 days"); to != "/Pages/Messages?Period=week&Status=3" {
		t.Errorf("the tab of a period leads to %s", to)
	}
	confirmation := c.do("GET "+list.link(t, "Delete…"), "").want(t, 200).wantText(t, "Delete 2 messages", "Added before")
	to := c.send(t, confirmation).want(t, 303).header.Get("Location")
	if !strings.Contains(to, "Since="+since) || !strings.Contains(to, "Until="+until) {
		t.Errorf("the action leads to %s, want the list with both bounds", to)
	}
	if n := len(m.messages(t, "")); n != 8 {
		t.Errorf("%d messages are left, want 8", n)
	}

	refused := c.do("GET /Pages/Messages?Until=soon", "")
	refused.wantMarked(t, "Until", "Added before", "soon")
	if strings.Contains(refused.main(), "No message matches") {
		t.Error("the page of an invalid time has a result")
	}
	theirs := m.visitor(t, 0)
	theirs.do("GET "+edge.PortalPath+"/Messages?Since=soon", "").wantMarked(t, "Since", "Added since", "soon")
	ofPeriod := c.do("GET /Pages/Messages?Period=week", "").want(t, 200)
	if strings.Contains(ofPeriod.body, `name="Since"`) || strings.Contains(ofPeriod.body, `name="Until"`) {
		t.Error("the form of a period has an input for a time")
	}
}

// TestPeriodsReplaceTimes checks that a period in the address of a list, or of an action, replaces both
// times.
func TestPeriodsReplaceTimes(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	const address = "/Messages?Period=week&Since=2999-01-01&Until=2020-01-01"
	for _, list := range []answer{
		c.do("GET /Pages"+address, ""),
		m.visitor(t, 0).do("GET "+edge.PortalPath+address, ""),
	} {
		list.want(t, 200).wantText(t, "Added in the <b>last 7 days</b>", " shown, newest first")
		if n := strings.Count(list.body, "Remove: "); n != 1 {
			t.Errorf("the list has %d conditions, want the period only", n)
		}
	}
	c.do("GET /Pages/AllMessages/Delete?Period=week&Until=2020-01-01", "").want(t, 200).
		wantText(t, "Delete 10 messages")
}

// TestWrongFiltersKeepTheForm checks that each wrong filter of a list is marked in its form, which keeps the
// others, also if it usually has no input.
func TestWrongFiltersKeepTheForm(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c, theirs := signIn(t, m.Instance), m.visitor(t, 0)
	for _, tt := range []struct{ filter, member, label, value string }{
		{"Status=broken", "Status", "Status", "broken"},
		{"StatusIn=1&StatusIn=x", "StatusIn", "StatusIn", "1,x"},
		{"Period=year", "Period", "Period", "year"},
		{"Period=hour&period=day", "Period", "Period", "hour,day"},
		{"Since=soon", "Since", "Added since", "soon"},
		{"RetriesGreaterThan=many", "RetriesGreaterThan", "RetriesGreaterThan", "many"},
	} {
		address := "/Messages?EventName=debtor.created&" + tt.filter
		for _, page := range []answer{
			c.do("GET /Pages"+address, ""), theirs.do("GET "+edge.PortalPath+address, ""),
		} {
			page.wantMarked(t, tt.member, tt.label, tt.value)
			page.wantText(t, "Nothing is shown, since a value is wrong", `name="EventName" value="debtor.created"`)
			if strings.Contains(page.main(), `type="hidden" name="`+tt.member) {
				t.Errorf("%s: the form has the filter twice", tt.filter)
			}
		}
	}
	c.do("GET /Pages/Subscriptions?IsEnabled=perhaps", "").wantMarked(t, "IsEnabled", "Enabled", "perhaps")
	c.do("GET /Pages/Subscribers?ItemNo=first", "").wantMarked(t, "ItemNo", "ItemNo", "first")
}

// TestStatusesAreShownAsSent checks that a number that is no status is shown as it was sent.
func TestStatusesAreShownAsSent(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	for status, words := range map[string]string{"-1": "-1", "257": "257", "7": "status 7"} {
		c.do("GET /Pages/Messages?Status="+status, "").want(t, 200).wantText(t, "Status is <b>"+words+"</b>")
	}
	for _, q := range []string{"Status=-1", "Status=3", "StatusIn=2,3"} {
		page := c.do("GET /Pages/AllMessages/SendAgain?"+q, "").want(t, 200).
			wantText(t, "nothing would change. Only delivered messages can be sent again.")
		if n := strings.Count(page.main(), "<dt>Status"); n != 1 {
			t.Errorf("with %s, the page has %d conditions on the status: %s", q, n, page.main())
		}
	}
}

// TestPagesBeforeTheOldest checks that a page without older messages does not say that there are none.
func TestPagesBeforeTheOldest(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	for q, text := range map[string]string{
		"Before=1":          "There are no older messages. ",
		"Before=1&Status=3": "There are no older messages that match these filters. ",
	} {
		page := c.do("GET /Pages/Messages?"+q, "").want(t, 200).wantText(t, text)
		if to := page.link(t, "Show the newest"); strings.Contains(to, "Before") {
			t.Errorf("%s leads to %s", q, to)
		}
	}
	for _, before := range []string{"-1", "0", "x", "99999999999999999999"} {
		c.do("GET /Pages/Messages?Before="+before, "").want(t, 400).wantText(t, "Before must be the ItemNo")
	}
}

// TestTimesAsPagesShowThem sends times in the forms that pages show: the example of the input, and the
// conditions above the list.
func TestTimesAsPagesShowThem(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	for _, path := range []string{"/Pages/Messages", "/Pages/AllMessages/Delete"} {
		for text, shown := range map[string]string{
			"2999-01-31 14:00, UTC":   "2999-01-31 14:00:00 UTC",
			"2999-01-31 14:00:16 UTC": "2999-01-31 14:00:16 UTC",
			" 2999-01-31 14:00utc ":   "2999-01-31 14:00:00 UTC",
			"2999-01-31, UTC":         "2999-01-31 00:00:00 UTC",
		} {
			c.do("GET "+path+"?Since=2020-01-01&Until="+url.QueryEscape(text), "").want(t, 200).
				wantText(t, shown)
		}
	}
	theirs := m.visitor(t, 0)
	theirs.do("GET "+edge.PortalPath+"/Messages?Since="+url.QueryEscape("2999-01-31 14:00, UTC"), "").want(t, 200)
	for _, text := range []string{"soon", "2999-01-31 14:00-02:00, UTC", "UTC", "2999-01-31 UTC UTC"} {
		refused := c.do("GET /Pages/Messages?Since="+url.QueryEscape(text), "").
			wantText(t, "must be a time such as 2026-01-31 14:00, UTC, or a date such as 2026-01-31")
		refused.wantMarked(t, "Since", "Added since", text)
	}
}

// TestPagesAfterActionsRefresh checks that the page after a message is sent once more offers to load itself
// again, and that this ends by a link.
func TestPagesAfterActionsRefresh(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	for _, shop := range m.shops { // the messages stay due
		path := "/Webhooks/Subscribers/" + shop.Subscriber + "/Subscriptions/" + shop.GUID
		m.admin.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
	}
	c, theirs := signIn(t, m.Instance), m.visitor(t, 0)
	failed := m.messages(t, "Status=3&SubscriptionID="+m.shops[0].GUID)
	delivered := m.messages(t, "Status=1")
	ended := c.do("GET /Pages/Messages/"+delivered[1].MessageID, "").want(t, 200)
	if strings.Contains(ended.main(), "Refresh every") {
		t.Error("the page of a delivered message offers to load itself again")
	}
	for _, tt := range []struct {
		client
		path, page string
	}{
		{c, "/Pages/Messages/" + failed[0].MessageID + "/Retry", "/Pages/Messages/" + failed[0].MessageID},
		{c, "/Pages/Messages/" + delivered[0].MessageID + "/SendAgain", "/Pages/Messages/" + delivered[0].MessageID},
		{c, "/Pages/AllMessages/Retry?Status=3", "/Pages/Messages"},
		{c, "/Pages/AllMessages/SendAgain?Status=1", "/Pages/Messages"},
		{theirs, edge.PortalPath + "/Messages/" + failed[1].MessageID + "/Do/Retry",
			edge.PortalPath + "/Messages/" + failed[1].MessageID},
	} {
		confirmation := tt.do("GET "+tt.path, "").want(t, 200)
		after := tt.follow(t, tt.send(t, confirmation)).wantText(t, `class="note"`)
		refreshed := tt.do("GET "+after.link(t, "Refresh every 10 s"), "").want(t, 200).wantHeader(t, "Refresh", "10")
		if strings.Contains(refreshed.main(), "Refresh every") || strings.Contains(refreshed.main(), `class="note"`) {
			t.Errorf("after %s, the page that is loaded again offers it once more, or repeats the note", tt.path)
		}
		if to := refreshed.link(t, "Stop"); to != tt.page {
			t.Errorf("after %s, the link that ends the refreshing leads to %s, want %s", tt.path, to, tt.page)
		}
	}
}

// TestTabsOfStatus checks that "all" is selected without any filter on the status only, that the tabs
// replace all of them, and that a status is recognized in another form of its number.
func TestTabsOfStatus(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	const all = `<b aria-current="true">all</b>`
	c.do("GET /Pages/Messages?Key=D1", "").want(t, 200).wantText(t, all)
	for _, q := range []string{"StatusIn=2,3", "StatusGreaterThan=1", "StatusNotEqualTo=0"} {
		list := c.do("GET /Pages/Messages?"+q, "").want(t, 200)
		if strings.Contains(list.body, all) {
			t.Errorf("%s: the tab for all messages is selected", q)
		}
		if to := list.link(t, `<span aria-hidden="true">✗</span> failed`); to != "/Pages/Messages?Status=3" {
			t.Errorf("%s: the tab for failed messages leads to %s", q, to)
		}
		if to := list.link(t, "all"); to != "/Pages/Messages" {
			t.Errorf("%s: the tab for all messages leads to %s", q, to)
		}
	}
	list := c.do("GET /Pages/Messages?Status=01", "").want(t, 200).
		wantText(t, `<b aria-current="true"><span aria-hidden="true">✓</span> delivered</b>`, "Send again…")
	if strings.Contains(list.body, "Retry…") {
		t.Error("Status=01: the page offers to retry delivered messages")
	}
}

// TestReplaysInOtherForms checks that the page before a retry points out that delivered messages are
// sent again, also if the number of their status has another form.
func TestReplaysInOtherForms(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	for _, q := range []string{"Status=1", "Status=01", "Status=1.0", "StatusIn=01,3", "StatusIn=3,1"} {
		c.do("GET /Pages/AllMessages/Retry?"+q, "").want(t, 200).wantText(t, "Delivered ones are sent once more")
	}
	for _, q := range []string{"Status=3", "StatusIn=2,3", "StatusLessThan=2", "StatusIn=13,3"} {
		c.do("GET /Pages/AllMessages/Retry?"+q, "").want(t, 200).wantText(t, "Delivered ones stay as they are")
	}
}

// TestSendAgainLeadsBack checks that the way back from the page that sends delivered messages again leads
// to the list as the user has seen it, and that other filters on the status are kept.
func TestSendAgainLeadsBack(t *testing.T) {
	m := newKeyedMessages(t)
	c := signIn(t, m.Instance)
	list := c.do("GET /Pages/Messages?Key=C1", "").want(t, 200)
	confirmation := c.do("GET "+list.link(t, "Send again…"), "").want(t, 200).wantText(t, "Send 1 message again")
	if to := confirmation.link(t, "Cancel"); to != "/Pages/Messages?Key=C1" {
		t.Errorf("the way back leads to %s", to)
	}
	c.do("GET /Pages/AllMessages/SendAgain?Status=3", "").want(t, 200).wantText(t, "nothing would change")
	c.do("GET /Pages/AllMessages/SendAgain?StatusIn=1,3", "").want(t, 200).wantText(t, "Send 2 messages again")
	c.do("GET /Pages/AllMessages/SendAgain?Status=3&StatusIn=1,3", "").want(t, 400).wantText(t, "have not been delivered")
}

// TestSendAgainHasOneStatus checks that the page before delivered messages are sent again has one condition
// on the status, also if the list had others.
func TestSendAgainHasOneStatus(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	for _, q := range []string{"", "?Status=1", "?Status=01", "?StatusIn=1,3", "?StatusLessThan=3"} {
		page := c.do("GET /Pages/AllMessages/SendAgain"+q, "").want(t, 200).
			wantText(t, "Send 2 messages again", "<dt>Status is</dt><dd>delivered</dd>")
		if n := strings.Count(page.main(), "<dt>Status"); n != 1 {
			t.Errorf("with %q, the page has %d conditions on the status: %s", q, n, page.main())
		}
		outdated := c.send(t, page, "State", "outdated").want(t, 409)
		if n := strings.Count(outdated.main(), "<dt>Status"); n != 1 {
			t.Errorf("with %q, the repeated confirmation has %d conditions on the status", q, n)
		}
	}
}

// TestConfirmationComparesMessages checks that a form is out of date if as many messages match as the
// user has confirmed, but others.
func TestConfirmationComparesMessages(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	s := m.shops[0]
	m.admin.do("PATCH /Webhooks/Subscribers/"+s.Subscriber+"/Subscriptions/"+s.GUID, `{"IsEnabled":false}`).want(t, 200)
	confirmation := c.do("GET /Pages/AllMessages/Delete?Status=2", "").want(t, 200).wantText(t, "Delete 2 messages")

	retrying := m.messages(t, "Status=2&SubscriptionID="+s.GUID)[0]
	failed := m.messages(t, "Status=3&SubscriptionID="+s.GUID)[0]
	m.admin.do("DELETE "+messagePath(retrying), "").want(t, 204)
	m.admin.do("POST "+messagePath(failed)+"/Retry", "").want(t, 202)
	outdated := c.send(t, confirmation).want(t, 409).wantText(t, "Nothing has been done", "Delete 2 messages")
	if n := len(m.messages(t, "Status=2")); n != 2 {
		t.Errorf("%d messages are left, want 2", n)
	}
	c.follow(t, c.send(t, outdated)).wantText(t, "2 messages have been deleted.")
}

// TestOperandsAreNamed checks that the filters of a list name the items of an operand one by one.
func TestOperandsAreNamed(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	short := func(id string) string { return id[:4] + "…" + id[len(id)-4:] }
	first, second := m.shops[0].GUID, m.shops[1].GUID
	for q, want := range map[string]string{
		"StatusIn=2,3":      "<b>retrying, failed</b>",
		"StatusIn=[02,3]":   "<b>retrying, failed</b>",
		"StatusBetween=0,1": "<b>not sent, delivered</b>",
		"SubscriptionIDIn=" + first + "," + second: "<b>" + short(first) + ", " + short(second) + "</b>",
		"EventName=a,b": "<b>a,b</b>",
	} {
		c.do("GET /Pages/Messages?"+q, "").want(t, 200).wantText(t, want)
	}
	c.do("GET /Pages/Messages", "").want(t, 200).wantText(t, `title="https://shop.example/in"`)
}

// TestDueMessagesThatWait checks that pages call a message due only if something will send it.
func TestDueMessagesThatWait(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c := signIn(t, m.Instance)
	s := m.shops[0]
	path := "/Webhooks/Subscribers/" + s.Subscriber + "/Subscriptions/" + s.GUID
	m.admin.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
	failed := m.messages(t, "Status=3&SubscriptionID="+s.GUID)[0]
	m.admin.do("POST "+messagePath(failed)+"/Retry", "").want(t, 202)

	list := "/Messages?MessageID=" + failed.MessageID
	page := "/Messages/" + failed.MessageID
	theirs := m.visitor(t, 0)
	for path, c := range map[string]client{
		"/Pages" + list:        c,
		"/Pages" + page:        c,
		edge.PortalPath + list: theirs,
		edge.PortalPath + page: theirs,
	} {
		waitFor(t, "the reason on "+path, func() bool {
			return strings.Contains(c.do("GET "+path, "").want(t, 200).body, ">once enabled<")
		})
	}
}

// TestManyAttempts checks that pages with the latest attempts of a message have a hint at earlier ones.
func TestManyAttempts(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--webhooks-portal"}
	m := &messagesFixture{}
	daemontest.Prepare(t, dir, args...)
	m.addMessages(t, dir)
	store, err := sqlite.Open(filepath.Join(dir, "whd.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(attempts int, status int) error {
		return store.Exec(fmt.Sprintf(`
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO SY_WebhookMessageResponse
	(MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Duration, LastSavedDateTime)
SELECT m.ID, n, printf('%%08x-0000-7000-8000-%%012x', n, m.ID), 2, n, 500, 'Internal Server Error', 100000,
	m.LastSavedDateTime
FROM numbers, SY_WebhookMessage m WHERE m.Status = %d`, attempts, status))
	}
	err = errors.Join(add(80, 2), add(50, 1), store.Close())
	if err != nil {
		t.Fatal(err)
	}
	m.Instance = daemontest.StartIn(t, dir, args...)
	m.admin = asAdmin(t, m.Instance)

	const hint = "These are the latest 50."
	theirs := m.visitor(t, 0)
	retrying := m.messages(t, "Status=2&SubscriptionID="+m.shops[0].GUID)[0].MessageID
	signIn(t, m.Instance).do("GET /Pages/Messages/"+retrying, "").want(t, 200).
		wantText(t, hint, "All attempts", "Attempt 80", "Attempt 31")
	a := theirs.do("GET "+edge.PortalPath+"/Messages/"+retrying, "").want(t, 200).
		wantText(t, hint, "Attempt 80", "Attempt 31")
	if strings.Contains(a.body, "Attempt 30<") || strings.Contains(a.body, "All attempts") {
		t.Error("the subscriber sees more than the latest attempts")
	}
	delivered := m.messages(t, "Status=1&SubscriptionID="+m.shops[0].GUID)[0].MessageID
	a = theirs.do("GET "+edge.PortalPath+"/Messages/"+delivered, "").want(t, 200).wantText(t, "Attempt 1<")
	if strings.Contains(a.body, hint) {
		t.Error("the page of 50 attempts has the hint at earlier ones")
	}
}
