package rest_test

import (
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestIdempotencyKeysOfTheSameName publishes events as a user and with an API key of the same
// name. Their idempotency keys are separate.
func TestIdempotencyKeysOfTheSameName(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	const password = "a long password"
	c.do("POST /Users", `{"UserName":"shop","Role":"writer","Password":"`+password+`"}`).want(t, 201)
	made := read[wire.APIKey](t, c.do("POST /ApiKeys", `{"Name":"shop","Role":"writer"}`).want(t, 201))

	for _, publisher := range []struct {
		login string
		body  string
	}{
		{basic("shop", password), `{"EventName":"debtor.updated","Body":"of the user"}`},
		{"Authorization: Bearer " + made.Key, `{"EventName":"debtor.updated","Body":"of the key"}`},
	} {
		for _, replayed := range []string{"", "true"} {
			a := anonymous(t, i).do("POST /Webhooks/Events", publisher.body, publisher.login, "Idempotency-Key: 1")
			a.want(t, 201).wantHeader(t, wire.HeaderReplayed, replayed)
		}
	}
}

// TestIdempotencyKeyWithABlank checks that a blank is a character of a key.
func TestIdempotencyKeyWithABlank(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	const body = `{"EventName":"debtor.updated","Body":"{}"}`
	c.do("POST /Webhooks/Events", body, "Idempotency-Key: order 1").want(t, 201)
	a := c.do("POST /Webhooks/Events", body, "Idempotency-Key: Größe").want(t, 400)
	a.wantMessage(t, "must be one text of 1 to 255 printable ASCII characters")
}
