package daemon_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const eventKinds = `[Debtor]
source = "Debtors"
key = ["No"]
capture = "asked"
events = "debtor"
before = ["Status", "Balance"]
[Debtor.fields]
No = "string"
Name = "string?"
Status = "int?"
Balance = "decimal?"
`

var debtors = []string{
	"CREATE TABLE Debtors (No nvarchar(60) NOT NULL PRIMARY KEY, Name nvarchar(60) NULL, Status int NULL, Balance decimal(18,2) NULL)",
	"INSERT INTO Debtors VALUES (N'D1', N'Ann', 1, '10.50')",
}

// with returns a client with a new API key of a role.
func (s *captureStory) with(role string) *client.Client {
	s.t.Helper()
	key, err := s.admin.AddAPIKey(s.t.Context(), wire.APIKeyRequest{Name: "as " + role, Role: role})
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: s.URL, Token: key.Key})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// subscribe adds a subscription of a client's to an endpoint of its own.
func (s *captureStory) subscribe(c *client.Client, subscriber, event string) (*wire.Subscription, <-chan delivery) {
	s.t.Helper()
	to, got := receiver(s.t, 200)
	sub, err := c.AddSubscription(s.t.Context(), subscriber, wire.SubscriptionRequest{
		URL:       &to,
		EventName: &event,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return sub, got
}

func (s *captureStory) subscriber() string {
	s.t.Helper()
	shop, err := s.admin.AddSubscriber(s.t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		s.t.Fatal(err)
	}
	return shop.RecID
}

// verified checks the signature of a delivery with the secret of its subscription, and its
// body apart from the time of capture.
func verified(t *testing.T, d delivery, secret, event, want string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(d.header.Get("Webhook-Id") + "." + d.header.Get("Webhook-Timestamp") + "." + d.body))
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if d.header.Get("Webhook-Signature") != signature {
		t.Errorf("the signature is %q, want %q", d.header.Get("Webhook-Signature"), signature)
	}
	if name := d.header.Get("X-Event-Name"); name != event {
		t.Errorf("the event is %s, want %s", name, event)
	}
	var got, expected map[string]any
	if err := json.Unmarshal([]byte(d.body), &got); err != nil {
		t.Fatalf("%v: %s", err, d.body)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if capturedAt, ok := got["CapturedAt"].(string); !ok || !strings.HasSuffix(capturedAt, "Z") {
		t.Errorf("no time of capture: %s", d.body)
	}
	delete(got, "CapturedAt")
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("the body is\n%s, want\n%s", d.body, want)
	}
}

// TestCapturedEventsAreDelivered changes rows, and receives their signed events with a
// reader's key. A subscription made with the SubscriberID alone receives none.
func TestCapturedEventsAreDelivered(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(debtors...)
		s.start(eventKinds)
		shop, reader := s.subscriber(), s.with("reader")
		anonymous, err := client.New(client.Options{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(anonymous.Close)
		_, anonymousGot := s.subscribe(anonymous, shop, "*")
		all, allGot := s.subscribe(reader, shop, "*")
		if c := s.capture("Debtor"); c.Phase != wire.CaptureNotRequested {
			t.Errorf("a subscription to all events has started capture: %+v", c)
		}

		_, err = anonymous.AddSubscription(t.Context(), shop, wire.SubscriptionRequest{
			URL:       pointer("http://127.0.0.1:9/"),
			EventName: pointer("debtor.updated"),
		})
		if !client.Is(err, client.Unauthorized) {
			t.Errorf("a subscription without a login: %v", err)
		}

		got, secrets := make(map[string]<-chan delivery), make(map[string]string)
		for _, op := range []string{wire.OpCreated, wire.OpUpdated, wire.OpDeleted} {
			sub, deliveries := s.subscribe(reader, shop, "debtor."+op)
			got[op], secrets[op] = deliveries, sub.Secret
		}

		s.capturing("Debtor")
		for _, step := range []struct{ op, sql, body string }{
			{
				op:   wire.OpCreated,
				sql:  "INSERT INTO Debtors VALUES (N'D2', N'Bob \"the\" builder', NULL, '7.00')",
				body: `{"ChangeID":1,"Kind":"Debtor","Op":"created","Key":"D2","KeyFields":{"No":"D2"},"Record":{"No":"D2","Name":"Bob \"the\" builder","Balance":7.00}}`,
			},
			{
				op:   wire.OpUpdated,
				sql:  "UPDATE Debtors SET Status = 2, Balance = NULL WHERE No = N'D1'",
				body: `{"ChangeID":2,"Kind":"Debtor","Op":"updated","Key":"D1","KeyFields":{"No":"D1"},"Record":{"No":"D1","Name":"Ann","Status":2},"Changed":["Status","Balance"],"Before":{"Status":1,"Balance":10.50}}`,
			},
			{
				op:   wire.OpDeleted,
				sql:  "DELETE FROM Debtors WHERE No = N'D1'",
				body: `{"ChangeID":3,"Kind":"Debtor","Op":"deleted","Key":"D1","KeyFields":{"No":"D1"},"Before":{"Status":2}}`,
			},
		} {
			s.exec(step.sql)
			verified(t, await(t, got[step.op]), secrets[step.op], "debtor."+step.op, step.body)
			verified(t, await(t, allGot), all.Secret, "debtor."+step.op, step.body)
		}

		_, err = s.admin.PublishEvent(t.Context(), "debtor.updated", "x")
		if err == nil ||
			!strings.Contains(err.Error(), "published for changes of the record kind Debtor") {
			t.Errorf("posting a captured event: %v", err)
		}
		receipt, err := s.admin.PublishEvent(t.Context(), "creditor.updated", "posted")
		if err != nil || receipt.Messages != 2 {
			t.Errorf("posting another event: %+v, %v", receipt, err)
		}

		for _, c := range []<-chan delivery{anonymousGot, allGot} {
			if d := await(t, c); d.body != "posted" {
				t.Errorf("delivered %s", d.body)
			}
		}

		for op, c := range got {
			if len(c) > 0 {
				t.Errorf("debtor.%s was delivered again: %s", op, (<-c).body)
			}
		}

		events, err := reader.Events(t.Context())
		i := slices.IndexFunc(events, func(e wire.Event) bool { return e.Name == "debtor.updated" })
		if err != nil || i < 0 || events[i].Source != wire.SourceCaptured || events[i].Kind != "Debtor" ||
			!events[i].Before || !events[i].Deletes {
			t.Errorf("got the events %+v (%v), want a captured one of Debtor with Before and Deletes", events, err)
		}
	})
}

// TestOwnerLosesItsRole takes the role of a subscription's owner: the event of a change is
// held until the role is back, with both kinds of own stores.
func TestOwnerLosesItsRole(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*testing.T) []string{
		"file": func(*testing.T) []string { return nil },
		"server": func(t *testing.T) []string {
			return []string{
				"--store", mssqltest.Database(t),
				"--migrate",
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCaptureStory(t, "", store(t)...)
			s.exec(debtors...)
			s.start(strings.Replace(eventKinds, "[Debtor.fields]", "role = 'writer'\n[Debtor.fields]", 1))
			ctx, shop := t.Context(), s.subscriber()
			if _, err := s.admin.AddUser(ctx, wire.UserRequest{
				UserName: "ann",
				Password: pointer("a password of hers"),
				Role:     pointer("writer"),
			}); err != nil {
				t.Fatal(err)
			}

			sub, got := s.subscribe(clientAs(t, s.Instance, "ann", "a password of hers"), shop, "debtor.updated")
			_, all := s.subscribe(s.admin, shop, "*")
			s.capturing("Debtor")
			role := func(role string, held int) {
				t.Helper()
				if _, err := s.admin.UpdateUser(ctx, "ann", wire.UserRequest{Role: &role}); err != nil {
					t.Fatal(err)
				}
				s.until("Debtor", "held", func(wire.Capture) bool {
					stats, err := s.admin.Stats(ctx, 0)
					if err != nil {
						t.Fatal(err)
					}
					return stats.Disabled == held
				})
			}
			role("reader", 1)
			s.exec("UPDATE Debtors SET Status = 3")
			if d := await(t, all); !strings.Contains(d.body, `"Status":3`) {
				t.Errorf("delivered %s", d.body)
			}

			page, err := s.admin.Messages(ctx, shop, url.Values{"SubscriptionID": {sub.RecID}})
			if err != nil || len(page.Results) != 1 || page.Results[0].Status != 0 ||
				page.Results[0].Retries != 0 || len(got) > 0 {
				t.Errorf("the held message: %+v, %v", page, err)
			}

			role("writer", 0)
			verified(t, await(t, got), sub.Secret, "debtor.updated", `{"ChangeID":1,"Kind":"Debtor","Op":"updated","Key":"D1","KeyFields":{"No":"D1"},
				"Record":{"No":"D1","Name":"Ann","Status":3,"Balance":10.50},"Changed":["Status"],"Before":{"Status":1,"Balance":10.50}}`)
			m := settled(t, s.admin, shop, url.Values{"SubscriptionID": {sub.RecID}, "Status": {"1"}})
			if m.Retries != 0 {
				t.Errorf("the message was tried while it was held: %+v", m)
			}
		})
	}
}

