package rest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestPagesShowRateLimit checks that the pages of administrators and of the subscriber show that
// messages wait for the rate limit of their subscription.
func TestPagesShowRateLimit(t *testing.T) {
	p := newPortal(t)
	session := p.open()
	page := p.subscribe(session, "debtor.created")
	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(page.link(t, "Test…"))
	p.boss.do("PATCH /Webhooks/Subscribers/"+p.shop.RecID+"/Subscriptions/"+id, `{"MaxPerMinute":1}`).want(t, 200)
	for n := range 5 {
		p.boss.do("POST /Webhooks/Events", fmt.Sprintf(`{"EventName":"debtor.created","Body":{"n":%d}}`, n)).want(t, 201)
	}
	waitFor(t, "the first delivery", func() bool { return p.hook.got.Load() >= 1 })

	c := signIn(t, p.Instance)
	const limited = "rate limit, next in "
	for _, path := range []string{"/Pages/Subscriptions", "/Pages/Messages?Status=0", "/Pages/Subscriptions/" + id} {
		waitFor(t, "the rate limit on "+path, func() bool {
			return strings.Contains(c.do("GET "+path, "").want(t, 200).body, limited)
		})
	}
	message := c.do("GET /Pages/Messages?Status=0", "").want(t, 200)
	address := regexp.MustCompile(`/Pages/Messages/[0-9a-f-]{36}`).FindString(message.body)
	c.do("GET "+address, "").want(t, 200).wantText(t, limited)

	for _, path := range []string{"/Subscriptions", "/Subscriptions/" + id} {
		session.do("GET "+edge.PortalPath+path, "").want(t, 200).wantText(t, "4 messages wait, rate limit 1 a minute")
	}
	session.do("GET "+edge.PortalPath+"/Subscribe", "").want(t, 200).wantText(t, `<option value="debtor.created">`, "Events: ")
}

// TestPagesEndOldSecrets checks that the form that replaces a secret can end the earlier ones, as the
// error of too many suggests.
func TestPagesEndOldSecrets(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	form := p.subscribe(c, "debtor.created").link(t, "Replace the secret…")
	rotate := func(changes ...string) answer { return c.send(t, c.do("GET "+form, "").want(t, 200), changes...) }
	rotate().want(t, 200).wantText(t, "<dt>Secrets</dt><dd>2</dd>")
	refused := rotate()
	for range 5 {
		if refused.status != 200 {
			break
		}
		refused = rotate()
	}
	refused.want(t, 409).wantText(t, "use “it ends at once, with all earlier ones”",
		`<option value="0">it ends at once, with all earlier ones</option>`)
	ended := rotate("KeepFor", "0").want(t, 200).wantText(t, "whsec_", "<dt>Secrets</dt><dd>1</dd>")
	if strings.Contains(ended.body, "signs as well until") {
		t.Error("an earlier secret still signs")
	}
}
