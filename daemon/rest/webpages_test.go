package rest_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// pageForm is a form of a page with the values that a browser would send.
type pageForm struct {
	method, action string
	values         url.Values
}

var (
	formTag     = regexp.MustCompile(`(?s)<form([^>]*)>(.*?)</form>`)
	inputTag    = regexp.MustCompile(`<(input|textarea|select)([^>]*)>`)
	selectedTag = regexp.MustCompile(`(?s)<select[^>]* name="([^"]*)"[^>]*>(.*?)</select>`)
	optionTag   = regexp.MustCompile(`<option value="([^"]*)"( selected)?>`)
)

// attribute returns an attribute of a tag.
func attribute(tag, name string) string {
	m := regexp.MustCompile(` ` + name + `="([^"]*)"`).FindStringSubmatch(tag)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// forms returns the forms of a page, except those of the bar.
func (a answer) forms() []pageForm {
	var forms []pageForm
	for _, m := range formTag.FindAllStringSubmatch(a.body, -1) {
		f := pageForm{method: attribute(m[1], "method"), action: attribute(m[1], "action"), values: make(url.Values)}
		isInBar := strings.HasSuffix(f.action, "/auth/logout") || strings.HasSuffix(f.action, "/Portal/Leave")
		if isInBar {
			continue
		}
		for _, input := range inputTag.FindAllStringSubmatch(m[2], -1) {
			tag := input[2]
			isOff := attribute(tag, "type") == "checkbox" && !strings.Contains(tag, " checked")
			if input[1] == "input" && !isOff {
				f.values.Add(attribute(tag, "name"), attribute(tag, "value"))
			}
		}
		for _, choice := range selectedTag.FindAllStringSubmatch(m[2], -1) {
			options := optionTag.FindAllStringSubmatch(choice[2], -1)
			value := options[0][1]
			for _, o := range options {
				if o[2] != "" {
					value = o[1]
				}
			}
			f.values.Add(choice[1], value)
		}
		forms = append(forms, f)
	}
	return forms
}

// send sends the form that posts something, with changes of its values: pairs of names and values.
func (c client) send(t testing.TB, a answer, changes ...string) answer {
	t.Helper()
	for _, f := range a.forms() {
		if f.method != "post" {
			continue
		}
		for i := 0; i < len(changes); i += 2 {
			f.values.Set(changes[i], changes[i+1])
		}
		return c.do("POST "+f.action, f.values.Encode(), "Content-Type: application/x-www-form-urlencoded")
	}
	t.Fatalf("the page has no form: %s", a.body[max(0, strings.Index(a.body, "<main")):])
	return answer{}
}

// follow goes where a response redirects.
func (c client) follow(t testing.TB, a answer) answer {
	t.Helper()
	a.want(t, 303)
	return c.do("GET "+a.header.Get("Location"), "").want(t, 200)
}

// TestMessagePages finds a message in the list by its status, and carries out each action, after
// its confirmation.
func TestMessagePages(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	list := c.do("GET /Pages/Messages", "").want(t, 200).
		wantText(t, "10 shown, newest first.", "not sent", "delivered", "retrying", "failed", "shop.example/in")
	if n := rowCount(list); n != 10 {
		t.Errorf("%d rows, want 10", n)
	}
	failed := c.do("GET "+list.link(t, `<span aria-hidden="true">✗</span> failed`), "").want(t, 200).
		wantText(t, "Status is <b>failed</b>")
	if n := rowCount(failed); n != 4 {
		t.Errorf("%d failed messages, want 4", n)
	}

	path := regexp.MustCompile(`/Pages/Messages/[0-9a-f-]{36}`).FindString(failed.body)
	page := c.do("GET "+path, "").want(t, 200).wantText(t, "failed", "Attempts", "Body", "Subscription")
	confirmation := c.do("GET "+page.link(t, "Retry…"), "").want(t, 200).wantText(t, "becomes due now", "Cancel")
	c.follow(t, c.send(t, confirmation)).wantText(t, "The message is due now.")
	if n := rowCount(c.do("GET /Pages/Messages?Status=3", "")); n != 3 {
		t.Errorf("%d failed messages after a retry of one, want 3", n)
	}

	delivered := c.do("GET /Pages/Messages?Status=1", "").want(t, 200)
	path = regexp.MustCompile(`/Pages/Messages/[0-9a-f-]{36}`).FindString(delivered.body)
	page = c.do("GET "+path, "").want(t, 200)
	confirmation = c.do("GET "+page.link(t, "Send again…"), "").want(t, 200).wantText(t, "webhook-replay")
	c.follow(t, c.send(t, confirmation)).wantText(t, "The message is being sent again.")
	confirmation = c.do("GET "+page.link(t, "Delete…"), "").want(t, 200).wantText(t, "cannot be undone")
	c.follow(t, c.send(t, confirmation)).wantText(t, "The message has been deleted.", "9 shown")
	c.do("GET "+path, "").want(t, 404)
}

// TestActionsOnManyMessages checks that an action by filter has the confirmed effects: a form that is
// out of date changes nothing.
func TestActionsOnManyMessages(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	filter := "SubscriptionID=" + m.shops[0].GUID
	list := c.do("GET /Pages/Messages?"+filter, "").want(t, 200)
	confirmation := c.do("GET "+list.link(t, "Retry…"), "").want(t, 200).
		wantText(t, "Retry 4 messages", "1 other message matches and stays as it is.")

	shown := c.do("GET /Pages/AllMessages/Delete?Status=3&"+filter, "").want(t, 200).wantText(t, "Delete 2 messages")
	c.follow(t, c.send(t, shown)).wantText(t, "2 messages have been deleted.")

	outdated := c.send(t, confirmation).want(t, 409).wantText(t, "has changed to 2", "Nothing has been done")
	if n := strings.Count(asFilled, "3") * 2; rowCount(c.do("GET /Pages/Messages?Status=3", "")) != n-2 {
		t.Error("the form that was out of date has changed messages")
	}
	c.follow(t, c.send(t, outdated)).wantText(t, "2 messages are due now.")

	none := c.do("GET /Pages/AllMessages/Retry?EventName=nothing.created", "").want(t, 200).
		wantText(t, "nothing would change")
	if strings.Contains(none.body, "<button>") {
		t.Error("the page without messages has a button")
	}
	c.do("GET /Pages/AllMessages/Retry?Nonsense=1", "").want(t, 400)
	c.do("GET /Pages/AllMessages/Burn", "").want(t, 404)
}

// TestFiltersThatResembleSecrets checks that pages keep filters by Key, and those with values such as the
// address of an endpoint with a token: without them an action would have an effect on other messages.
func TestFiltersThatResembleSecrets(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	for _, filter := range []string{
		"Key=D1", "key=D1", "EventName=Token.created", "URLContains=password%3D7", "URL=http%3A%2F%2Fshop%2F%3Ftoken%3D7",
	} {
		list := c.do("GET /Pages/Messages?"+filter, "").want(t, 200)
		if n := rowCount(list); n != 0 {
			t.Errorf("%s: %d rows, want none", filter, n)
		}
		c.do("GET /Pages/AllMessages/Delete?"+filter, "").want(t, 200).wantText(t, "nothing would change")
		refreshed := c.do("GET /Pages/Messages?"+filter+"&Refresh=10", "").want(t, 200)
		if !strings.Contains(refreshed.body, `href="/Pages/Messages?`+filter+`"`) {
			t.Errorf("%s: the link that stops the refresh leads to other messages", filter)
		}
	}
}

// TestActionsUntilATime checks that an action has the limit of the address, in any letter case.
func TestActionsUntilATime(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	c.do("GET /Pages/AllMessages/Delete?UNTIL=2020-01-01", "").want(t, 200).
		wantText(t, "Added before", "nothing would change")
	c.do("GET /Pages/AllMessages/Delete?Until=2020-01-01&until=2999-01-01", "").want(t, 400)
	all := c.do("GET /Pages/AllMessages/Delete?until=2999-01-01", "").want(t, 200).wantText(t, "Delete 10 messages")
	c.follow(t, c.send(t, all)).wantText(t, "10 messages have been deleted.")
}

// hook is a receiver that fails on request.
type hook struct {
	url   string
	fails atomic.Bool
	got   atomic.Int64
	gate  sync.RWMutex // is locked while requests wait
}

func newHook(t *testing.T) *hook {
	h := new(hook)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.gate.RLock()
		defer h.gate.RUnlock()
		if h.fails.Load() {
			http.Error(w, "unknown shop <script>alert(1)</script>", http.StatusNotFound)
			return
		}
		h.got.Add(1)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// hold has requests wait until release is called: a page calls a message due only until its delivery.
func (h *hook) hold(t *testing.T) (release func()) {
	h.gate.Lock()
	release = sync.OnceFunc(h.gate.Unlock)
	t.Cleanup(release)
	return release
}

// TestSubscriptionPages adds a subscriber and a subscription by forms, finds the cause of a failure,
// and repairs the address.
func TestSubscriptionPages(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	c := signIn(t, i)
	wrong, right := newHook(t), newHook(t)
	wrong.fails.Store(true)

	c.send(t, c.do("GET /Pages/Subscribers/New", "").want(t, 200)).want(t, 400).wantText(t, "Name")
	shop := c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/New", ""), "Name", "Acme <b>"))
	form := c.do("GET "+shop.link(t, "New subscription"), "").want(t, 200).wantText(t, "for Acme &lt;b&gt;")
	bad := c.send(t, form, "URL", "nonsense", "EventName", "debtor.created", "WhereName", "Total", "WhereValue", "1").
		want(t, 400).wantText(t, `role="alert"`, `value="nonsense"`, `value="Total"`)
	longer := c.send(t, bad, "More", "1").want(t, 200)
	if before, after := strings.Count(bad.body, `name="WhereName"`), strings.Count(longer.body, `name="WhereName"`); after != before+4 {
		t.Errorf("%d rows after the button for more, %d before", after, before)
	}
	added := c.send(t, longer, "URL", wrong.url+"/in", "EventName", "debtor.created",
		"WhereName", "Total", "WhereOperator", "GreaterThan", "WhereValue", "5",
		"HeaderName", "X-Token", "HeaderValue", "a secret value").want(t, 201).
		wantText(t, "whsec_", "Total is over <b>5</b>", "X-Token: ***")
	if strings.Contains(added.body, "a secret value") {
		t.Error("the page shows the value of a header")
	}
	edit := added.link(t, "Edit")
	sub := strings.TrimSuffix(edit, "/Edit")
	if a := c.do("GET "+sub, "").want(t, 200); strings.Contains(a.body, "whsec_") {
		t.Error("the page of the subscription shows its secret again")
	}

	asAdmin(t, i).do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"Total":7},"Key":"D1"}`).want(t, 201)
	asAdmin(t, i).do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"Total":3}}`).want(t, 201)
	var list answer
	waitFor(t, "the failure", func() bool {
		list = c.do("GET /Pages/Messages?Status=2", "").want(t, 200)
		return rowCount(list) == 1
	})
	path := regexp.MustCompile(`/Pages/Messages/[0-9a-f-]{36}`).FindString(list.body)
	c.do("GET "+path, "").want(t, 200).wantText(t, "404 Not Found", "unknown shop &lt;script&gt;", "X-Token: ***",
		"Total is over <b>5</b>")
	c.do("GET /Pages/Why?Key=D1", "").want(t, 200).wantText(t, "404", path, `<span class="state bad" aria-hidden="true">✗</span>`)

	c.follow(t, c.send(t, c.do("GET "+edit, "").want(t, 200), "URL", right.url+"/in")).wantText(t, "Saved.", right.url)
	waitFor(t, "the delivery", func() bool { return right.got.Load() == 1 })
	saved := read[[]wire.Subscription](t, asAdmin(t, i).do("GET /Webhooks/Subscribers/"+subscriberOf(t, i)+"/Subscriptions", ""))
	if string(saved[0].Where) != `{"TotalGreaterThan":5}` || len(saved[0].Headers) != 1 {
		t.Errorf("saved with the condition %s and the headers %v, want both unchanged", saved[0].Where, saved[0].Headers)
	}

	for _, step := range []struct{ action, note string }{
		{"Test", "The test message is on its way."},
		{"Disable", "Messages are kept and wait."},
		{"Enable", "Messages are sent."},
	} {
		c.follow(t, c.send(t, c.do("GET "+sub+"/Do/"+step.action, "").want(t, 200))).wantText(t, step.note)
	}
	c.send(t, c.do("GET "+sub+"/Do/Rotate", "").want(t, 200)).want(t, 200).wantText(t, "whsec_", "signs as well until")
	c.follow(t, c.send(t, c.do("GET "+sub+"/Do/Delete", "").want(t, 200))).wantText(t, "Removed.", "no subscriptions yet")
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/1/Do/Rename", "").want(t, 200), "Name", "Acme 2")).wantText(t, "Acme 2")
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/1/Do/Disable", "").want(t, 200))).wantText(t, "disabled")
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/1/Do/Delete", "").want(t, 200))).wantText(t, "no subscribers yet")
}

