package rest_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/pages"
	"github.com/bizhook/whd/daemon/sqlite"
)

// portalFixture is a service with pages for subscribers, and a subscriber.
type portalFixture struct {
	*daemontest.Instance
	t    *testing.T
	boss client
	shop wire.Subscriber
	hook *hook
}

// portalFlags serve the pages. Subscriptions may use the receivers of the tests.
var portalFlags = []string{"--webhooks-portal", "--webhooks-allow-targets", "127.0.0.1/32"}

func newPortal(t *testing.T, flags ...string) portalFixture {
	t.Helper()
	i := daemontest.Start(t, slices.Concat(portalFlags, flags)...)
	boss := asAdmin(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	return portalFixture{i, t, boss, shop, newHook(t)}
}

// try sends a SubscriberID by the form.
func (p portalFixture) try(id string) answer {
	p.t.Helper()
	return asBrowser(anonymous(p.t, p.Instance)).do("POST "+edge.PortalPath+"/Open", url.Values{"SubscriberID": {id}}.Encode(), formType)
}

// open returns a client with a session of the subscriber.
func (p portalFixture) open() client {
	p.t.Helper()
	cookie := portalCookie(p.t, p.try(p.shop.RecID).want(p.t, 303))
	return asBrowser(anonymous(p.t, p.Instance)).with("Cookie: " + cookie.Name + "=" + cookie.Value)
}

// portalCookie returns the cookie of a session that a response sets.
func portalCookie(t testing.TB, a answer) *http.Cookie {
	t.Helper()
	for _, c := range a.http.Cookies() {
		if c.Name == edge.PortalCookie {
			return c
		}
	}
	t.Fatalf("status %d sets no cookie of a session: %v", a.status, a.header)
	return nil
}

// subscribe adds a subscription by the form, and returns its page.
func (p portalFixture) subscribe(c client, event string) answer {
	p.t.Helper()
	form := c.do("GET "+edge.PortalPath+"/Subscribe", "").want(p.t, 200)
	return c.send(p.t, form, "URL", p.hook.url+"/in", "EventName", event).want(p.t, 201)
}

// TestPortalIsOff checks that the pages are served with the setting only.
func TestPortalIsOff(t *testing.T) {
	i := daemontest.Start(t)
	c := asBrowser(anonymous(t, i))
	for _, path := range []string{"", "/Open?SubscriberID=" + noID, "/Subscriptions"} {
		c.do("GET "+edge.PortalPath+path, "").want(t, 404)
	}
	i.Set(t, "webhooks.portal", "true")
	c.do("GET "+edge.PortalPath, "").want(t, 200).wantText(t, "SubscriberID")
	if features := c.do("GET /Info?format=json", "").body; !strings.Contains(features, `"portal"`) {
		t.Errorf("the features lack the pages: %s", features)
	}
	i.Set(t, "webhooks.portal", "")
	c.do("GET "+edge.PortalPath, "").want(t, 404)
}

// TestPortalOpens opens the pages by a link and by the form. No address or page that follows has the
// SubscriberID.
func TestPortalOpens(t *testing.T) {
	p := newPortal(t)
	c := asBrowser(anonymous(t, p.Instance))
	link := edge.PortalPath + "/Open?SubscriberID=" + p.shop.RecID
	offer := c.do("GET "+link, "").want(t, 200).wantText(t, "Open the page of Acme").
		wantHeader(t, "Set-Cookie", "")
	opened := c.send(t, offer).want(t, 303).wantHeader(t, "Location", edge.PortalPath+"/Subscriptions")
	cookie := portalCookie(t, opened)
	isSafe := cookie.HttpOnly && !cookie.Secure && cookie.SameSite == http.SameSiteStrictMode &&
		cookie.Path == edge.PortalPath && cookie.MaxAge == 8*60*60 && len(cookie.Value) == 43
	if !isSafe {
		t.Errorf("the cookie is %s", opened.header.Get("Set-Cookie"))
	}

	c = c.with("Cookie: " + cookie.Name + "=" + cookie.Value)
	p.subscribe(c, "debtor.created")
	c.do("GET "+edge.PortalPath, "").want(t, 303).wantHeader(t, "Location", edge.PortalPath+"/Subscriptions")
	seen := crawlPortal(t, c)
	if len(seen) < 10 {
		t.Errorf("only %d pages can be reached", len(seen))
	}
	for path, a := range seen {
		if strings.Contains(path+a.body+fmt.Sprint(a.header), p.shop.RecID) {
			t.Errorf("%s shows the SubscriberID", path)
		}
	}

	secure := asBrowser(anonymous(t, newPortal(t, "--http-trusted-proxies", "127.0.0.1/32").Instance)).
		with("X-Forwarded-Proto: https")
	if a := secure.do("POST "+edge.PortalPath+"/Leave", "").want(t, 303); !strings.Contains(a.header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("over HTTPS, the cookie is %s", a.header.Get("Set-Cookie"))
	}
}

// maxPortalPages limits the pages that a test follows: their links have combinations of filters.
const maxPortalPages = 150

// crawlPortal returns the pages that a subscriber can reach by links.
func crawlPortal(t testing.TB, c client) map[string]answer {
	t.Helper()
	seen := make(map[string]answer)
	todo := []string{edge.PortalPath + "/Subscriptions", edge.PortalPath + "/Messages"}
	for len(todo) > 0 && len(seen) < maxPortalPages {
		path := todo[0]
		todo = todo[1:]
		isForm := strings.HasSuffix(path, "/Leave")
		if _, done := seen[path]; done || isForm {
			continue
		}
		a := c.do("GET "+path, "").want(t, 200)
		seen[path] = a
		for _, to := range hrefs(a) {
			to, _, _ = strings.Cut(html.UnescapeString(to), "#")
			if strings.HasPrefix(to, "/") && to != "/favicon.ico" && !strings.Contains(to, "Since=") {
				todo = append(todo, to)
			}
		}
	}
	for path := range seen {
		if !strings.HasPrefix(path, edge.PortalPath) {
			t.Errorf("a page links to %s, which is not below %s", path, edge.PortalPath)
		}
	}
	return seen
}

// TestPortalRefusesAlike checks that unknown, malformed and disabled SubscriberIDs get the same
// response, by the form and by the link.
func TestPortalRefusesAlike(t *testing.T) {
	p := newPortal(t)
	p.boss.do("PATCH /Webhooks/Subscribers/"+p.shop.RecID, `{"IsEnabled":false}`).want(t, 200)
	byForm := p.try(noID).want(t, 400).wantText(t, "No page opens with this SubscriberID", `role="alert"`)
	c := asBrowser(anonymous(t, p.Instance))
	byLink := c.do("GET "+edge.PortalPath+"/Open?SubscriberID="+noID, "").want(t, 400)
	for _, id := range []string{"", "x", "<b>", p.shop.RecID, strings.ReplaceAll(noID, "-", ""), strings.Repeat("9", 5000)} {
		if a := p.try(id); a.status != 400 || a.body != byForm.body || a.header.Get("Set-Cookie") != "" {
			t.Errorf("the form with %.40q: status %d, a cookie %q, and another page: %t",
				id, a.status, a.header.Get("Set-Cookie"), a.body != byForm.body)
		}
		if id == "" { // an empty one opens the form
			continue
		}
		a := c.do("GET "+edge.PortalPath+"/Open?SubscriberID="+url.QueryEscape(id), "")
		if a.status != 400 || a.body != byLink.body {
			t.Errorf("the link with %.40q: status %d, another page: %t", id, a.status, a.body != byLink.body)
		}
	}
	c.do("GET "+edge.PortalPath+"/Open", "").want(t, 303).wantHeader(t, "Location", edge.PortalPath)
}

// TestPortalLimitsTries checks the limits of an address: forms and links are counted apart.
func TestPortalLimitsTries(t *testing.T) {
	p := newPortal(t)
	c := asBrowser(anonymous(t, p.Instance))
	link := "GET " + edge.PortalPath + "/Open?SubscriberID=" + p.shop.RecID
	for name, send := range map[string]func() answer{
		"form": func() answer { return p.try(p.shop.RecID) },
		"link": func() answer { return c.do(link, "") },
	} {
		a := send()
		allowed := 0
		for ; a.status != 429 && allowed < 40; allowed++ {
			a = send()
		}
		if allowed < 10 || allowed > 20 { // one more every 6 s
			t.Errorf("%d tries by the %s are allowed, want 10", allowed, name)
		}
		a.want(t, 429).wantText(t, "Too many tries").wantHeader(t, "Set-Cookie", "")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("the response to the %s has no Retry-After", name)
		}
	}
	c.do("GET "+edge.PortalPath, "").want(t, 200)
}

