package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// repeats is a daemon with a subscription to debtor.created, and an administrator at its pages.
type repeats struct {
	*daemontest.Instance
	admin, pages client
	hook         *hook
}

func newRepeats(t *testing.T) repeats {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.1/32")
	r := repeats{Instance: i, admin: asAdmin(t, i), pages: signIn(t, i), hook: newHook(t)}
	r.pages.follow(t, r.pages.send(t, r.pages.do("GET /Pages/Subscribers/New", ""), "Name", "Acme"))
	form := r.pages.do("GET /Pages/Subscribers/1/Subscribe", "").want(t, 200)
	r.pages.send(t, form, "URL", r.hook.url, "EventName", "debtor.created", "RetrySchedule", "1h").want(t, 201)
	return r
}

// publish publishes an event and waits for the attempt of its message.
func (r repeats) publish(t *testing.T) {
	t.Helper()
	r.admin.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"Total":7}}`).want(t, 201)
	r.waitForAttempts(t, 1)
}

// waitForAttempts waits until the only message has ended that many attempts, and none is due.
func (r repeats) waitForAttempts(t *testing.T, want int) {
	t.Helper()
	waitFor(t, fmt.Sprint("attempt ", want), func() bool {
		attempts := r.admin.do("GET /Webhooks/Messages/Responses?Include=Total&Take=1", "").want(t, 200)
		return *attempts.envelope(t).Total == int64(want)
	})
}

// TestFormsSendAgainOnce sends the form that sends delivered messages again twice at the same time, and
// once more after the delivery. The message is sent again once.
func TestFormsSendAgainOnce(t *testing.T) {
	for _, page := range []string{"/Pages/AllMessages/SendAgain", ""} {
		r := newRepeats(t)
		r.publish(t)
		if page == "" {
			list := r.admin.do("GET /Webhooks/Messages?Fields=MessageID&format=csv", "").want(t, 200)
			page = "/Pages/Messages/" + strings.Fields(list.body)[1] + "/SendAgain"
		}
		form := r.pages.do("GET "+page, "").want(t, 200)
		statuses := make([]int, 2)
		var sent sync.WaitGroup
		for i := range statuses {
			sent.Go(func() { statuses[i] = r.pages.send(t, form).status })
		}
		sent.Wait()
		if statuses[0]+statuses[1] != 303+409 {
			t.Errorf("%s: two forms at the same time return %v, want 303 and 409", page, statuses)
		}
		r.waitForAttempts(t, 2)
		r.pages.send(t, form).want(t, 409).wantText(t, "Nothing has been done now")
		if n := r.hook.got.Load(); n != 2 {
			t.Errorf("%s: the endpoint got the message %d times, want 2", page, n)
		}
		reopened := r.pages.do("GET "+page, "").want(t, 200)
		r.pages.follow(t, r.pages.send(t, reopened))
		r.waitForAttempts(t, 3)
	}
}

// TestFormsRetryOnce sends the form that retries messages again after the attempt has failed.
func TestFormsRetryOnce(t *testing.T) {
	r := newRepeats(t)
	r.hook.fails.Store(true)
	r.publish(t)
	form := r.pages.do("GET /Pages/AllMessages/Retry?EventName=debtor.created", "").want(t, 200)
	r.pages.follow(t, r.pages.send(t, form)).wantText(t, "1 message is due now.")
	r.waitForAttempts(t, 2)
	done := r.pages.send(t, form).want(t, 409).wantText(t, "This was done already", "Nothing has been done now")
	if to := done.link(t, "Show the messages"); to != "/Pages/Messages?EventName=debtor.created" {
		t.Errorf("the page that follows leads to %s", to)
	}
	if strings.Contains(done.main(), "<button") {
		t.Error("the page that follows has a button")
	}

	list := r.admin.do("GET /Webhooks/Messages?Fields=MessageID&format=csv", "").want(t, 200)
	form = r.pages.do("GET /Pages/Messages/"+strings.Fields(list.body)[1]+"/Retry", "").want(t, 200)
	r.pages.follow(t, r.pages.send(t, form))
	r.waitForAttempts(t, 3)
	r.pages.send(t, form).want(t, 409).wantText(t, "has been attempted or changed since", "Nothing has been done now")
}

// TestFormsDeleteOnce sends the form that deletes messages twice.
func TestFormsDeleteOnce(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	form := c.do("GET /Pages/AllMessages/Delete?Status=3", "").want(t, 200)
	c.follow(t, c.send(t, form)).wantText(t, "4 messages have been deleted.")
	c.send(t, form).want(t, 409).wantText(t, "This was done already")
	c.send(t, form, "Counted", "").want(t, 400).wantText(t, "start again from the list of messages")
}

// TestFormsAddSubscribersOnce sends the form of a new subscriber twice.
func TestFormsAddSubscribersOnce(t *testing.T) {
	c := signIn(t, daemontest.Start(t))
	form := c.do("GET /Pages/Subscribers/New", "").want(t, 200)
	c.follow(t, c.send(t, form, "Name", "Acme"))
	repeated := c.send(t, form, "Name", "Acme").want(t, 409).
		wantText(t, "has been added or deleted since this form was opened", `value="Acme"`)
	c.follow(t, c.send(t, repeated, "Name", "Acme and sons"))
	list := c.do("GET /Pages/Subscribers", "").want(t, 200)
	if n := strings.Count(list.body, `<tr><th scope="row"`); n != 2 {
		t.Errorf("there are %d subscribers, want 2", n)
	}
}

// TestFormsSentAtOnceActOnce sends forms several times at the same time: those that add something, and
// the one that replaces a secret, which each response would show another one of.
func TestFormsSentAtOnceActOnce(t *testing.T) {
	p := newPortal(t)
	admin, theirs := signIn(t, p.Instance), p.open()
	p.subscribe(theirs, "debtor.created")
	subscription := admin.do("GET /Pages/Subscriptions", "").want(t, 200).link(t, "debtor.created")
	subscribe := []string{"URL", "https://example.com/hook", "EventName", "debtor.updated"}
	for page, c := range map[string]struct {
		client
		inputs []string
		want   int // status of the form that acts
	}{
		"/Pages/Subscribers/New":         {admin, []string{"Name", "Acme"}, 303},
		"/Pages/Subscribers/1/Subscribe": {admin, subscribe, 201},
		edge.PortalPath + "/Subscribe":   {theirs, subscribe, 201},
		subscription + "/Do/Rotate":      {admin, nil, 200},
	} {
		form := c.do("GET "+page, "").want(t, 200)
		var statuses [4]int
		var sent sync.WaitGroup
		for i := range statuses {
			sent.Go(func() { statuses[i] = c.send(t, form, c.inputs...).status })
		}
		sent.Wait()
		slices.Sort(statuses[:])
		if want := [4]int{c.want, 409, 409, 409}; statuses != want {
			t.Errorf("%s: forms sent at once return %v, want %v", page, statuses, want)
		}
	}
}

// TestNumbersOfNotes checks that only the browser that has sent a form shows its number.
func TestNumbersOfNotes(t *testing.T) {
	m := newMessagesFixture(t)
	c := signIn(t, m.Instance)
	form := c.do("GET /Pages/AllMessages/Delete?Status=3", "").want(t, 200)
	deleted := c.send(t, form).want(t, 303).header.Get("Location")
	c.do("GET "+deleted, "").want(t, 200).wantText(t, "4 messages have been deleted.")
	for _, address := range []string{"/Pages/Messages?Note=Retried.999999", strings.Replace(deleted, ".4.", ".5.", 1)} {
		a := c.do("GET "+address, "").want(t, 200)
		if strings.Contains(a.main(), `class="note"`) {
			t.Errorf("%s shows a note: %s", address, a.main())
		}
	}
	if a := signIn(t, m.Instance).do("GET "+deleted, "").want(t, 200); strings.Contains(a.main(), "have been deleted") {
		t.Error("another session shows the note")
	}
}