// TestLargeMessageOnPages opens the page of a message with a body that is too large for a page. This is
// no fault of the service: the page names the limit and the remedy.
func TestLargeMessageOnPages(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32", "--http-max-body", "2MiB")
	boss := asAdmin(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	boss.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions",
		`{"URL":"http://127.0.0.1:9/","EventName":"debtor.created"}`).want(t, 201)
	quotes := strings.Repeat(`\"`, 3<<20) // each has four characters in the response of the operation
	boss.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"Note":"`+quotes+`"}}`).want(t, 201)

	c := signIn(t, i)
	path := regexp.MustCompile(`/Pages/Messages/[0-9a-f-]{36}`).FindString(c.do("GET /Pages/Messages", "").want(t, 200).body)
	c.do("GET "+path, "").want(t, 400).wantText(t, "a page shows at most 8388608 bytes", "MessageQuery")
}

// TestManyConditionsOfSubscription checks that the error of a subscription with 10,000 conditions names
// the limit, from the API and on a page.
func TestManyConditionsOfSubscription(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	boss := asAdmin(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	const conditions = 10_000
	var where strings.Builder
	for n := range conditions {
		fmt.Fprintf(&where, `,"a%d":1`, n)
	}
	const limit = "must be at most 8192 bytes long"
	boss.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions",
		`{"URL":"http://127.0.0.1:9/","EventName":"debtor.created","Where":{`+where.String()[1:]+`}}`).
		want(t, 400).wantMessage(t, "Where "+limit)

	c := signIn(t, i)
	path := c.do("GET /Pages/Subscribers/1", "").want(t, 200).link(t, "New subscription")
	page := c.do("GET "+path, "").want(t, 200)
	state := regexp.MustCompile(`name="State" value="([^"]*)"`).FindStringSubmatch(page.body)[1]
	send := func(rows int) answer {
		var form strings.Builder
		form.WriteString("State=" + state + "&URL=http://127.0.0.1:9/&EventName=debtor.created&OrderBy=none")
		for n := range rows {
			fmt.Fprintf(&form, "&WhereName=a%d&WhereOperator=Equal&WhereValue=1", n)
		}
		return c.do("POST "+path, form.String(), formType)
	}
	send(conditions).want(t, 400).wantText(t, "The form has 30004 inputs, the maximum is 10000")
	refused := send(3000).want(t, 400).wantText(t, limit)
	if got, maxPage := len(refused.body), 4<<20; got > maxPage {
		t.Errorf("the form is repeated on a page of %d bytes, want at most %d", got, maxPage)
	}
}

