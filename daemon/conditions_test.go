package daemon_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// conditionKinds keeps no values by itself.
var conditionKinds = strings.Replace(eventKinds, `before = ["Status", "Balance"]`+"\n", "", 1)

// where adds a subscription with a condition, as a client, and returns its deliveries.
func (s *captureStory) where(c *client.Client, subscriber, event, condition string) (*wire.Subscription, <-chan delivery) {
	s.t.Helper()
	to, got := receiver(s.t, 200)
	sub, err := c.AddSubscription(s.t.Context(), subscriber, wire.SubscriptionRequest{
		URL:       &to,
		EventName: &event,
		Where:     json.RawMessage(condition),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return sub, got
}

// shown returns a subscription as a client reads it.
func (s *captureStory) shown(c *client.Client, subscriber, id string) wire.Subscription {
	s.t.Helper()
	all, err := c.Subscriptions(s.t.Context(), subscriber)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, sub := range all {
		if sub.RecID == id {
			return sub
		}
	}
	s.t.Fatalf("no subscription %s", id)
	return wire.Subscription{}
}

// anonymous returns a client without a login.
func (s *captureStory) anonymous() *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{URL: s.URL})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// only checks the next delivery, and that there is none after it.
func only(t *testing.T, got <-chan delivery, parts ...string) {
	t.Helper()
	d := await(t, got)
	for _, part := range parts {
		if !strings.Contains(d.body, part) {
			t.Errorf("delivered %s, want %s", d.body, part)
		}
	}
	if len(got) > 0 {
		t.Errorf("also delivered %s", (<-got).body)
	}
}

// TestOnlyWhenStatusGoesFromOneToTwo sends the events of some changes only. The values before
// them are kept for the conditions, from a time that the subscription shows.
func TestOnlyWhenStatusGoesFromOneToTwo(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(debtors...)
		t := s.t
		s.exec("INSERT INTO Debtors VALUES (N'D2', N'Bob', 5, '7.00')",
			"INSERT INTO Debtors VALUES (N'D4', N'Dan', 5, '7.00')")
		s.start(conditionKinds)
		shop, reader := s.subscriber(), s.with("reader")
		const fromOneToTwo = `{"Changed":"Status","Before.Status":1,"Status":2}`
		sub, got := s.where(reader, shop, "debtor.updated", "\n"+fromOneToTwo)
		removed, gone := s.where(reader, shop, "debtor.deleted", `{"StatusIn":[1,2],"NoStartsWith":"d"}`)
		_, all := s.subscribe(reader, shop, "debtor.*")
		for _, id := range []string{sub.RecID, removed.RecID} {
			s.until("Debtor", "known", func(wire.Capture) bool { return !time.Time(s.shown(reader, shop, id).CapturedFrom).IsZero() })
		}

		shown := s.shown(reader, shop, sub.RecID)
		if string(shown.Where) != fromOneToTwo || shown.DisabledReason != "" {
			t.Errorf("got %+v, want the condition %s and no reason", shown, fromOneToTwo)
		}

		for _, step := range []string{
			"UPDATE Debtors SET Status = 3 WHERE No = N'D1'",
			"UPDATE Debtors SET Status = 2 WHERE No = N'D2'",
			"UPDATE Debtors SET Status = 1 WHERE No = N'D1'",
			"UPDATE Debtors SET Name = N'Anna' WHERE No = N'D1'",
			"UPDATE Debtors SET Status = 2 WHERE No = N'D1'",
		} {
			s.exec(step)
			await(t, all)
		}

		only(t, got, `"Key":"D1"`, `"Changed":["Status"]`, `"Before":{"Status":1}`)
		s.exec("UPDATE Debtors SET Status = 9 WHERE No = N'D2'")
		await(t, all)
		s.exec("DELETE FROM Debtors WHERE No = N'D2'")
		await(t, all)
		s.exec("DELETE FROM Debtors WHERE No = N'D1'")
		await(t, all)
		only(t, gone, `"Key":"D1"`, `"Before":{"Status":2}`)

		_, err := reader.UpdateSubscription(t.Context(), shop, sub.RecID,
			wire.SubscriptionRequest{Where: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}

		s.exec("INSERT INTO Debtors VALUES (N'D3', N'Cem', NULL, '7.00')")
		await(t, all)
		s.exec("UPDATE Debtors SET Status = 9 WHERE No = N'D3'")
		await(t, all)
		only(t, got, `"Key":"D3"`, `"Changed":["Status"]`)
	})
}

