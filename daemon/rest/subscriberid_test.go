package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestChangesBySubscriberID checks the limit of subscription changes with the
// SubscriberID only, on all routes. Administrators have no limit.
func TestChangesBySubscriberID(t *testing.T) {
	rest.LimitChanges(t, edge.Rate{PerSecond: 1.0 / 3600, Burst: 5})
	s := newSubscriptionFixture(t) // creates one of them
	list := s.path[:len(s.path)-len("/00000000-0000-0000-0000-000000000000")]
	id := s.path[len(list)+1:]
	c := anonymous(t, s.Instance)
	c.do("PATCH /Webhooks/Subscribers/00000000-0000-4000-8000-000000000000/Subscriptions/"+id, `{"Ordered":true}`).want(t, 404)
	c.do("PATCH "+s.path, `{"Ordered":true}`).want(t, 200)
	c.do("PATCH "+list, `{"SubscriptionID":"`+id+`","Ordered":false}`).want(t, 200)
	c.do("POST "+s.path+"/Secret", "").want(t, 200)
	made := read[wire.Subscription](t, c.do("POST "+list,
		`{"URL":"https://shop.example/in","EventName":"*"}`).want(t, 201))
	for _, line := range []string{
		"PATCH " + s.path,
		"PATCH " + list,
		"POST " + list,
		"DELETE " + list + "/" + made.RecID,
		"POST " + s.path + "/Secret",
	} {
		a := c.do(line, `{}`).want(t, 429)
		a.wantMessage(t, "TooManyRequests")
		if after := a.header.Get("Retry-After"); after == "" {
			t.Errorf("%s: no Retry-After", line)
		}
	}
	c.do("GET "+s.path, "").want(t, 200)
	asAdmin(t, s.Instance).do("PATCH "+s.path, `{"Ordered":true}`).want(t, 200)
	asAdmin(t, s.Instance).do("DELETE "+list+"/"+made.RecID, "").want(t, 204)
}

// TestHeadersOfAnotherOrigin checks that the headers of a subscription are not sent
// to another origin after a change of its URL, on both routes.
func TestHeadersOfAnotherOrigin(t *testing.T) {
	s := newSubscriptionFixture(t)
	list := s.path[:len(s.path)-len("/00000000-0000-0000-0000-000000000000")]
	id := s.path[len(list)+1:]
	asAdmin(t, s.Instance).do("PATCH "+s.path,
		`{"Headers":[{"Name":"Authorization","Value":"Bearer s"}]}`).want(t, 200)
	c := anonymous(t, s.Instance)
	for _, tt := range []struct {
		line, body string
		status     int
	}{
		{"PATCH " + s.path, `{"URL":"http://127.0.0.1:9/in"}`, 400},
		{"PATCH " + list, `{"SubscriptionID":"` + id + `","URL":"http://127.0.0.1:9/in"}`, 400},
		{"PATCH " + s.path, `{"URL":"http://127.0.0.1:9/in","Headers":null}`, 400},
		{"PATCH " + s.path, `{"URL":"http://127.0.0.1:9/in","Headers":[]}`, 200},
	} {
		a := c.do(tt.line, tt.body).want(t, tt.status)
		if tt.status != 200 {
			a.wantMessage(t, `"FieldName":"Headers"`)
		}
	}
}

// TestSubscriptionsBySubscriberID checks the limits of the number of subscriptions. The
// setting applies to later ones; administrators have no limit, and may exceed both.
func TestSubscriptionsBySubscriberID(t *testing.T) {
	s := newSubscriptionFixture(t) // creates one to *
	s.Set(t, "webhooks.max_subscriptions", "22")
	list := "POST " + s.path[:strings.LastIndex(s.path, "/")]
	id := s.path[strings.LastIndex(s.path, "/")+1:]
	c, admin := anonymous(t, s.Instance), asAdmin(t, s.Instance)
	const (
		family = `{"URL":"https://shop.example/in","EventName":"debtor.*"}`
		all    = `{"URL":"https://shop.example/in","EventName":"*"}`
		named  = `{"URL":"https://shop.example/in","EventName":"debtor.updated"}`
	)
	for range 19 {
		c.do(list, family).want(t, 201)
	}

	c.do(list, all).want(t, 400).wantMessage(t, `"FieldName":"EventName"`)
	c.do(list, family).want(t, 400).wantMessage(t, "limit of 20 subscriptions to * or to a family")
	admin.do(list, all).want(t, 201)
	c.do(list, named).want(t, 201)
	c.do(list, named).want(t, 400).
		wantMessage(t, "limit of 22 subscriptions that can be added with only a SubscriberID (webhooks.max_subscriptions)")

	s.Set(t, "webhooks.max_subscriptions", "23")
	last := read[wire.Subscription](t, c.do(list, named).want(t, 201))
	c.do("PATCH "+s.path[:len(s.path)-len(id)]+last.RecID, `{"EventName":"*"}`).want(t, 400).
		wantMessage(t, `"FieldName":"EventName"`)
	c.do("PATCH "+s.path, `{"EventName":"debtor.*"}`).want(t, 200)

	s.Set(t, "webhooks.max_subscriptions", "2")
	c.do(list, named).want(t, 400).wantMessage(t, `"FieldName":"SubscriberID"`)
	c.do("PATCH "+s.path, `{"Ordered":true}`).want(t, 200)
	admin.do(list, named).want(t, 201)
}
