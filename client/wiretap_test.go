package client_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

const subscriber = "1f0c3d52-8a6b-4c1e-9f7a-0123456789ab"

func TestRedactMasksSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`{"UserName":"Ann","Password":"a \"b\" c","Role":"x"}`:             `{"UserName":"Ann","Password":"***","Role":"x"}`,
		`{"CurrentPassword" : "x", "password":"y"}`:                        `{"CurrentPassword" : "***", "password":"***"}`,
		`{"Password":"truncated in the mid`:                                `{"Password":"***"`,
		`{"Password":"truncated after \`:                                   `{"Password":"***"`,
		`{"Headers":[{"Name":"Authorization","Value":"Basic abc"}]}`:       `{"Headers":[{"Name":"Authorization","Value":"***"}]}`,
		`{"KeyID":"7","Key":"whd_abc-DEF_9","Name":"till"}`:                `{"KeyID":"7","Key":"***","Name":"till"}`,
		`{"Secret":"whsec_MfKQ9r8/GKYq+Tw==","SessionId":"s"}`:             `{"Secret":"***","SessionId":"***"}`,
		`{"URL":"https://a.example/in?token=s3cret&x=1"}`:                  `{"URL":"https://a.example/in?token=***&x=1"}`,
		`https://a.example/in?x=1\u0026api_key=s3cret`:                     `https://a.example/in?x=1\u0026api_key=***`,
		"/Webhooks/Messages?Key=D1&Take=1":                                 "/Webhooks/Messages?Key=D1&Take=1",
		`{"Secrets":["a","b"]}`:                                            `{"Secrets":"***"}`,
		`the key whd_abc in text`:                                          `the key whd_*** in text`,
		"/Webhooks/Subscribers/" + subscriber + "/Messages":                "/Webhooks/Subscribers/1f0c..89ab/Messages",
		strings.ReplaceAll(subscriber, "-", ""):                            "1f0c..89ab",
		"{" + strings.ToUpper(subscriber) + "}":                            "{1F0C..89AB}",
		`{"InvoiceID":"D1","InvoiceTotal":12345678901234567890123456.789}`: `{"InvoiceID":"D1","InvoiceTotal":12345678901234567890123456.789}`,
	} {
		if got := client.Redact(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestWireLogHasNoSecrets(t *testing.T) {
	var text bytes.Buffer
	handler := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "ss-id=canary-cookie")
		respond(200, "application/json", `{"SessionId":"canary-session","UserName":"Ann","Secret":"whsec_canary"}`)(w, r)
	}
	request := wire.SubscriptionRequest{
		Headers: &[]wire.Header{{Name: "Authorization", Value: "canary-header"}},
	}
	for _, o := range []client.Options{
		{Token: "canary-token"},
		{User: "Ann", Password: "canary-word"},
		{Session: "canary-old"},
	} {
		o.Wire = &text
		c := serveWith(t, handler, o)
		if _, err := c.UpdateSubscription(t.Context(), subscriber, subscriber, request); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Login(t.Context(), "Ann", "canary-password"); err != nil {
			t.Fatal(err)
		}
	}

	basic := base64.StdEncoding.EncodeToString([]byte("Ann:canary-word"))
	for _, secret := range []string{"canary", subscriber, basic} {
		if strings.Contains(text.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, &text)
		}
	}
	for _, want := range []string{
		"> POST /auth HTTP/1.1\n",
		"> Authorization: Bearer ***\n",
		"> Authorization: Basic ***\n",
		`> {"Password":"***","UserName":"Ann"}`,
		"< HTTP/1.1 200 OK\n",
		"< Set-Cookie: ***\n",
		`< {"SessionId":"***","UserName":"Ann","Secret":"***"}`,
		"/Webhooks/Subscribers/1f0c..89ab/Subscriptions/1f0c..89ab",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log does not have %q:\n%s", want, &text)
		}
	}
}

// TestWireLogLimitsBodies: the log has the beginning of a long body, the caller all of it.
func TestWireLogLimitsBodies(t *testing.T) {
	const rows, size = 5000, 95_000 // of the reply, in bytes
	var text bytes.Buffer
	lines := slices.Repeat([]string{`{"InvoiceID":"D1"}`}, rows)
	c := serveWith(t, reply{lines: lines, count: "correct"}.ServeHTTP, client.Options{Wire: &text})
	stream, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(stream)
	if err != nil || len(got) != rows {
		t.Errorf("got %d rows (%v), want %d", len(got), err, rows)
	}
	if want := fmt.Sprintf("< (4096 of %d bytes)\n", size); !strings.Contains(text.String(), want) {
		t.Errorf("the log does not have %q:\n%s", want, &text)
	}
	const maxLog = 8 << 10 // bytes
	if text.Len() > maxLog {
		t.Errorf("the log has %d bytes, want at most %d:\n%s", text.Len(), maxLog, &text)
	}
}