// TestPortalStory subscribes, tests, and manages messages by the forms of the pages.
func TestPortalStory(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	c.do("GET "+edge.PortalPath+"/Subscriptions", "").want(t, 200).wantText(t, "You receive no messages yet.")
	form := c.do("GET "+edge.PortalPath+"/Subscribe", "").want(t, 200).wantText(t, "for Acme")
	c.send(t, form, "URL", "http://10.1.2.3/in", "EventName", "debtor.created").want(t, 400).
		wantText(t, `role="alert"`, `value="http://10.1.2.3/in"`)
	longer := c.send(t, form, "More", "1").want(t, 200)
	if before, after := strings.Count(form.body, `name="HeaderName"`), strings.Count(longer.body, `name="HeaderName"`); after != before+4 {
		t.Errorf("%d rows after the button for more, %d before", after, before)
	}
	added := c.send(t, longer, "URL", p.hook.url+"/in", "EventName", "debtor.created",
		"WhereName", "Total", "WhereOperator", "GreaterThan", "WhereValue", "5",
		"HeaderName", "X-Token", "HeaderValue", "a secret value").want(t, 201).
		wantText(t, "whsec_", "Total is over <b>5</b>", "X-Token: ***", "not failing")
	if strings.Contains(added.body, "a secret value") {
		t.Error("the page shows the value of a header")
	}
	sub := strings.TrimSuffix(added.link(t, "Edit"), "/Edit")
	if a := c.do("GET "+sub, "").want(t, 200); strings.Contains(a.body, "whsec_") {
		t.Error("the page of the subscription shows its secret again")
	}

	tested := c.send(t, c.do("GET "+added.link(t, "Test…"), "").want(t, 200).wantText(t, "Cancel")).want(t, 303)
	to := tested.header.Get("Location")
	waitFor(t, "the test message", func() bool {
		return strings.Contains(c.do("GET "+to, "").want(t, 200).body, "200 OK")
	})
	c.do("GET "+to, "").wantText(t, "The test message is on its way.", "delivered", "Attempt 1", "webhooks.test")

	p.hook.fails.Store(true)
	p.boss.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"Total":7},"Key":"D1"}`).want(t, 201)
	var failing answer
	waitFor(t, "the failure", func() bool {
		failing = c.do("GET "+edge.PortalPath+"/Messages?Status=2", "").want(t, 200)
		return rowCount(failing) == 1
	})
	if strings.Contains(failing.body, "unknown shop") {
		t.Error("the page shows the text of a response, which is for administrators")
	}
	waitFor(t, "the state", func() bool {
		return strings.Contains(c.do("GET "+sub, "").want(t, 200).body, "failing for")
	})
	c.do("GET "+sub, "").wantText(t, "Last failure", "404 Not Found")
	message := regexp.MustCompile(edge.PortalPath + `/Messages/[0-9a-f-]{36}`).FindString(failing.body)
	page := c.do("GET "+message, "").want(t, 200).wantText(t, "404 Not Found", "Attempt 1", `&#34;Total&#34;: 7`)
	if strings.Contains(page.body, "unknown shop") || strings.Contains(page.body, "Send again") {
		t.Errorf("the page shows more than the SubscriberID allows: %s", page.body)
	}
	p.hook.fails.Store(false)
	release := p.hook.hold(t)
	c.follow(t, c.send(t, c.do("GET "+page.link(t, "Retry…"), "").want(t, 200))).wantText(t, "The message is due now.")
	release()
	waitFor(t, "the delivery", func() bool { return p.hook.got.Load() == 2 })

	edited := c.do("GET "+sub+"/Edit", "").want(t, 200).wantText(t, `value="Total"`)
	c.follow(t, c.send(t, edited, "URL", p.hook.url+"/moved")).wantText(t, "Saved.", "/moved")
	c.send(t, edited, "URL", p.hook.url+"/stale").want(t, 409).wantText(t, `role="alert"`)
	path := "/Webhooks/Subscribers/" + p.shop.RecID + "/Subscriptions"
	saved := read[[]wire.Subscription](t, anonymous(t, p.Instance).do("GET "+path, "").want(t, 200))
	if string(saved[0].Where) != `{"TotalGreaterThan":5}` || len(saved[0].Headers) != 1 {
		t.Errorf("saved with the condition %s and the headers %v, want both unchanged", saved[0].Where, saved[0].Headers)
	}

	for _, step := range []struct{ action, note string }{
		{"Disable", "Messages are kept and wait."},
		{"Enable", "Messages are sent."},
	} {
		c.follow(t, c.send(t, c.do("GET "+sub+"/Do/"+step.action, "").want(t, 200))).wantText(t, step.note)
	}
	c.send(t, c.do("GET "+sub+"/Do/Rotate", "").want(t, 200)).want(t, 200).wantText(t, "whsec_", "signs as well until")
	if a := c.do("GET "+sub, "").want(t, 200); strings.Contains(a.body, "whsec_") {
		t.Error("the page of the subscription shows its new secret again")
	}
	c.follow(t, c.send(t, c.do("GET "+message+"/Do/Delete", "").want(t, 200))).wantText(t, "The message has been deleted.")
	c.do("GET "+message, "").want(t, 404)
	c.do("GET "+message+"/Do/SendAgain", "").want(t, 404)
	c.follow(t, c.send(t, c.do("GET "+sub+"/Do/Delete", "").want(t, 200))).wantText(t, "Removed.", "You receive no messages yet.")
}

