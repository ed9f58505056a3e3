package rest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// signedDelivery is a delivery as its receiver sees it.
type signedDelivery struct {
	header http.Header
	body   string
}

// signedBy reports whether one of the signatures was made with the secret.
func (d signedDelivery) signedBy(t *testing.T, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, d.header.Get("Webhook-Id")+"."+d.header.Get("Webhook-Timestamp")+"."+d.body)
	return strings.Contains(" "+d.header.Get("Webhook-Signature")+" ",
		" v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))+" ")
}

// subscriptionFixture is a subscription with its receiver.
type subscriptionFixture struct {
	*daemontest.Instance
	path   string // of the subscription
	secret string
	got    chan signedDelivery
}

func newSubscriptionFixture(t *testing.T, args ...string) *subscriptionFixture {
	t.Helper()
	s := &subscriptionFixture{
		Instance: daemontest.Start(t, append([]string{
			"--webhooks-allow-targets", "127.0.0.0/8",
		}, args...)...),
		got: make(chan signedDelivery, 16),
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.got <- signedDelivery{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)
	subscriber := read[wire.Subscriber](t,
		asAdmin(t, s.Instance).do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	s.path = "/Webhooks/Subscribers/" + subscriber.RecID + "/Subscriptions"
	made := read[wire.Subscription](t, anonymous(t, s.Instance).do("POST "+s.path,
		`{"URL":"`+receiver.URL+`","EventName":"*"}`).want(t, 201))
	s.path, s.secret = s.path+"/"+made.RecID, made.Secret
	return s
}

// deliver sends a message to the subscription and returns the delivery.
func (s *subscriptionFixture) deliver(t *testing.T) signedDelivery {
	t.Helper()
	asAdmin(t, s.Instance).do("POST "+s.path+"/Test", "").want(t, 202)
	select {
	case d := <-s.got:
		return d
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was delivered")
		return signedDelivery{}
	}
}

// TestRotationOfASecret replaces a secret three times: by a generated one, by a
// given one immediately, and by a given one with a transition period.
func TestRotationOfASecret(t *testing.T) {
	s := newSubscriptionFixture(t)
	c := anonymous(t, s.Instance)
	rotate := func(body string) wire.RotatedSecret {
		t.Helper()
		return read[wire.RotatedSecret](t, c.do("POST "+s.path+"/Secret", body).want(t, 200))
	}
	around := func(until wire.Timestamp, in time.Duration) bool {
		left := time.Until(time.Time(until))
		return left > in-time.Hour && left <= in+time.Minute
	}
	expect := func(signs bool, secrets ...string) {
		t.Helper()
		d := s.deliver(t)
		for _, secret := range secrets {
			if d.signedBy(t, secret) != signs {
				t.Errorf("signed by %d secrets; by %.10s...: %v",
					len(strings.Fields(d.header.Get("Webhook-Signature"))), secret, !signs)
			}
		}
	}
	expect(true, s.secret)
	first := rotate("")
	if !strings.HasPrefix(first.Secret, "whsec_") || first.Secret == s.secret ||
		!around(first.OldSecretUntil, 24*time.Hour) {
		t.Errorf("until %v", time.Time(first.OldSecretUntil))
	}

	expect(true, first.Secret, s.secret)
	chosen := "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("o", 24)))
	got := rotate(`{"Secret":"` + chosen + `","KeepFor":0}`)
	if got.Secret != chosen || !time.Time(got.OldSecretUntil).IsZero() {
		t.Errorf("immediately: until %v", time.Time(got.OldSecretUntil))
	}

	expect(true, chosen)
	expect(false, first.Secret, s.secret)
	last := rotate(`{"keepfor":"720h"}`)
	if !around(last.OldSecretUntil, 720*time.Hour) {
		t.Errorf("until %v", time.Time(last.OldSecretUntil))
	}

	expect(true, last.Secret, chosen)
	expect(false, first.Secret)
	text := c.do("GET "+s.path, "").want(t, 200).body
	if strings.Contains(text, "whsec_") || strings.Contains(text, `"Secret"`) {
		t.Errorf("the subscription shows its secret: %s", text)
	}

	s.Log.Await(t, "the secret of a subscription was replaced", s.path[strings.LastIndexByte(s.path, '/')+1:])
}

func TestInvalidRotations(t *testing.T) {
	s := newSubscriptionFixture(t)
	boss := asAdmin(t, s.Instance)
	for _, tt := range []struct{ query, body, field string }{
		{"", `{"Secret":"` + s.secret + `"}`, "Secret"}, // the current secret
		{"", `{"Secret":"canary"}`, "Secret"},
		{"", `{"Secret":"whsec_canary"}`, "Secret"},
		{"", `{"Secret":"whsec_Y2FuYXJ5"}`, "Secret"},                                 // too short
		{"", `{"Secret":"whsec_` + strings.Repeat("Y2FuYXJ5", 11) + `"}`, "Secret"},   // too long
		{"", `{"Secret":"` + strings.TrimPrefix(s.secret, "whsec_") + `"}`, "Secret"}, // no prefix
		{"", `{"Secret":["` + s.secret + `"]}`, "Secret"},
		{"", `{"KeepFor":"a day"}`, "KeepFor"},
		{"", `{"KeepFor":24}`, "KeepFor"},
		{"", `{"KeepFor":""}`, "KeepFor"},
		{"", `{"KeepFor":"-1h"}`, "KeepFor"},
		{"", `{"KeepFor":"720h1ns"}`, "KeepFor"},
		{"KeepFor=31d", ``, "KeepFor"},
		{"KeepFor=1.5d", ``, "KeepFor"},
		{"", `{"KeepFor":"P1M"}`, "KeepFor"},
		{"Strict=true&KeepsFor=1h", ``, "KeepsFor"},
	} {
		a := boss.do("POST "+s.path+"/Secret?"+tt.query, tt.body).want(t, 400)
		var failure wire.Failure
		if err := json.Unmarshal([]byte(a.body), &failure); err != nil {
			t.Fatal(err)
		}
		fields := failure.ResponseStatus.Errors
		if len(fields) != 1 || fields[0].FieldName != tt.field {
			t.Errorf("%s %s: %s, want %s", tt.query, tt.body, a.body, tt.field)
		}
		for _, secret := range []string{"anary", "Y2Fu", s.secret} {
			if strings.Contains(a.body, secret) {
				t.Errorf("%s %s: %s shows the secret", tt.query, tt.body, a.body)
			}
		}
	}

	d := s.deliver(t)
	if !d.signedBy(t, s.secret) || strings.Contains(d.header.Get("Webhook-Signature"), " ") {
		t.Error("the secret has changed")
	}

	const unknownID = "00000000-0000-4000-8000-000000000000"
	parts := strings.Split(s.path, "/")
	for _, place := range []int{3, 5} { // another subscriber, another subscription
		other := append([]string{}, parts...)
		other[place] = unknownID
		boss.do("POST "+strings.Join(other, "/")+"/Secret", "").want(t, 404)
	}

	anonymous(t, s.Instance).do("POST "+s.path+"/Secret", "", "Origin: https://evil.example").want(t, 403)
	anonymous(t, s.Instance).do("GET "+s.path+"/Secret", "").want(t, 405)
}

// TestSigningSecretsAreCounted rotates three times and reads how many secrets sign, and until when.
func TestSigningSecretsAreCounted(t *testing.T) {
	s := newSubscriptionFixture(t)
	c := asAdmin(t, s.Instance)
	for i, test := range []struct {
		keep    string
		secrets int
		until   time.Duration // the end of the last old one from now, 0 for none
	}{
		{"", 1, 0},
		{`{"KeepFor":"3d"}`, 2, 72 * time.Hour},
		{`{"KeepFor":"PT1H"}`, 3, 72 * time.Hour},
		{`{"KeepFor":"24h"}`, 4, 72 * time.Hour},
		{`{"KeepFor":0}`, 1, 0},
	} {
		if i > 0 {
			rotated := read[wire.RotatedSecret](t, c.do("POST "+s.path+"/Secret", test.keep).want(t, 200))
			if rotated.SigningSecrets != test.secrets || !endsIn(rotated.OldSecretsUntil, test.until) {
				t.Errorf("rotation %s: %d secrets until %v, want %d for %v",
					test.keep, rotated.SigningSecrets, time.Time(rotated.OldSecretsUntil), test.secrets, test.until)
			}
		}
		shown := read[wire.Subscription](t, c.do("GET "+s.path, "").want(t, 200))
		if shown.SigningSecrets != test.secrets || !endsIn(shown.OldSecretsUntil, test.until) {
			t.Errorf("after %s: %d secrets until %v, want %d for %v",
				test.keep, shown.SigningSecrets, time.Time(shown.OldSecretsUntil), test.secrets, test.until)
		}
	}
}

// endsIn reports whether a time is a duration from now, within an hour; for 0 it must not be given.
func endsIn(until wire.Timestamp, in time.Duration) bool {
	end := time.Time(until)
	if in == 0 || end.IsZero() {
		return in == 0 && end.IsZero()
	}
	return time.Until(end) > in-time.Hour && time.Until(end) <= in+time.Minute
}

// TestRotationLimit checks that clients with the SubscriberID only are limited,
// since each rotation drops a secret that a receiver may still use. They can always end secrets.
func TestRotationLimit(t *testing.T) {
	s := newSubscriptionFixture(t)
	refused := 0
	for range 12 {
		if anonymous(t, s.Instance).do("POST "+s.path+"/Secret", "").status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("12 rotations without a limit")
	}
	anonymous(t, s.Instance).do("POST "+s.path+"/Secret", `{"KeepFor":"0s"}`).want(t, 200) // a secret became known
	asAdmin(t, s.Instance).do("POST "+s.path+"/Secret", "").want(t, 200)
}

// TestNoSecretOfASubscriptionReachesALog sends secrets in all parts of a rotation
// and searches the logs for them.
func TestNoSecretOfASubscriptionReachesALog(t *testing.T) {
	canary := func(n string) string {
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte("canary "+n+strings.Repeat("!", 24)))
	}
	for _, bodies := range []string{"false", "true"} {
		s := newSubscriptionFixture(t, "--requestlog-bodies="+bodies)
		boss := asAdmin(t, s.Instance)
		secrets := []string{s.secret, strings.TrimPrefix(s.secret, "whsec_"), "Y2FuYXJ5", "canary"}
		rotated := func(a answer) {
			t.Helper()
			secrets = append(secrets, strings.TrimPrefix(read[wire.RotatedSecret](t, a.want(t, 200)).Secret, "whsec_"))
		}
		rotated(boss.do("POST "+s.path+"/Secret", ""))
		rotated(boss.do("POST "+s.path+"/Secret", `{"Secret":"`+canary("1")+`"}`))
		rotated(boss.do("POST "+s.path+"/Secret?Secret="+url.QueryEscape(canary("2")), ""))
		rotated(boss.do("POST "+s.path+"/Secret", "Secret="+url.QueryEscape(canary("3")),
			"Content-Type: application/x-www-form-urlencoded"))
		rotated(boss.do("POST "+s.path+"/Secret", `{"KeepFor":"0"}`)) // ends the earlier ones, which are five by now
		boss.do("POST "+s.path+"/Secret.csv", "Secret\r\n"+canary("4")+"\r\n", "Content-Type: text/csv").want(t, 200)
		boss.do("POST "+s.path+"/Secret.xml", `{"s\u0065cret":"`+canary("5")+`"}`).want(t, 200)
		boss.do("POST "+s.path+"/Secret?Secert="+url.QueryEscape(canary("6")), `{"Strict":true}`).want(t, 400)
		boss.do("POST "+s.path+"/Secret", `{"Secret":"canary-of-nothing"}`).want(t, 400)
		boss.do("POST "+s.path+"/Secret/"+canary("7"), "").want(t, 404)
		boss.do("GET "+s.path, "", "Referer: http://erp.example/?Secret="+url.QueryEscape(canary("8"))).want(t, 200)
		boss.do("GET /Logs", "").want(t, 200) // waits for writes
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}

		files := logBytes(t, s.Dir)
		if !strings.Contains(files, "/Secret") || !strings.Contains(s.Log.String(), "/Secret") {
			t.Error("the requests are missing in the logs")
		}

		for _, secret := range secrets {
			for name, text := range map[string]string{"request log": files, "log": s.Log.String()} {
				if at := strings.Index(text, secret); at >= 0 {
					t.Errorf("bodies=%s: the %s contains a secret: %q",
						bodies, name, text[max(0, at-120):min(len(text), at+60)])
				}
			}
		}
	}
}