// subscriberOf returns the ID of the only subscriber.
func subscriberOf(t testing.TB, i *daemontest.Instance) string {
	t.Helper()
	e := asAdmin(t, i).do("GET /Webhooks/Subscribers?Fields=RecID", "").want(t, 200)
	return regexp.MustCompile(`[0-9a-f-]{36}`).FindString(e.body)
}

// waitFor waits until something has happened.
func waitFor(t testing.TB, event string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !happened(); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20 s for %s", event)
		}
	}
}

// TestPagesForEveryRole requests each page and sends each form as each role.
func TestPagesForEveryRole(t *testing.T) {
	i := daemontest.Start(t)
	for _, a := range roleClients(t, i) {
		for _, line := range pageRoutes(t) {
			status := a.do(line, "", "Content-Type: application/x-www-form-urlencoded").status
			isRefused := status == 401 || status == 403
			isOpen := slices.Contains(openPages, line)
			isForReaders := a.role != "" && slices.Contains(readerPages, line)
			mayShow := a.role == "admin" || isForReaders || isOpen
			if isRefused == mayShow || status >= 500 {
				t.Errorf("%s as %q: status %d", line, a.role, status)
			}
		}
	}
}

// TestFormsOfPagesRejectOtherOrigins sends each form from pages of other origins.
func TestFormsOfPagesRejectOtherOrigins(t *testing.T) {
	i := daemontest.Start(t)
	c := anonymous(t, i)
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	sent := 0
	for _, line := range pageRoutes(t) {
		if strings.HasPrefix(line, "GET ") {
			continue
		}
		sent++
		for _, page := range foreign {
			for _, proof := range []string{cookie, basic("admin", daemontest.AdminPassword)} {
				c.with(page...).do(line, "Name=x", proof, "Content-Type: application/x-www-form-urlencoded").want(t, 403)
			}
		}
		// A form cannot be sent by a link.
		a := c.do("GET "+strings.TrimPrefix(line, "POST "), "", cookie)
		if a.status == 303 {
			t.Errorf("%s is also done by GET", line)
		}
	}
	if sent == 0 {
		t.Error("no page has a form")
	}
}

