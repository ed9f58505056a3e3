package rest_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

var (
	titleTag   = regexp.MustCompile(`<title>(.*?)</title>`)
	tableTag   = regexp.MustCompile(`(?s)<table.*?</table>`)
	headingTag = regexp.MustCompile(`<th[^>]*>`)
	controlTag = regexp.MustCompile(`<(?:input|select|textarea)[^>]*>`)
	labelTag   = regexp.MustCompile(`(?s)<label.*?</label>`)
	buttonTag  = regexp.MustCompile(`(?s)<(?:button|a class="button)[^>]*>.*?</(?:button|a)>`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
)

// TestNamesOnPages checks the names that screen readers list: pages have different titles, tables a caption,
// headings and rows that are named, inputs a label, and buttons a name of more than a verb.
func TestNamesOnPages(t *testing.T) {
	m := newMessagesFixture(t, "--webhooks-portal")
	c, theirs := signIn(t, m.Instance), m.visitor(t, 0)
	m.admin.do("POST /ApiKeys", `{"Name":"nightly","Role":"reader"}`).want(t, 201)
	failed := m.messages(t, "Status=3")[0]
	message := "/Messages/" + failed.MessageID
	subscription := "/Subscriptions/" + failed.SubscriptionID
	key := c.do("GET /Pages/Keys", "").want(t, 200).links(`/Pages/Keys/[^"]+/Revoke`)[0]
	pages := []string{
		"/Pages", "/Pages/Messages", "/Pages" + message, "/Pages" + message + "/Retry", "/Pages" + message + "/Delete",
		"/Pages/AllMessages/Delete", "/Pages/AllMessages/Retry", "/Pages/AllMessages/SendAgain",
		"/Pages/Subscriptions", "/Pages" + subscription, "/Pages" + subscription + "/Edit",
		"/Pages" + subscription + "/Do/Test", "/Pages" + subscription + "/Do/Disable",
		"/Pages" + subscription + "/Do/Enable", "/Pages" + subscription + "/Do/Rotate",
		"/Pages" + subscription + "/Do/Delete", "/Pages/Subscribers", "/Pages/Subscribers/New", "/Pages/Subscribers/1",
		"/Pages/Subscribers/1/Subscribe", "/Pages/Subscribers/2/Subscribe", "/Pages/Subscribers/1/Do/Rename",
		"/Pages/Subscribers/1/Do/Disable", "/Pages/Subscribers/1/Do/Delete", "/Pages/Why", "/Pages/Users",
		"/Pages/Users/Do/New", "/Pages/Users/admin/Edit", "/Pages/Users/admin/Remove", "/Pages/Keys",
		"/Pages/Keys/Do/New", key, "/Pages/Settings", "/Pages/Captures", "/Pages/Kinds", "/Pages/OpenAPI",
	}
	ofPortal := []string{
		"/Subscriptions", "/Subscribe", subscription, subscription + "/Edit", subscription + "/Do/Rotate", "/Messages",
		message, message + "/Do/Retry",
	}
	titles := make(map[string]string)
	for _, path := range pages {
		checkNames(t, path, c.do("GET "+path, "").want(t, 200), titles)
	}
	titles = make(map[string]string)
	for _, path := range ofPortal {
		path = edge.PortalPath + path
		checkNames(t, path, theirs.do("GET "+path, "").want(t, 200), titles)
	}
	entry := asBrowser(anonymous(t, m.Instance)).do("GET "+edge.PortalPath, "").want(t, 200)
	checkNames(t, edge.PortalPath, entry, titles)
}

// checkNames checks the names on a page, and that no page before it had its title.
func checkNames(t *testing.T, path string, a answer, titles map[string]string) {
	t.Helper()
	title := titleTag.FindString(a.body)
	if earlier, ok := titles[title]; ok {
		t.Errorf("%s and %s have the title %s", path, earlier, title)
	}
	titles[title] = path
	content := a.main()
	for _, table := range tableTag.FindAllString(content, -1) {
		if !strings.Contains(table, "<caption") || !strings.Contains(table, `scope="row"`) {
			t.Errorf("%s: a table lacks a caption, or names of its rows: %.200s", path, table)
		}
		for _, heading := range headingTag.FindAllString(table, -1) {
			if !strings.HasPrefix(heading, "<thead") && attribute(heading, "scope") == "" {
				t.Errorf("%s: a heading lacks a scope: %s", path, heading)
			}
		}
	}
	inLabels := strings.Join(labelTag.FindAllString(content, -1), "")
	for _, control := range controlTag.FindAllString(content, -1) {
		id := attribute(control, "id")
		isNamed := attribute(control, "aria-label") != "" || strings.Contains(inLabels, control) ||
			id != "" && strings.Contains(content, `<label for="`+id+`"`)
		if !isNamed && attribute(control, "type") != "hidden" {
			t.Errorf("%s: an input has no label: %s", path, control)
		}
	}
	for _, button := range buttonTag.FindAllString(content, -1) {
		tag := anyTag.FindString(button)
		name := attribute(tag, "aria-label")
		if name == "" {
			name = html.UnescapeString(anyTag.ReplaceAllString(button, ""))
		}
		isPlain := slices.Contains([]string{"Cancel", "Back", "JSON", "Subscribers", "Subscriptions"}, name)
		if !isPlain && !strings.Contains(name, " ") {
			t.Errorf("%s: a button is named %q only", path, name)
		}
	}
	for _, form := range formTag.FindAllStringSubmatch(content, -1) {
		if attribute(form[1], "aria-label") == "" {
			t.Errorf("%s: a form has no name: <form%s>", path, form[1])
		}
	}
}