// TestPortalShowsSecretsOnce sends the forms with a secret in the response twice, as a browser does when
// its user loads the page again.
func TestPortalShowsSecretsOnce(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	form := c.do("GET "+edge.PortalPath+"/Subscribe", "").want(t, 200)
	values := []string{"URL", p.hook.url + "/in", "EventName", "debtor.created", "MaxPerMinute", "30", "Format", "cloudevents"}
	added := c.send(t, form, values...).want(t, 201).
		wantText(t, "whsec_", "30 attempts a minute", "with the headers of CloudEvents")
	outdated := c.send(t, form, values...).want(t, 409).
		wantText(t, "A subscription has been added or deleted since this form was opened")
	path := "/Webhooks/Subscribers/" + p.shop.RecID + "/Subscriptions"
	stored := read[[]wire.Subscription](t, p.boss.do("GET "+path, "").want(t, 200))
	if strings.Contains(outdated.body, "whsec_") || len(stored) != 1 {
		t.Errorf("the form that was sent again has added a subscription: there are %d", len(stored))
	}

	rotation := c.do("GET "+added.link(t, "Replace the secret…"), "").want(t, 200)
	c.send(t, rotation).want(t, 200).wantText(t, "whsec_", "<dt>Secrets</dt><dd>2</dd>")
	outdated = c.send(t, rotation).want(t, 409).
		wantText(t, "The secret has been replaced since this form was opened")
	if strings.Contains(outdated.body, "whsec_") {
		t.Error("the form that was sent again has replaced the secret")
	}
}