// TestColumnsGroupsAndRecords selects columns and groups rows by the forms of a page, and follows the
// link from a row to its own page.
func TestColumnsGroupsAndRecords(t *testing.T) {
	c := signIn(t, demo.start(t))
	page := c.do("GET /Queries/IN_Colours?DescriptionContains=e&Take=25", "").want(t, 200).
		wantText(t, "All rows", "This page", "Columns", "Group")
	a := c.do("GET /Queries/IN_Colours?DescriptionContains=e&Fields.op=Equal&Fields.value=RecID&Fields.value=Description", "")
	a.want(t, 303).wantHeader(t, "Location", "/Queries/IN_Colours?DescriptionContains=e&Fields=RecID%2CDescription")
	narrow := c.do("GET "+a.header.Get("Location"), "").want(t, 200)
	if n := strings.Count(narrow.body, `<th scope="col"`); n != 2 {
		t.Errorf("%d columns, want the two that were selected", n)
	}
	a = c.do("GET /Queries/IN_Colours?GroupBy.op=Equal&GroupBy.value=StyleID&Include.value=COUNT(*)", "").want(t, 303)
	c.do("GET "+a.header.Get("Location"), "").want(t, 200).wantText(t, "GroupBy", "Count")

	link := regexp.MustCompile(`/Pages/Records/IN_Colours\?RecID=[^"]+`).FindString(page.body)
	row := c.do("GET "+html.UnescapeString(link), "").want(t, 200).wantText(t, "Description", "StyleID", "JSON")
	c.do("GET "+row.link(t, "JSON"), "").want(t, 200)
	link = regexp.MustCompile(`/Pages/Requests\?Id=[0-9]+`).FindString(c.do("GET /Logs", "").want(t, 200).body)
	c.do("GET "+link, "").want(t, 200).wantText(t, "PathInfo", "RequestDuration")
	c.do("GET /Pages/Records/IN_Colours?RecID=none", "").want(t, 404)
	c.do("GET /Pages/Records/IN_Colours", "").want(t, 404)
	c.do("GET /Pages/Records/Nothing?RecID=1", "").want(t, 404)
}

