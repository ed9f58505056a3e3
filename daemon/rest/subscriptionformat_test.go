package rest_test

import (
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestSubscriptionFormat sets and removes the format of messages. The name of this member is also that
// of the format of responses, which it does not change, in the query string and in the path.
func TestSubscriptionFormat(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	const endpoint = `"EventName":"*","URL":"https://shop.example/"`

	a := c.do("POST "+path+"?format=json", `{"Format":"CloudEvents",`+endpoint+`}`).want(t, 201)
	added := read[wire.Subscription](t, a)
	if added.Format != wire.FormatCloudEvents {
		t.Errorf("added with the format %q, want cloudevents", added.Format)
	}
	plain := read[wire.Subscription](t, c.do("POST "+path+"?format=json", "{"+endpoint+"}").want(t, 201))
	if plain.Format != "" {
		t.Errorf("added with the format %q, want none: that in the query string is of the response", plain.Format)
	}

	address := path + "/" + added.RecID
	for _, step := range []struct {
		line string
		body string
		want string
	}{
		{"PATCH " + address, `{"MaxPerMinute":60}`, wire.FormatCloudEvents},
		{"PATCH " + address + "?format=json", `{"URL":"https://shop.example/2"}`, wire.FormatCloudEvents},
		{"GET " + address + "?format=json", "", wire.FormatCloudEvents},
		{"PATCH " + address + "?format=json", `{"Format":""}`, ""},
		{"GET " + address, "", ""},
		{"PATCH " + address + "?format=json", `{"Format":"cloudevents"}`, wire.FormatCloudEvents},
		{
			"POST /json/reply/ChangeSubscription",
			`{"SubscriberID":"` + shop.RecID + `","SubscriptionID":"` + added.RecID + `","Ordered":true}`,
			wire.FormatCloudEvents,
		},
	} {
		got := read[wire.Subscription](t, c.do(step.line, step.body).want(t, 200))
		if got.Format != step.want {
			t.Errorf("%s %s: the format is %q, want %q", step.line, step.body, got.Format, step.want)
		}
	}

	for _, line := range []string{"PATCH " + address, "POST " + path} {
		refused := c.do(line, `{"Format":"xml",`+endpoint+`}`).want(t, 400)
		refused.wantMessage(t, "must be cloudevents, or empty")
	}
	c.do("PATCH "+address+"?format=cloudevents", `{}`).want(t, 400)
}
