package rest_test

import (
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// The name of a subscriber must not be blank, neither when it is added nor changed.
func TestSubscriberNameIsRequired(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":" Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID
	for _, body := range []string{`{"Name":""}`, `{"Name":"  "}`, `{"Name":"\t\u00a0\n"}`} {
		for _, request := range []string{"POST /Webhooks/Subscribers", "PATCH " + path} {
			a := c.do(request, body).want(t, 400)
			if code := a.failure(t).ErrorCode; code != "NotEmpty" || a.fieldNames(t) != "Name" {
				t.Errorf("%s %s: %s for %s", request, body, code, a.fieldNames(t))
			}
		}
	}
	if got := read[wire.Subscriber](t, c.do("GET "+path, "").want(t, 200)); got.Name != " Shop" {
		t.Errorf("the name is %q", got.Name)
	}
	c.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
}