// TestRefresh checks that a header makes browsers load a page again, and that strict operations do not
// reject the member.
func TestRefresh(t *testing.T) {
	c := signIn(t, demo.start(t))
	for path, want := range map[string]string{
		"/Pages/Messages?Refresh=10&Status=3":       "10",
		"/Logs?Refresh=30":                          "30",
		"/Queries/DB_Class?Refresh=0":               "",
		"/Queries/DB_Class?Refresh=1&Strict=true":   "2",
		"/Queries/DB_Class?Refresh=99999":           "3600",
		"/Queries/DB_Class?Refresh=x;url=http://a/": "",
	} {
		a := c.do("GET "+path, "").want(t, 200).wantHeader(t, "Refresh", want)
		if hasLink := strings.Contains(a.body, ">Stop</a>"); hasLink != (want != "") {
			t.Errorf("%s: the page has a link to stop: %t", path, hasLink)
		}
	}
	a := c.do("GET /Pages/Messages?Refresh=10&Status=3", "")
	if to := a.link(t, "Stop"); to != "/Pages/Messages?Status=3" {
		t.Errorf("the link to stop leads to %s", to)
	}
	c.do("GET /Queries/DB_Class?Refresh=10&format=json&Strict=true", "").want(t, 400)
}

// TestErrorPages checks the advice and the links of error pages.
func TestErrorPages(t *testing.T) {
	i := demo.start(t)
	c := signIn(t, i)
	a := c.do("GET /Queries/SO_Total", "", "Referer: "+i.URL+"/metadata?op=SO_TotalsQuery").want(t, 404).
		wantText(t, "Check the address")
	if to := a.link(t, "SO_Totals"); to != "/Queries/SO_Totals" {
		t.Errorf("the suggestion leads to %s", to)
	}
	if to := a.link(t, "Back"); to != "/metadata?op=SO_TotalsQuery" {
		t.Errorf("the way back leads to %s", to)
	}
	c.do("GET /api/SO_TotalQuery", "").want(t, 404).wantText(t, `<a href="/metadata?op=SO_TotalsQuery">`)
	a = c.do("GET /nothing", "", "Referer: http://evil.example/page").want(t, 404)
	if strings.Contains(a.body, "evil.example") || strings.Contains(a.body, ">Back</a>") {
		t.Error("the page leads back to another host")
	}
	a = c.do("GET /Queries/DB_Class?format=xlsx&Take=x", "").want(t, 400).
		wantHeader(t, "Content-Type", "text/html; charset=utf-8").wantText(t, "Take", "Correct the members")
	if strings.Contains(a.body, "Export as CSV") {
		t.Error("the page of an error that CSV has as well offers CSV")
	}
	anonymous(t, i).with(basic("admin", daemontest.AdminPassword)).
		do("GET /Queries/DB_Class?format=xlsx&Take=x", "").want(t, 400).
		wantHeader(t, "Content-Type", "application/json; charset=utf-8")
}