// TestMessagesOfRemovedKind removes a kind that requires a role: its messages remain hidden
// from clients with the SubscriberID alone, also after a restart.
func TestMessagesOfRemovedKind(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	s.exec(debtors...)
	s.start(strings.Replace(eventKinds, "[Debtor.fields]", "role = 'admin'\n[Debtor.fields]", 1))
	shop := s.subscriber()
	_, got := s.subscribe(s.admin, shop, "debtor.updated")
	s.capturing("Debtor")
	s.exec("UPDATE Debtors SET Status = 3")
	await(t, got)
	reader := s.with("reader")
	expect := func(when string) {
		t.Helper()
		anonymous, err := client.New(client.Options{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer anonymous.Close()
		for name, c := range map[string]*client.Client{
			"anonymous": anonymous,
			"reader":    reader,
			"admin":     s.admin,
		} {
			page, err := c.Messages(t.Context(), shop, url.Values{"Key": {"D1"}})
			want := 0
			if name == "admin" {
				want = 1
			}
			if err != nil || len(page.Results) != want {
				t.Errorf("%s: %s reads %d messages, want %d: %v", when, name, len(page.Results), want, err)
			}
		}
	}
	expect("captured")
	writeKinds(t, filepath.Join(s.dir, "kinds"), "story",
		strings.ReplaceAll(eventKinds, `events = "debtor"`, `events = "other"`))
	s.Set(t, "log.level", "info") // reloads the kinds too
	expect("with other events")
	s.start("")
	reader = s.with("writer")
	expect("after a restart")
}