// TestPortalKeepsRateAndFormat saves the form of a subscription to which an administrator allows more
// attempts than a SubscriberID can. Members that are not changed are kept.
func TestPortalKeepsRateAndFormat(t *testing.T) {
	p := newPortal(t, "--webhooks-max-per-minute", "60")
	path := "/Webhooks/Subscribers/" + p.shop.RecID + "/Subscriptions"
	s := read[wire.Subscription](t, p.boss.do("POST "+path, encoded(map[string]any{
		"URL": p.hook.url, "EventName": "debtor.created", "MaxPerMinute": 600, "Format": "cloudevents",
	})).want(t, 201))
	c := p.open()
	page := edge.PortalPath + "/Subscriptions/" + s.RecID
	edit := func() answer { return c.do("GET "+page+"/Edit", "").want(t, 200) }
	form := edit().wantText(t, `name="MaxPerMinute" value="600"`, `<option value="cloudevents" selected>`)
	c.follow(t, c.send(t, form, "EventName", "debtor.updated")).
		wantText(t, "debtor.updated", "600 attempts a minute", "with the headers of CloudEvents")
	c.send(t, edit(), "MaxPerMinute", "601").want(t, 400).wantText(t, `role="alert"`, `value="601"`)
	c.follow(t, c.send(t, edit(), "MaxPerMinute", "30", "Format", "")).wantText(t, "30 attempts a minute")
	c.follow(t, c.send(t, edit(), "MaxPerMinute", ""))
	saved := read[wire.Subscription](t, p.boss.do("GET "+path+"/"+s.RecID, "").want(t, 200))
	if saved.MaxPerMinute != 0 || saved.Format != "" {
		t.Errorf("saved with %d attempts a minute and the format %q, want neither", saved.MaxPerMinute, saved.Format)
	}
}