// TestRolesOnPageOfKinds checks the role on the page of the record kinds: none if queries need no login.
func TestRolesOnPageOfKinds(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{args: nil, want: "reader"},
		{args: []string{"--auth-queries", "anonymous"}, want: "none"},
	} {
		page := signIn(t, daemontest.Start(t, tt.args...)).do("GET /Pages/Kinds", "").want(t, 200)
		_, row, _ := strings.Cut(page.body, "/Queries/DB_Class\"")
		row, _, _ = strings.Cut(row, "</tr>")
		if !strings.Contains(row, `data-label="Role">`+tt.want+"</td>") {
			t.Errorf("with %q, the row of DB_Class has not the role %s: %s", tt.args, tt.want, row)
		}
	}
}

// TestKeysAreShownOnce creates a key. The page shows it even if it is all that can be shown, and
// sending the form again creates no second key.
func TestKeysAreShownOnce(t *testing.T) {
	i := daemontest.Start(t)
	c := signIn(t, i)
	form := c.do("GET /Pages/Keys/Do/New", "").want(t, 200)
	c.send(t, form, "Name", "").want(t, 400).wantText(t, "Name")
	c.send(t, form, "Name", "nightly", "Role", "reader").want(t, 201).
		wantText(t, "It is not shown again", "API key nightly", "All keys")

	c.send(t, form, "Name", "nightly", "Role", "reader").want(t, 409).
		wantText(t, "nightly", `role="alert"`, `value="nightly"`)
	if keys := read[[]wire.APIKey](t, asAdmin(t, i).do("GET /ApiKeys", "")); len(keys) != 1 {
		t.Errorf("%d keys after the form was sent twice, want 1", len(keys))
	}
	list := c.do("GET /Pages/Keys", "").want(t, 200).wantText(t, "nightly")
	confirmation := c.do("GET "+list.links(`/Pages/Keys/[^"]+/Revoke`)[0], "").want(t, 200)
	c.follow(t, c.send(t, confirmation)).wantText(t, "Removed.")
}

// links returns the links of a page that match an expression.
func (a answer) links(expression string) []string {
	return regexp.MustCompile(expression).FindAllString(a.body, -1)
}

