package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// wantMarked checks that the error of a page is about an input: it names its label and not its member,
// and the input is marked, refers to the error and has the value that was sent.
func (a answer) wantMarked(t testing.TB, member, label, value string) {
	t.Helper()
	a.want(t, 400).wantText(t, `<a href="#in-`+member+`">`+label+"</a>")
	_, alert, _ := strings.Cut(a.body, `role="alert"`)
	alert, _, _ = strings.Cut(alert, "</div>")
	words := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(alert, "")
	isNamed := regexp.MustCompile(member + ` (must|is|number) `).MatchString(words)
	if isNamed && member != label {
		t.Errorf("the error names the member %s: %s", member, words)
	}
	input := regexp.MustCompile(`<[a-z]+[^>]* id="in-` + member + `"[^>]*>`).FindString(a.body)
	for _, text := range []string{`aria-invalid="true"`, `aria-describedby="why-` + member} {
		if !strings.Contains(input, text) {
			t.Errorf("the input for %s lacks %s: %s", member, text, input)
		}
	}
	a.wantText(t, `id="why-`+member+`"`, `value="`+value+`"`)
}

// TestErrorsOfFormsNameLabels sends invalid values by the forms of pages.
func TestErrorsOfFormsNameLabels(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	c := signIn(t, i)
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/New", ""), "Name", "Acme"))
	for _, tt := range []struct{ page, input, value, member, label string }{
		{"Subscribers/New", "Name", " ", "Name", "Name"},
		{"Subscribers/1/Do/Rename", "Name", " ", "Name", "Name"},
		{"Subscribers/1/Subscribe", "URL", "nonsense", "URL", "Endpoint"},
		{"Subscribers/1/Subscribe", "URL", "", "URL", "Endpoint"},
		{"Subscribers/1/Subscribe", "EventName", "a b", "EventName", "Event"},
		{"Subscribers/1/Subscribe", "RetrySchedule", "soon", "RetrySchedule", "Waits between attempts"},
		{"Subscribers/1/Subscribe", "MaxPerMinute", "many", "MaxPerMinute", "Attempts a minute, at most"},
		{"Subscribers/1/Subscribe", "WhereValue", "5", "Where", "Conditions"},
		{"Subscribers/1/Subscribe", "HeaderName", "a b", "Headers", "Headers"},
		{"Users/Do/New", "UserName", "a:b", "UserName", "User name"},
		{"Users/Do/New", "DisplayName", strings.Repeat("d", 500), "DisplayName", "Display name"},
		{"Users/admin/Edit", "DisplayName", strings.Repeat("d", 500), "DisplayName", "Display name"},
		{"Keys/Do/New", "ExpiryDateTime", "tomorrow", "ExpiryDateTime", "Expires"},
		{"Keys/Do/New", "ExpiryDateTime", "0001-01-01", "ExpiryDateTime", "Expires"},
	} {
		form := c.do("GET /Pages/"+tt.page, "").want(t, 200)
		c.send(t, form, "Name", "a", "URL", "http://127.0.0.1:9/", "EventName", "debtor.created", "UserName", "jane",
			"Password", daemontest.AdminPassword, tt.input, tt.value).
			wantMarked(t, tt.member, tt.label, tt.value)
	}
	for page, label := range map[string]string{"Users/Do/New": "Password", "Users/admin/Edit": "New password"} {
		form := c.do("GET /Pages/"+page, "").want(t, 200)
		c.send(t, form, "UserName", "jane", "Password", "short").wantMarked(t, "Password", label, "")
	}
	long := strings.Repeat("k", 5000)
	c.do("GET /Pages/Why?Key="+long, "").wantMarked(t, "Key", "Key", long)
}

