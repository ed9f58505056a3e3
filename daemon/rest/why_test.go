package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestWhyOfKeys: the key is in the path, or a member.
func TestWhyOfKeys(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	c.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions",
		`{"URL":"https://shop.example/","EventName":"debtor.*","IsEnabled":false}`).want(t, 201)
	c.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Key":"Døb 1","Body":"x"}`).want(t, 201)
	for _, line := range []string{
		"GET /Webhooks/Why/D%C3%B8b%201",
		"GET /Webhooks/Why?Key=D%C3%B8b%201",
		"GET /Webhooks/Why/D%C3%B8b%201/",
	} {
		why := read[wire.Why](t, c.do(line, "").want(t, 200))
		var steps []string
		for _, s := range why.Steps {
			steps = append(steps, s.Step)
		}
		got := strings.Join(steps, ", ")
		if why.Key != "Døb 1" || got != "event, message, disabled" {
			t.Errorf("%s: the history of %s is %s, want event, message, disabled of Døb 1",
				line, why.Key, got)
		}
	}

	for _, line := range []string{
		"GET /Webhooks/Why",
		"GET /Webhooks/Why?Key=",
		"GET /Webhooks/Why/" + strings.Repeat("x", 129),
	} {
		if a := c.do(line, "").want(t, 400); !strings.Contains(a.body, `"FieldName":"Key"`) {
			t.Errorf("%s: got %s, want an error for Key", line, a.body)
		}
	}

	anonymous(t, i).with("Authorization: Bearer "+i.Key(t, "writer")).do("GET /Webhooks/Why/x", "").want(t, 403)
}

// TestWhyOfMessages: the history of a message has its event and its attempts, but not those of
// others with its key.
func TestWhyOfMessages(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	c.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions",
		`{"URL":"https://shop.example/","EventName":"debtor.*","IsEnabled":false}`).want(t, 201)
	for _, key := range []string{"", "D1"} {
		for range 2 {
			c.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Key":"`+key+`","Body":"x"}`).want(t, 201)
		}
		messages := read[wire.Page[wire.Message]](t, c.do("GET /Webhooks/Messages?Take=1", "").want(t, 200))
		id := messages.Results[0].MessageID
		why := read[wire.Why](t, c.do("GET /Webhooks/Why?MessageID="+id, "").want(t, 200))
		var steps []string
		for _, step := range why.Steps {
			steps = append(steps, step.Step)
			if step.MessageID != "" && step.MessageID != id {
				t.Errorf("key %q: the history of the message %s has the message %s", key, id, step.MessageID)
			}
		}
		if got := strings.Join(steps, ", "); got != "event, message, disabled" || why.Key != key {
			t.Errorf("key %q: got the steps %s of the key %q", key, got, why.Key)
		}
	}
	c.do("GET /Webhooks/Why?MessageID=1", "").want(t, 400)
	c.do("GET /Webhooks/Why/D1?MessageID=01a1b2c3-0000-4000-8000-000000000000", "").want(t, 400)
	c.do("GET /Webhooks/Why?MessageID=01a1b2c3-0000-4000-8000-000000000000", "").want(t, 404)
}