// TestPortalHasTheLimitsOfTheSubscriberID checks that tests by the pages and over HTTP are counted
// together.
func TestPortalHasTheLimitsOfTheSubscriberID(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	page := p.subscribe(c, "debtor.created")
	test := page.link(t, "Test…")
	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(test)
	direct := "POST /Webhooks/Subscribers/" + p.shop.RecID + "/Subscriptions/" + id + "/Test"
	for range 5 {
		c.send(t, c.do("GET "+test, "").want(t, 200)).want(t, 303)
		anonymous(t, p.Instance).do(direct, "").want(t, 202)
	}
	c.send(t, c.do("GET "+test, "").want(t, 200)).want(t, 429).wantText(t, "too many requests")
	anonymous(t, p.Instance).do(direct, "").want(t, 429)
	other := read[wire.Subscriber](t, p.boss.do("POST /Webhooks/Subscribers", `{"Name":"Other"}`).want(t, 201))
	theirs := read[wire.Subscription](t, p.boss.do("POST /Webhooks/Subscribers/"+other.RecID+"/Subscriptions",
		encoded(map[string]any{"URL": p.hook.url, "EventName": "*"})).want(t, 201))
	for _, path := range []string{"", "/Edit", "/Do/Delete"} {
		c.do("GET "+edge.PortalPath+"/Subscriptions/"+theirs.RecID+path, "").want(t, 404)
	}
	c.do("POST "+edge.PortalPath+"/Subscriptions/"+theirs.RecID+"/Do/Delete", "", formType).want(t, 404)
	c.do("GET "+edge.PortalPath+"/Messages?SubscriberID="+other.RecID, "").want(t, 400)
}

// portalLines returns the methods and paths of all pages of subscribers, with IDs that do not exist.
func portalLines() (lines []string) {
	fill := strings.NewReplacer("{SubscriptionID}", noID, "{MessageID}", noID, "{Action}", "Delete")
	for _, r := range pages.PortalRoutes(pages.Config{}) {
		lines = append(lines, r.Methods+" "+fill.Replace(r.Pattern))
	}
	return lines
}

// TestPortalIgnoresOtherCredentials checks that sessions, passwords and keys of administrators make no
// difference on the pages of subscribers: the bytes of each response are the same.
func TestPortalIgnoresOtherCredentials(t *testing.T) {
	p := newPortal(t, "--auth-key-in-url")
	session := anonymous(t, p.Instance).do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	key := p.Key(t, "admin")
	visitor := p.open()
	p.subscribe(visitor, "debtor.created")
	lines := append(portalLines(),
		"GET "+edge.PortalPath+"/nothing",
		"GET /webhooks//portal/Subscriptions/",
		"GET "+edge.PortalPath+".json",
		"PUT "+edge.PortalPath,
		"GET "+edge.PortalPath+"/Messages?Take=x&Nonsense=1&Strict=true",
		"GET "+edge.PortalPath+"/nothing?format=xlsx",
	)
	for name, c := range map[string]client{
		"without a session": asBrowser(anonymous(t, p.Instance)),
		"with a session":    visitor,
	} {
		for _, line := range lines {
			if strings.HasSuffix(line, "/Leave") || strings.HasPrefix(line, "POST "+edge.PortalPath+"/Open") {
				continue // ends the session, or is limited
			}
			want := withoutTimes(c.do(line, "", formType, "X-Request-Id: same"))
			for _, proof := range []string{
				"Cookie: ss-id=" + session,
				"X-ss-id: " + session,
				basic("admin", daemontest.AdminPassword),
				basic(key, ""),
				"Authorization: Bearer " + key,
			} {
				got := withoutTimes(c.with(proof).do(line, "", formType, "X-Request-Id: same"))
				if got != want {
					t.Errorf("%s %s with %.25s:\n%s\nwant\n%s", line, name, proof, got, want)
				}
			}
			separator := "?"
			if strings.Contains(line, "?") {
				separator = "&"
			}
			got := withoutTimes(c.do(line+separator+"apikey="+key, "", formType, "X-Request-Id: same"))
			if got != want {
				t.Errorf("%s %s with a key in the URL:\n%s\nwant\n%s", line, name, got, want)
			}
			if strings.Contains(got, "/login") || strings.Contains(got, "/Pages") {
				t.Errorf("%s %s shows links of other pages:\n%s", line, name, got)
			}
		}
	}
}

// withoutTimes returns a response as text, without times.
func withoutTimes(a answer) string {
	a.header.Del("Date")
	return fmt.Sprintln(a.status, a.header, agesInPage.ReplaceAllString(a.body, ""))
}

// agesInPage matches the parts of a page that depend on the time.
var agesInPage = regexp.MustCompile(`<time[^>]*>[^<]*</time>|Since=[^"&]*`)

