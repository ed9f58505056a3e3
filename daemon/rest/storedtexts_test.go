package rest_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// hostile is stored in every text that clients can store, and in a record.
const hostile = `"><img src=x onerror=alert(1)><script>alert(1)</script>`

// storeHostile starts a daemon and stores markup in all texts that pages show.
func storeHostile(t *testing.T) *daemontest.Instance {
	t.Helper()
	i := startWithView(t, "DB_Class", "SELECT '"+hostile+"' AS Class /* %s */ FROM numbers LIMIT 1",
		"--webhooks-allow-targets", "127.0.0.1/32")
	boss := asAdmin(t, i)
	gone := newHook(t)
	gone.fails.Store(true)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", encoded(map[string]any{"Name": hostile})).want(t, 201))
	boss.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions", encoded(map[string]any{
		"URL":       gone.url + "/?a=" + url.QueryEscape(hostile),
		"EventName": "*",
		"Where":     map[string]any{"A" + hostile: hostile},
		"Headers":   []map[string]string{{"Name": "X-A", "Value": hostile}},
	})).want(t, 201)
	boss.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions", encoded(map[string]any{
		"URL":       gone.url,
		"EventName": "*",
	})).want(t, 201)
	boss.do("POST /Webhooks/Events", encoded(map[string]any{
		"EventName": "debtor.created",
		"Body":      map[string]any{"A": hostile},
		"Key":       hostile,
	})).want(t, 201)
	boss.do("POST /ApiKeys", encoded(map[string]any{"Name": strings.ReplaceAll(hostile, "/", ""), "Role": "reader"})).want(t, 201)
	boss.do("POST /Users", encoded(map[string]any{
		"UserName":    "kim",
		"DisplayName": hostile,
		"Password":    annPassword,
		"Role":        "reader",
	})).want(t, 201)
	boss.with("Referer: http://a/"+hostile).do("GET /Queries/DB_Class?Class="+url.QueryEscape(hostile), "").want(t, 200)
	return i
}

// checkEscaped checks that a page has none of the markup that was stored or sent.
func checkEscaped(t *testing.T, name string, a answer) {
	t.Helper()
	body := strings.ToLower(a.body)
	for _, bad := range []string{"<script", "<img", "javascript:", " onerror=alert(1)>"} {
		if strings.Contains(body, bad) {
			t.Errorf("%s has %s: %s", name, bad, a.body[max(0, strings.Index(a.body, "<main")):])
		}
	}
	if a.body != "" {
		checkPolicy(t, name, a.header)
	}
}

// TestStoredTextsAreEscaped stores markup in all texts that pages show, and looks for it on every
// page. Then it sends the markup by every form.
func TestStoredTextsAreEscaped(t *testing.T) {
	i := storeHostile(t)
	c := signIn(t, i)
	waitFor(t, "a failure", func() bool { return rowCount(c.do("GET /Pages/Messages?Status=2", "")) > 0 })

	seen := crawl(t, c, "/Pages", "/Queries/DB_Class", "/Logs", "/Webhooks/Messages?format=html",
		"/Webhooks/Subscribers?format=html", "/Webhooks/Subscriptions?format=html",
		"/Pages/Why?Key="+url.QueryEscape(hostile), "/Pages/Captures/SO_Totals/Resume")
	shown := make(map[string]bool)
	for path, a := range seen {
		checkEscaped(t, path, a)
		a.wantText(t, `<html lang="en">`, `<main id="main"`, "<h1>", "Log out")
		if strings.Contains(a.body, "&lt;script&gt;") || strings.Contains(a.body, "&lt;img src") {
			shown[patternOf("GET", path)] = true
		}
	}
	for _, pattern := range []string{
		"/Pages/Messages/{MessageID}", "/Pages/Subscriptions/{SubscriptionID}", "/Pages/Subscribers", "/Pages/Users",
		"/Pages/Keys", "/Pages/Records/{Kind}", "/Pages/Requests", "/Pages/Why", "/Pages/Subscriptions/{SubscriptionID}/Edit",
	} {
		if !shown[pattern] {
			t.Errorf("%s does not show the stored texts: the test finds nothing there", pattern)
		}
	}
	sendHostileForms(t, c, seen)
}

// sendHostileForms sends markup in all inputs of all forms. Those that delete something come last.
func sendHostileForms(t *testing.T, c client, seen map[string]answer) {
	t.Helper()
	deletes := func(path string) bool {
		return strings.Contains(path, "/Delete") || strings.HasSuffix(path, "/Remove") || strings.HasSuffix(path, "/Revoke")
	}
	paths := slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		if deletes(a) != deletes(b) && deletes(a) {
			return 1
		}
		if deletes(a) != deletes(b) {
			return -1
		}
		return strings.Compare(a, b)
	})
	sent := 0
	for _, path := range paths {
		for _, f := range seen[path].forms() {
			if f.method != "post" {
				continue
			}
			for name := range f.values {
				f.values[name] = []string{hostile}
			}
			sent++
			a := c.do("POST "+f.action, f.values.Encode(), "Content-Type: application/x-www-form-urlencoded")
			checkEscaped(t, "the answer to the form of "+path, a)
			if a.status >= 500 {
				t.Errorf("the form of %s: status %d", path, a.status)
			}
		}
	}
	if sent < len(patterns("POST"))-1 {
		t.Errorf("only %d forms were sent", sent)
	}
}