// TestErrorsOfFormsAreListedTogether checks that a form with several wrong values shows all errors at
// once, but those of the condition, which is for the event.
func TestErrorsOfFormsAreListedTogether(t *testing.T) {
	p := newPortal(t)
	admin, theirs := signIn(t, p.Instance), p.open()
	wrong := []string{
		"URL", "notaurl", "EventName", "nope", "MaxPerMinute", "fast", "RetrySchedule", "soon",
		"HeaderName", "a b", "HeaderValue", "x", "WhereName", "Before.", "WhereValue", "x",
	}
	edit := p.subscribe(theirs, "debtor.created").link(t, "Edit")
	for page, c := range map[string]client{
		"/Pages/Subscribers/1/Subscribe": admin,
		edge.PortalPath + "/Subscribe":   theirs,
		edit:                             theirs,
		strings.Replace(edit, edge.PortalPath, "/Pages", 1): admin,
	} {
		refused := c.send(t, c.do("GET "+page, "").want(t, 200), append(wrong, "ReplaceHeaders", "1")...).want(t, 400)
		for _, member := range []string{"URL", "EventName", "MaxPerMinute", "RetrySchedule", "Headers"} {
			refused.wantText(t, `<a href="#in-`+member+`">`)
		}
		listed := regexp.MustCompile(`<a href="#in-(\w+)">`).FindAllStringSubmatch(refused.body, -1)
		if len(listed) != 5 || listed[0][1] != "URL" || listed[1][1] != "EventName" {
			t.Errorf("%s: the errors are not in the order of the form: %v", page, listed)
		}
	}
	for page, inputs := range map[string][]string{
		"Keys/Do/New":  {"Name", "a/b", "ExpiryDateTime", "tomorrow"},
		"Users/Do/New": {"UserName", "a/b", "Password", "", "DisplayName", strings.Repeat("d", 500)},
	} {
		refused := admin.send(t, admin.do("GET /Pages/"+page, "").want(t, 200), inputs...).want(t, 400)
		for i := 0; i < len(inputs); i += 2 {
			refused.wantText(t, `<a href="#in-`+inputs[i]+`">`)
		}
	}
}

// TestErrorsOfConditions checks that errors of conditions mark their inputs, and describe a condition as
// its row does.
func TestErrorsOfConditions(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	c := signIn(t, i)
	c.follow(t, c.send(t, c.do("GET /Pages/Subscribers/New", ""), "Name", "Acme"))
	form := c.do("GET /Pages/Subscribers/1/Subscribe", "").want(t, 200)
	for _, tt := range []struct{ name, operator, value, want string }{
		{"Name", "Between", "3", "“Name is between” takes two values, not 1"},
		{"Before.", "Equal", "x", "“Before.” is "},
		{"Changed", "GreaterThan", "x", "“Changed is over” "},
		{"x.y.z", "Equal", "x", "“x.y.z” is not possible"},
	} {
		refused := c.send(t, form, "URL", "http://127.0.0.1:9/", "EventName", "debtor.created",
			"WhereName", tt.name, "WhereOperator", tt.operator, "WhereValue", tt.value)
		refused.wantMarked(t, "Where", "Conditions", tt.value)
		refused.wantText(t, "Conditions</a> are not valid: "+tt.want)
		if strings.Contains(refused.main(), "Where.") {
			t.Errorf("%s: the error names a member: %s", tt.name, refused.main())
		}
	}
}

// TestErrorsOfPortalNameLabels is TestErrorsOfFormsNameLabels for the pages of subscribers. A SubscriberID
// is not repeated, since it is a credential.
func TestErrorsOfPortalNameLabels(t *testing.T) {
	p := newPortal(t)
	form := p.open().do("GET "+edge.PortalPath+"/Subscribe", "").want(t, 200)
	p.open().send(t, form, "URL", "nonsense", "EventName", "debtor.created").
		wantMarked(t, "URL", "Endpoint", "nonsense")
	refused := p.try("nonsense").want(t, 400).wantText(t, `aria-invalid="true" aria-describedby="why help-id"`)
	if strings.Contains(refused.body, "nonsense") {
		t.Error("the page repeats the SubscriberID")
	}
}

// TestOutdatedFormsLeadBack checks that a form of a subscription that has changed since describes the way out,
// and does not name the hidden input that found it.
func TestOutdatedFormsLeadBack(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	edit := c.do("GET "+p.subscribe(c, "debtor.created").link(t, "Edit"), "").want(t, 200)
	c.follow(t, c.send(t, edit, "EventName", "debtor.updated"))
	stale := c.send(t, edit, "URL", p.hook.url+"/stale").want(t, 409).
		wantText(t, "has been changed since it was read", "open the form again")
	_, alert, _ := strings.Cut(stale.body, `role="alert"`)
	alert, _, _ = strings.Cut(alert, "</div>")
	if strings.Contains(alert, "RowHash") {
		t.Errorf("the error names a member: %s", alert)
	}
}