// TestPortalAddressesWithFormats checks that an ID in an address may end like the suffix of a format.
func TestPortalAddressesWithFormats(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	page := p.subscribe(c, "debtor.created").link(t, "Edit")
	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(page)
	for _, path := range []string{".csv.json", ".html.csv", ".xlsx.html", ".csv/Edit", ".csv/Do/Rotate"} {
		a := c.do("GET "+edge.PortalPath+"/Subscriptions/"+id+path, "")
		if a.status >= 500 {
			t.Errorf("%s: status %d: %s", path, a.status, a.body)
		}
	}
}

// TestPagesDoNotLinkBackToPortal checks that other pages do not repeat a SubscriberID from the address
// of the page before.
func TestPagesDoNotLinkBackToPortal(t *testing.T) {
	p := newPortal(t)
	link := p.URL + edge.PortalPath + "/Open?SubscriberID=" + p.shop.RecID
	c := asBrowser(anonymous(t, p.Instance)).with("Referer: " + link)
	for _, path := range []string{"/nothing", "/Info", "/Pages", "/Webhooks/Portal", "/Webhooks/Portal/nothing"} {
		a := c.do("GET "+path, "")
		if strings.Contains(a.body+fmt.Sprint(a.header), p.shop.RecID) {
			t.Errorf("%s shows the SubscriberID", path)
		}
	}
}

// TestPortalHeaders checks the headers of all pages, also those of errors.
func TestPortalHeaders(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	for _, line := range append(portalLines(), "GET "+edge.PortalPath+"/nothing", "DELETE "+edge.PortalPath+"/Subscribe") {
		a := c.do(line, "", formType).
			wantHeader(t, "Cache-Control", "no-store").
			wantHeader(t, "Referrer-Policy", "same-origin").
			wantHeader(t, "X-Robots-Tag", "noindex")
		if policy := a.header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", line, policy)
		}
		if a.status >= 500 {
			t.Errorf("%s: status %d", line, a.status)
		}
		if strings.HasSuffix(line, "/Leave") {
			c = p.open()
		}
	}
}