// TestRightsOfConditions shows conditions on records only to callers that may read them.
func TestRightsOfConditions(t *testing.T) {
	s := newCaptureStory(t, "")
	s.exec(debtors...)
	s.start(conditionKinds)
	shop, reader := s.subscriber(), s.with("reader")
	anonymous := s.anonymous()
	add := func(c *client.Client, event, condition string) error {
		_, err := c.AddSubscription(t.Context(), shop, wire.SubscriptionRequest{
			URL:       pointer("http://127.0.0.1:9/"),
			EventName: &event,
			Where:     json.RawMessage(condition),
		})
		return err
	}

	if err := add(anonymous, "debtor.updated", `{"Nonsense":1}`); !client.Is(err, client.Unauthorized) {
		t.Errorf("without a login: %v", err)
	}

	for condition, want := range map[string]string{
		`{"BalanceBetween":[1]}`:         "Where.BalanceBetween takes two values",
		`{"Before.NameGreaterThan":"x"}`: "Where.Before.NameGreaterThan",
		`{"Stat":1}`:                     "Where.Stat is unknown for Debtor",
		`5`:                              "Where must be an object",
	} {
		err := add(reader, "debtor.updated", condition)
		if !client.Is(err, client.Rejected) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", condition, err, want)
		}
	}

	if err := add(reader, "*", `{"Status":1}`); err == nil ||
		!strings.Contains(err.Error(), "all events of EventName are posted, or all are changes of one record kind") {
		t.Errorf("for all events: %v", err)
	}

	sub, _ := s.where(reader, shop, "debtor.created", `{"Status":1}`)
	if hidden := s.shown(anonymous, shop, sub.RecID); hidden.Where != nil {
		t.Errorf("without a login, the condition is %s", hidden.Where)
	}

	posted, got := s.where(anonymous, shop, "salesorder.created", `{"TotalGreaterThan":100,"Shop":"nord"}`)
	shown := s.shown(anonymous, shop, posted.RecID)
	hasCondition := string(shown.Where) == `{"TotalGreaterThan":100,"Shop":"nord"}`
	if !hasCondition || !time.Time(shown.CapturedFrom).IsZero() {
		t.Errorf("got %+v, want the condition on the posted body", shown)
	}

	for body, want := range map[string]int{
		`{"Total":100,"Shop":"Nord"}`:    0,
		`{"Total":"101","Shop":"Nord"}`:  0,
		`{"Shop":"Nord"}`:                0,
		`no JSON`:                        0,
		`{"Total":100.01,"Shop":"Nord"}`: 1,
	} {
		receipt, err := s.admin.PublishEvent(t.Context(), "salesorder.created", body)
		if err != nil || receipt.Messages != want {
			t.Errorf("%s has %+v messages (%v), want %d", body, receipt, err, want)
		}
	}

	only(t, got, "100.01")
	if _, err := s.admin.TestSubscription(t.Context(), shop, posted.RecID); err != nil {
		t.Error(err)
	}

	await(t, got)

	s.start(strings.Replace(conditionKinds, "Status = \"int?\"\n", "", 1))
	const reason = "its condition is no longer valid: Where.Status is unknown for Debtor"
	held := s.shown(s.admin, shop, sub.RecID)
	if held.DisabledReason != reason || string(held.Where) != `{"Status":1}` {
		t.Errorf("without its field an admin gets %+v, want the reason %q and the condition", held, reason)
	}
	held = s.shown(s.anonymous(), shop, sub.RecID)
	if held.DisabledReason != "its condition is no longer valid" || held.Where != nil {
		t.Errorf("without a login: %+v", held)
	}
	_, err := s.admin.UpdateSubscription(t.Context(), shop, sub.RecID,
		wire.SubscriptionRequest{IsEnabled: pointer(false)})
	if err != nil {
		t.Errorf("disabling it: %v", err)
	}
}

// TestConditionsAsQueries compares texts of records in conditions as queries of them do: by the
// collation of the column in the ERP's database.
func TestConditionsAsQueries(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		t := s.t
		s.exec("CREATE TABLE Debtors (No nvarchar(60) NOT NULL PRIMARY KEY, Name nvarchar(60) COLLATE Latin1_General_CS_AS NULL, Status int NULL, Title nvarchar(60) NULL)")
		s.start(strings.Replace(conditionKinds, `Balance = "decimal?"`, `Title = "string?"`, 1))
		shop := s.subscriber()
		filters := []client.Filter{
			{Field: "Name", Values: []string{"Ann "}},
			{Field: "Name", Values: []string{"ann"}},
			{Field: "Name", Operator: record.In, Values: []string{"ANN", "bob"}},
			{Field: "Name", Operator: record.StartsWith, Values: []string{"a"}},
			{Field: "Name", Operator: record.Like, Values: []string{"[A-B]_n"}},
			{Field: "Title", Values: []string{"MRS"}},
			{Field: "Title", Operator: record.EndsWith, Values: []string{"RS"}},
		}
		var subscriptions []string
		for _, f := range filters {
			var operand any = f.Values[0]
			if f.Operator == record.In {
				operand = f.Values
			}
			text, err := json.Marshal(map[string]any{f.Field + f.Operator.Suffix(): operand})
			if err != nil {
				t.Fatal(err)
			}
			sub, _ := s.where(s.admin, shop, "debtor.created", string(text))
			subscriptions = append(subscriptions, sub.RecID)
		}

		_, all := s.subscribe(s.admin, shop, "debtor.created")
		s.capturing("Debtor")
		s.exec("INSERT INTO Debtors VALUES (N'D1', N'Ann', 1, N'Mrs')")
		await(t, all)

		kind, _ := s.kinds.Lookup("Debtor")
		for i, f := range filters {
			want, err := s.admin.Count(t.Context(), client.Query{Kind: kind, Where: []client.Filter{f}})
			if err != nil {
				t.Fatal(err)
			}
			sent, err := s.admin.AllMessages(t.Context(), map[string][]string{"SubscriptionID": {subscriptions[i]}})
			if err != nil {
				t.Fatal(err)
			}
			if got := int64(len(sent.Results)); got != want {
				t.Errorf("%s%s %q: got %d messages, want %d as the query has rows",
					f.Field, f.Operator.Suffix(), f.Values, got, want)
			}
		}
	})
}