// TestSecretsAreShownOnce sends the forms with a secret in the response twice.
func TestSecretsAreShownOnce(t *testing.T) {
	c := signIn(t, daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32"))
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/New", ""), "Name", "Acme"))
	values := []string{"URL", "http://127.0.0.1:9/in", "EventName", "debtor.created", "MaxPerMinute", "30", "Format", "cloudevents"}
	form := c.do("GET /Pages/Subscribers/1/Subscribe", "").want(t, 200)
	c.send(t, form, "URL", "http://127.0.0.1:9/in", "EventName", "debtor.created", "MaxPerMinute", "many").want(t, 400).
		wantText(t, "MaxPerMinute", `value="many"`)
	added := c.send(t, form, values...).want(t, 201).
		wantText(t, "whsec_", "30 attempts a minute", "with the headers of CloudEvents")
	outdated := c.send(t, form, values...).want(t, 409).
		wantText(t, "A subscription has been added or deleted since this form was opened")
	if strings.Contains(outdated.body, "whsec_") {
		t.Error("the form that was sent again has added a subscription")
	}
	c.do("GET "+added.link(t, "Edit"), "").want(t, 200).
		wantText(t, `name="MaxPerMinute" value="30"`, `<option value="cloudevents" selected>`)

	rotation := c.do("GET "+added.link(t, "Replace the secret…"), "").want(t, 200)
	c.send(t, rotation).want(t, 200).wantText(t, "whsec_")
	outdated = c.send(t, rotation).want(t, 409).wantText(t, "The secret has been replaced since this form was opened")
	c.send(t, outdated).want(t, 200).wantText(t, "whsec_")
}

// TestTryOperations sends forms of the API reference that have rows for headers and conditions, and one
// of an operation without a response.
func TestTryOperations(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	shop := read[wire.Subscriber](t, asAdmin(t, i).do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	reference := func(operation string) (client, answer) {
		path := "/metadata?op=" + operation
		c := signIn(t, i).with("Referer: " + i.URL + path)
		return c, c.do("GET "+path, "").want(t, 200)
	}

	c, page := reference("AddSubscription")
	c.send(t, page, "SubscriberID", shop.RecID, "URL", "nonsense", "EventName", "debtor.created").want(t, 400).
		wantText(t, "URL", `<a href="/metadata?op=AddSubscription">Back</a>`)
	c.send(t, page, "SubscriberID", shop.RecID, "URL", "http://127.0.0.1:9/", "EventName", "debtor.created",
		"WhereName", "Total", "WhereOperator", "GreaterThan", "WhereValue", "5",
		"HeaderName", "X-Token", "HeaderValue", "a").want(t, 200).
		wantText(t, "whsec_", "X-Token", `<a href="/metadata?op=AddSubscription">Back</a>`, "Log out")
	added := read[[]wire.Subscription](t, asAdmin(t, i).do("GET /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions", ""))
	if len(added) != 1 || string(added[0].Where) != `{"TotalGreaterThan":5}` || len(added[0].Headers) != 1 {
		t.Fatalf("added %+v, want one with the condition and the header of the form", added)
	}

	c, page = reference("RemoveSubscription")
	c.send(t, page, "SubscriberID", shop.RecID, "SubscriptionID", added[0].RecID).want(t, 200).
		wantText(t, "Done.", `<a href="/metadata?op=RemoveSubscription">Back</a>`)
	c.send(t, page, "SubscriberID", shop.RecID, "SubscriptionID", added[0].RecID).want(t, 404)
	post := "Content-Type: application/x-www-form-urlencoded"
	for _, name := range []string{"Nothing", "MessageQuery", "SO_TotalsQuery", "Authenticate"} {
		c.do("POST /Pages/Try/"+name, "", post).want(t, 404)
	}
	asBrowser(anonymous(t, i)).do("POST /Pages/Try/RemoveUser", "UserName=admin", post).want(t, 401)
}

// TestTablesLeadToPages follows links from tables of the API to the pages about their rows, which only
// administrators have.
func TestTablesLeadToPages(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	for address, page := range map[string]string{
		"/Webhooks/Messages":      "/Pages/Messages",
		"/Webhooks/Subscriptions": "/Pages/Subscriptions",
		"/Webhooks/Subscribers":   "/Pages/Subscribers",
	} {
		c.do("GET "+address, "").want(t, 302).wantHeader(t, "Location", page)
		table := c.do("GET "+address+"?format=html", "").want(t, 200)
		links := table.links(page + `/[0-9a-f-]+`)
		if len(links) == 0 || len(links) != rowCount(table) {
			t.Fatalf("%d links to pages for %d rows of %s", len(links), rowCount(table), address)
		}
		c.do("GET "+links[0], "").want(t, 200)
		asBrowser(asAdmin(t, m.Instance)).do("GET "+address, "").want(t, 200) // no session: a program
	}
	list := c.do("GET /Pages/Messages?Status=3", "")
	c.do("GET "+list.link(t, "All columns, other formats"), "").want(t, 200).wantText(t, "Status is <b>3</b>")

	outsider := asBrowser(anonymous(t, m.Instance))
	table := outsider.do("GET /Webhooks/Subscribers/"+m.shops[0].Subscriber+"/Messages", "").want(t, 200)
	if links := table.links(`"/Pages/[^"]+`); len(links) > 0 || rowCount(table) == 0 {
		t.Errorf("the table of a subscriber has %d rows and the links %q", rowCount(table), links)
	}
}