// TestPortalSessionsEnd ends sessions in each way. They survive a restart, and a session that has
// ended leads to the form for the SubscriberID.
func TestPortalSessionsEnd(t *testing.T) {
	dir := t.TempDir()
	i := daemontest.StartIn(t, dir, portalFlags...)
	boss := asAdmin(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	p := portalFixture{i, t, boss, shop, newHook(t)}
	page := "GET " + edge.PortalPath + "/Subscriptions"
	expectEnd := func(c client) {
		t.Helper()
		a := c.do(page, "").want(t, 303).wantHeader(t, "Location", edge.PortalPath+"?Note=Ended")
		if cookie := portalCookie(t, a); cookie.MaxAge >= 0 || cookie.Path != edge.PortalPath {
			t.Errorf("the cookie of a session that has ended is not deleted: %v", cookie)
		}
		c.do("POST "+edge.PortalPath+"/Subscribe", "EventName=*", formType).want(t, 303)
	}
	asBrowser(anonymous(t, i)).do(page, "").want(t, 303).wantHeader(t, "Location", edge.PortalPath)
	asBrowser(anonymous(t, i)).do("GET "+edge.PortalPath+"?Note=Ended", "").want(t, 200).wantText(t, "Your visit has ended")

	c := p.open()
	second := p.open()
	c.do(page, "").want(t, 200)
	left := c.do("POST "+edge.PortalPath+"/Leave", "").want(t, 303).wantHeader(t, "Location", edge.PortalPath+"?Note=Left")
	if cookie := portalCookie(t, left); cookie.MaxAge >= 0 {
		t.Errorf("leaving does not delete the cookie: %v", cookie)
	}
	expectEnd(c)
	second.do(page, "").want(t, 200)

	restart := func() {
		t.Helper()
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}
		i = daemontest.StartIn(t, dir, portalFlags...)
		p.Instance, p.boss = i, asAdmin(t, i)
		second.url = i.URL
	}
	restart()
	second.do(page, "").want(t, 200)
	cookie := portalCookie(t, p.try(shop.RecID).want(t, 303))
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fileBytes(t, dir, "whd.db*"), cookie.Value) {
		t.Error("the store has the secret of a session")
	}
	store, err := sqlite.Open(filepath.Join(dir, "whd.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().UTC().Add(-time.Minute).Format("2006-01-02T15:04:05.0000000")
	err = errors.Join(store.Exec("UPDATE WH_PortalSession SET ExpiryDateTime = '"+past+"'"), store.Close())
	if err != nil {
		t.Fatal(err)
	}
	restart()
	expectEnd(second)

	c = p.open()
	p.boss.do("PATCH /Webhooks/Subscribers/"+shop.RecID, `{"Name":"Acme 2"}`).want(t, 200)
	c.do(page, "").want(t, 200).wantText(t, "Acme 2")
	p.boss.do("PATCH /Webhooks/Subscribers/"+shop.RecID, `{"IsEnabled":false}`).want(t, 200)
	expectEnd(c)
	p.boss.do("PATCH /Webhooks/Subscribers/"+shop.RecID, `{"IsEnabled":true}`).want(t, 200)
	expectEnd(c)
	c = p.open()
	p.boss.do("DELETE /Webhooks/Subscribers/"+shop.RecID, "").want(t, 204)
	expectEnd(c)

	// Another subscriber in the same browser replaces the session.
	p.shop = read[wire.Subscriber](t, p.boss.do("POST /Webhooks/Subscribers", `{"Name":"Depot"}`).want(t, 201))
	c = p.open()
	c.do("POST "+edge.PortalPath+"/Open", "SubscriberID="+p.shop.RecID, formType).want(t, 303)
	expectEnd(c)
}

// TestPortalForEveryRole requests each page as each role: only the cookie of a session counts.
func TestPortalForEveryRole(t *testing.T) {
	p := newPortal(t)
	visitor := p.open()
	clients := append(roleClients(t, p.Instance), roleClient{visitor, "subscriber"})
	entry := []string{edge.PortalPath, edge.PortalPath + "/Open", edge.PortalPath + "/Leave"}
	for _, line := range portalLines() {
		_, path, _ := strings.Cut(line, " ")
		if slices.Contains(entry, path) {
			continue
		}
		for _, a := range clients {
			status := a.do(line, "", formType).status
			isSent := status == 303
			if isSent != (a.role != "subscriber") || status >= 500 {
				t.Errorf("%s as %q: status %d", line, a.role, status)
			}
		}
	}
}

// TestPortalCookieElsewhere checks that the cookie of a subscriber allows nothing on other routes:
// neither operations nor pages of administrators.
func TestPortalCookieElsewhere(t *testing.T) {
	p := newPortal(t, "--mcp-enabled")
	cookie := portalCookie(t, p.try(p.shop.RecID).want(t, 303))
	visitor := roleClient{anonymous(t, p.Instance).with("Cookie: " + cookie.Name + "=" + cookie.Value), ""}
	for _, o := range sampleOf(metadataOf(t, anonymous(t, p.Instance)).Operations, 0) {
		visitor.checkRoutes(t, o)
	}
	for _, line := range pageRoutes(t) {
		if slices.Contains(openPages, line) {
			continue
		}
		if status := visitor.do(line, "", formType).status; status != 401 && status != 403 {
			t.Errorf("%s with the cookie of a subscriber: status %d", line, status)
		}
	}
}

// TestFormsOfPortalRejectOtherOrigins sends each form from pages of other origins.
func TestFormsOfPortalRejectOtherOrigins(t *testing.T) {
	p := newPortal(t)
	cookie := portalCookie(t, p.try(p.shop.RecID).want(t, 303))
	c := anonymous(t, p.Instance).with("Cookie: " + cookie.Name + "=" + cookie.Value)
	key := p.Key(t, "admin")
	sent := 0
	for _, line := range portalLines() {
		if strings.HasPrefix(line, "GET ") {
			continue
		}
		sent++
		for _, page := range foreign {
			for _, proof := range []string{"X-None: 1", "Authorization: Bearer " + key} {
				a := c.with(page...).do(line, "SubscriberID="+p.shop.RecID, proof, formType).want(t, 403)
				if a.header.Get("Set-Cookie") != "" {
					t.Errorf("%s by %v sets %s", line, page, a.header.Get("Set-Cookie"))
				}
			}
		}
		if a := c.do("GET "+strings.TrimPrefix(line, "POST "), ""); a.status == 303 && strings.Contains(a.header.Get("Location"), "Note=") {
			t.Errorf("%s is also done by GET", line)
		}
	}
	if sent != 6 {
		t.Errorf("%d forms, want 6", sent)
	}
	c.do("GET "+edge.PortalPath+"/Subscriptions", "").want(t, 200)
}

// TestPortalEscapesStoredTexts stores markup in all texts that the pages show.
func TestPortalEscapesStoredTexts(t *testing.T) {
	p := newPortal(t)
	p.hook.fails.Store(true)
	p.boss.do("PATCH /Webhooks/Subscribers/"+p.shop.RecID, encoded(map[string]any{"Name": hostile})).want(t, 200)
	path := "/Webhooks/Subscribers/" + p.shop.RecID + "/Subscriptions"
	p.boss.do("POST "+path, encoded(map[string]any{
		"URL":       p.hook.url + "/?a=" + url.QueryEscape(hostile),
		"EventName": "*",
		"Where":     map[string]any{"A" + hostile: hostile},
		"Headers":   []map[string]string{{"Name": "X-A", "Value": hostile}},
	})).want(t, 201)
	anonymous(t, p.Instance).do("POST "+path, encoded(map[string]any{"URL": p.hook.url, "EventName": "*"})).want(t, 201)
	p.boss.do("POST /Webhooks/Events", encoded(map[string]any{
		"EventName": "debtor.created",
		"Body":      map[string]any{"A": hostile},
		"Key":       hostile,
	})).want(t, 201)
	c := p.open()
	waitFor(t, "a failure", func() bool { return rowCount(c.do("GET "+edge.PortalPath+"/Messages?Status=2", "")) > 0 })

	seen := crawlPortal(t, c)
	seen["offer"] = c.do("GET "+edge.PortalPath+"/Open?SubscriberID="+p.shop.RecID, "").want(t, 200)
	seen["refused"] = c.do("GET "+edge.PortalPath+"/Open?SubscriberID="+url.QueryEscape(hostile), "").want(t, 400)
	seen["failure"] = c.do("GET "+edge.PortalPath+"/Messages?Status="+url.QueryEscape(hostile), "").want(t, 400)
	shown := 0
	for path, a := range seen {
		body := strings.ToLower(a.body)
		for _, bad := range []string{"<script", "<img", "javascript:", " onerror=alert(1)>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %s: %s", path, bad, a.body[strings.Index(a.body, "<main"):])
			}
		}
		if strings.Contains(a.body, "&lt;script&gt;") {
			shown++
		}
		checkPolicy(t, path, a.header)
		a.wantText(t, `<html lang="en">`, `<main id="main"`, "<h1>")
	}
	if shown < 10 {
		t.Errorf("only %d of %d pages show the stored texts", shown, len(seen))
	}
}

// TestPortalMasksSubscriberID checks that neither the request log nor that of the daemon has the
// SubscriberID, and that the addresses and referrers in them are masked.
func TestPortalMasksSubscriberID(t *testing.T) {
	for _, bodies := range []string{"false", "true"} {
		p := newPortal(t, "--requestlog-bodies="+bodies, "--log-requests", "always")
		c := asBrowser(anonymous(t, p.Instance))
		link := edge.PortalPath + "/Open?SubscriberID=" + p.shop.RecID
		offer := c.do("GET "+link, "").want(t, 200)
		referred := c.with("Referer: " + p.URL + link)
		cookie := portalCookie(t, referred.send(t, offer).want(t, 303))
		referred.with("Cookie: "+cookie.Name+"="+cookie.Value).do("GET "+edge.PortalPath+"/Subscriptions", "").want(t, 200)
		referred.do("GET "+edge.PortalPath+"/nothing", "").want(t, 404)
		p.boss.do("GET /Logs", "").want(t, 200).wantText(t, p.shop.RecID[:8]+"***")
		rows := p.boss.do("GET /Logs?Take=1000&format=json", "").body + logBytes(t, p.Dir) + p.Log.String()
		for _, secret := range []string{p.shop.RecID, p.shop.RecID[8:], cookie.Value} {
			if strings.Contains(rows, secret) {
				t.Errorf("with requestlog.bodies = %s, a log contains %s", bodies, secret)
			}
		}
	}
}

// TestAdministratorFindsLinkOfPortal checks the link on the page of a subscriber.
func TestAdministratorFindsLinkOfPortal(t *testing.T) {
	i := daemontest.Start(t)
	shop := read[wire.Subscriber](t, asAdmin(t, i).do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	c := signIn(t, i)
	if a := c.do("GET /Pages/Subscribers/1", "").want(t, 200); strings.Contains(a.body, edge.PortalPath) {
		t.Error("the page has the link although the pages are not served")
	}
	i.Set(t, "webhooks.portal", "true")
	link := edge.PortalPath + "/Open?SubscriberID=" + shop.RecID
	c.do("GET /Pages/Subscribers/1", "").want(t, 200).wantText(t, i.URL+link)
	i.Set(t, "http.public_url", "https://erp.example/erp/")
	c.do("GET /Pages/Subscribers/1", "").want(t, 200).wantText(t, "https://erp.example/erp"+link)
}
