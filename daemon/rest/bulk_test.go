package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// firstAdded is the time when the first message of messagesFixture was added. The others were
// added one hour apart.
var firstAdded = time.Now().UTC().Add(-48 * time.Hour).Truncate(time.Minute)

// hoursLater returns the time n hours after firstAdded in one of the accepted formats:
// with a zone, with all digits, or in milliseconds.
func hoursLater(n int, form string) string {
	at := firstAdded.Add(time.Duration(n) * time.Hour)
	if form == "/Date/" {
		return url.QueryEscape(fmt.Sprintf("/Date(%d)/", at.UnixMilli()))
	}
	return url.QueryEscape(at.Format(form))
}

// messagesFixture is a daemon with messages of two subscriptions. Each has one message not
// sent, one delivered, one waiting for a retry and two failed. None is sent
// automatically.
type messagesFixture struct {
	*daemontest.Instance
	admin client
	shops [2]webhook.Subscription
}

var mailStates = []webhook.State{
	{Next: time.Now().Add(24 * time.Hour)}, {Status: webhook.Successful, Attempts: 1}, {Status: webhook.RetryPending, Attempts: 2, Next: time.Now().Add(24 * time.Hour)},
	{Status: webhook.Failed, Attempts: 3}, {Status: webhook.Failed, Attempts: 1},
}

func newMessagesFixture(t *testing.T, args ...string) *messagesFixture {
	t.Helper()
	m := &messagesFixture{}
	dir := t.TempDir()
	m.addMessages(t, dir)
	m.Instance = daemontest.StartIn(t, dir, args...)
	m.admin = asAdmin(t, m.Instance)
	return m
}

// addMessages adds the messages to a store before its daemon is started.
func (m *messagesFixture) addMessages(t *testing.T, dir string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
	check(err)
	defer func() { check(s.Close()) }()
	kept := s.Webhooks
	lease, err := kept.Lease(t.Context(), 0)
	check(err)
	b := delivery.Batch{Leases: []delivery.Lease{lease}}
	for i := range m.shops {
		shop, err := kept.AddSubscriber(t.Context(), admin.Subscriber{Name: fmt.Sprint("Shop ", i), Enabled: true}, audit.Entry{Actor: audit.System(), At: firstAdded})
		check(err)
		m.shops[i], err = kept.AddSubscription(t.Context(), webhook.Subscription{Subscriber: shop.GUID, Pattern: "*", URL: "https://shop.example/in", Enabled: true,
			Secret: webhook.NewSecret(), SavedAt: firstAdded}, nil)
		check(err)
		for _, state := range mailStates {
			n := int64(len(b.Events))
			e := &webhook.Event{ID: 100 + 2*n, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", 100+2*n), Name: "debtor.updated", Body: []byte("{}"),
				AddedAt: firstAdded.Add(time.Duration(n) * time.Hour)}
			b.Events = append(b.Events, e)
			b.Messages = append(b.Messages, &webhook.Message{ID: e.ID + 1, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", e.ID+1), Event: e,
				Partition: lease.Partition, Subscription: m.shops[i].ID, URL: m.shops[i].URL, State: state})
		}
	}
	_, err = kept.AllocateIDs(t.Context(), 1000)
	check(err)
	b.Version, err = kept.Version(t.Context())
	check(err)
	check(kept.Write(t.Context(), b))
}

// statuses returns the statuses of a subscription's messages, oldest first.
func (m *messagesFixture) statuses(t *testing.T, shop int) string {
	t.Helper()
	e := m.admin.do("GET /Webhooks/Messages?OrderBy=ItemNo&Fields=Status&SubscriptionID="+m.shops[shop].GUID, "").want(t, 200).envelope(t)
	var all []string
	for _, row := range e.Results {
		var one struct{ Status int }
		if err := json.Unmarshal(row, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(one.Status))
	}
	return strings.Join(all, "")
}

const asFilled = "01233"

func TestInvalidBulkRequests(t *testing.T) {
	m := newMessagesFixture(t)
	for _, tt := range []struct {
		query, body, field, message string
	}{
		{"", ``, "", "All=true"},
		{"", `{}`, "", "All=true"},
		{"", `{"All":false}`, "", "All=true"},
		{"", `{"Take":5,"DryRun":true}`, "", "All=true"},
		{"Format=json&v=1&Strict=false", ``, "", "All=true"},
		{"", `{"Statuss":3}`, "Statuss", "did you mean Status"},
		{"", `{"Status":3,"Bogus":1,"Strict":false}`, "Bogus", "unknown"},
		{"", `{"Status":3,"DryRum":true}`, "DryRum", "did you mean DryRun?"},
		{"", `{"Status":"three"}`, "Status", ""},
		{"", `{"Status":{"is":3}}`, "Status", ""},
		{"", `{"StatusContains":"3"}`, "StatusContains", "StatusIn"},
		{"", `{"StatusBetween":[3]}`, "StatusBetween", "two values"},
		{"", `{"Status":null,"EventName":"debtor.updated"}`, "Status", "no value"},
		{"", `{"StatusIn":[],"EventName":"debtor.updated"}`, "StatusIn", "no value"},
		{"Status=&EventName=debtor.updated", ``, "Status", "no value"},
		{"MessageIDIn=[]&EventName=debtor.updated", ``, "MessageIDIn", "no value"},
		{"Status=3&DryRun=", ``, "DryRun", "no value"},
		{"Status=3&DryRun=maybe", ``, "DryRun", ""},
		{"All=perhaps", ``, "All", ""},
		{"All=true&Take=", ``, "Take", "no value"},
		{"All=true&Take=-1", ``, "Take", "whole number"},
		{"All=true&Take=1,2", ``, "Take", "whole number"},
		{"All=true&Since=", ``, "Since", "no value"},
		{"", `{"Since":"yesterday"}`, "Since", ""},
		{"", `{"Until":["2024-05-01","2024-05-02"]}`, "Until", "one value"},
		{"Status=3&Skip=1", ``, "Skip", "not supported here"},
		{"Status=3&OrderBy=ItemNo", ``, "OrderBy", "not supported here"},
		{"Status=3&OrderByDesc=ItemNo", ``, "OrderByDesc", "not supported here"},
		{"Status=3&Fields=ItemNo", ``, "Fields", "not supported here"},
		{"Status=3&Include=Total", ``, "Include", "not supported here"},
		{"Status=3&Cursor=", ``, "Cursor", "not supported here"},
		{"Status=3&nulls=include", ``, "nulls", "not supported here"},
	} {
		for _, path := range []string{"/Webhooks/Messages/Retry", "/Webhooks/Messages/Delete"} {
			if tt.query != "" {
				path += "?" + tt.query
			}
			a := m.admin.do("POST "+path, tt.body).want(t, 400)
			var failure wire.Failure
			if err := json.Unmarshal([]byte(a.body), &failure); err != nil {
				t.Fatal(err)
			}
			is := failure.ResponseStatus
			named := len(is.Errors) > 0 && is.Errors[0].FieldName == tt.field
			if !named && tt.field != "" || tt.field == "" && len(is.Errors) > 0 || !strings.Contains(is.Message, tt.message) {
				t.Errorf("POST %s %s: %+v, want %s: ...%s", path, tt.body, is, tt.field, tt.message)
			}
		}
	}
	for shop := range m.shops {
		if got := m.statuses(t, shop); got != asFilled {
			t.Errorf("the statuses are %s", got)
		}
	}
	if trail := m.auditTrail(t); len(trail) > 0 {
		t.Errorf("unexpected audit trail %+v", trail)
	}
}

// auditTrail returns the audit trail of bulk operations, oldest first.
func (m *messagesFixture) auditTrail(t *testing.T) []auditEntry {
	t.Helper()
	e := m.admin.do("GET /Queries/WH_Audit?ActionStartsWith=messages&OrderBy=EntryNo&Fields=UserName,Via,Address,Action,Subject,Detail", "").want(t, 200).envelope(t)
	var all []auditEntry
	for _, row := range e.Results {
		var one auditEntry
		if err := json.Unmarshal(row, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func TestBulkRetry(t *testing.T) {
	m := newMessagesFixture(t)
	one := "SubscriptionID=" + m.shops[0].GUID
	for _, tt := range []struct {
		query string
		want  wire.MessagesRetried
	}{
		{one + "&DryRun=true", wire.MessagesRetried{Matched: 5, Retried: 3, Skipped: 2, DryRun: true}},
		{"All=true&DryRun=true", wire.MessagesRetried{Matched: 10, Retried: 6, Skipped: 4, DryRun: true}},
		{"All=true&DryRun=true&Take=4", wire.MessagesRetried{Matched: 4, Retried: 2, Skipped: 2, DryRun: true}},
		{"Status=3&DryRun=1&Until=" + hoursLater(4, time.RFC3339), wire.MessagesRetried{Matched: 1, Retried: 1, DryRun: true}},
		{"All=true&DryRun=true&Since=" + hoursLater(4, "2006-01-02T15:04"), wire.MessagesRetried{Matched: 6, Retried: 4, Skipped: 2, DryRun: true}},
		{"DryRun=true&Since=" + hoursLater(4, "/Date/") + "&Until=" + hoursLater(6, wire.DateLayout), wire.MessagesRetried{Matched: 2, Retried: 1, Skipped: 1, DryRun: true}},
		{"Status=3&Take=0", wire.MessagesRetried{}},
		{"StatusIn=0,1&DryRun=true", wire.MessagesRetried{Matched: 4, Retried: 2, Skipped: 2, DryRun: true}},
		{"StatusLessThan=2", wire.MessagesRetried{Matched: 4, Skipped: 4}},
		{"MessageID=missing", wire.MessagesRetried{}},
	} {
		if got := read[wire.MessagesRetried](t, m.admin.do("POST /Webhooks/Messages/Retry?"+tt.query, "").want(t, 200)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.query, got, tt.want)
		}
	}
	for shop := range m.shops {
		if got := m.statuses(t, shop); got != asFilled {
			t.Errorf("the statuses are %s", got)
		}
	}
	a := m.admin.do("POST /Webhooks/Messages/Retry", `{"Status":3,"subscriberid":"`+m.shops[1].Subscriber+`","Take":1}`)
	if got := read[wire.MessagesRetried](t, a.want(t, 200)); got != (wire.MessagesRetried{Matched: 1, Retried: 1}) {
		t.Errorf("%+v", got)
	}
	if got := m.statuses(t, 0) + m.statuses(t, 1); got != asFilled+"01223" && got != asFilled+"01213" {
		t.Errorf("the statuses are %s", got)
	}
	m.Log.Await(t, "messages retry", "by=admin", "matched=1", "done=1")
}

// TestSendAgain sends delivered messages again. A member names the status, and an administrator
// makes the request.
func TestSendAgain(t *testing.T) {
	m := newMessagesFixture(t)
	const again = "POST /Webhooks/Messages/Retry?Status=1&DryRun=true"
	anonymous(t, m.Instance).do(again, "", "Authorization: Bearer "+m.Key(t, "writer")).want(t, 403)
	want := wire.MessagesRetried{Matched: 2, Retried: 2, DryRun: true}
	if got := read[wire.MessagesRetried](t, m.admin.do(again, "").want(t, 200)); got != want {
		t.Errorf("%s returned %+v, want %+v", again, got, want)
	}
	for i, shop := range m.shops {
		order := []string{"subscription", "key"}[i]
		m.admin.do("PATCH /Webhooks/Subscribers/"+shop.Subscriber+"/Subscriptions/"+shop.GUID, `{"OrderBy":"`+order+`"}`).want(t, 200)
	}
	want.InOrder = 1 // the messages have no key
	want.Warning = "delivered messages of subscriptions with an order: 1; newer messages of these subscriptions wait until the delivered ones have been sent again"
	if got := read[wire.MessagesRetried](t, m.admin.do(again, "").want(t, 200)); got != want {
		t.Errorf("%s with an order returned %+v, want %+v", again, got, want)
	}
}

func TestBulkDelete(t *testing.T) {
	m := newMessagesFixture(t)
	remove := func(line, body string, headers ...string) wire.MessagesDeleted {
		t.Helper()
		return read[wire.MessagesDeleted](t, m.admin.do("POST /Webhooks/Messages/Delete"+line, body, headers...).want(t, 200))
	}
	if got := remove("?All=true&DryRun=true", ""); got != (wire.MessagesDeleted{Matched: 10, Deleted: 10, DryRun: true}) {
		t.Errorf("%+v", got)
	}
	if got := remove("", "Status=3&SubscriptionID="+m.shops[0].GUID, "Content-Type: application/x-www-form-urlencoded"); got != (wire.MessagesDeleted{Matched: 2, Deleted: 2}) {
		t.Errorf("%+v", got)
	}
	if got := m.statuses(t, 0) + " " + m.statuses(t, 1); got != "012 "+asFilled {
		t.Errorf("the statuses are %s", got)
	}
	if got := remove("?All=true&Take=1", ""); got != (wire.MessagesDeleted{Matched: 1, Deleted: 1}) {
		t.Errorf("%+v", got)
	}
	if got := m.statuses(t, 0) + " " + m.statuses(t, 1); got != "12 "+asFilled {
		t.Errorf("the statuses are %s", got)
	}
	text := m.admin.do("POST /Webhooks/Messages/Delete.csv", `{"SubscriberIDStartsWith":"`+m.shops[1].Subscriber+`"}`).want(t, 200).body
	if text != "Matched,Deleted\r\n5,5\r\n" {
		t.Errorf("as CSV: %q", text)
	}
	if got := remove("?All=true", ""); got != (wire.MessagesDeleted{Matched: 2, Deleted: 2}) {
		t.Errorf("%+v", got)
	}
	m.Log.Await(t, "messages delete", "by=admin", "matched=2", "done=2", "whole=true")
	mark := m.shops[1].Subscriber[:8] + "***"
	want := []string{"Status=3; SubscriptionID=" + m.shops[0].GUID, "All=true; Take=1", "SubscriberIDStartsWith=" + mark, "All=true"}
	for i, e := range m.auditTrail(t) {
		if i >= len(want) || e != (auditEntry{"admin", "basic", "127.0.0.1", "messages delete", "messages", want[i]}) {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	if len(m.auditTrail(t)) != len(want) {
		t.Errorf("the trail has %d entries", len(m.auditTrail(t)))
	}
}

// TestAuditTrailOfALongFilter checks that the audit trail shortens a filter that is
// too long.
func TestAuditTrailOfALongFilter(t *testing.T) {
	m := newMessagesFixture(t)
	ids, long := make([]string, 300), strings.Repeat("é", 99)
	for i := range ids {
		ids[i] = m.shops[0].Subscriber
	}
	body, err := json.Marshal(map[string]any{"SubscriberIDIn": ids, "BodyContains": long, "MessageIDIn": append(slices.Repeat([]string{"x"}, 6), "y")})
	if err != nil {
		t.Fatal(err)
	}
	m.admin.do("POST /Webhooks/Messages/Retry", string(body)).want(t, 200)
	trail := m.auditTrail(t)
	mark := m.shops[0].Subscriber[:8] + "***"
	for _, part := range []string{"SubscriberIDIn=" + strings.Repeat(mark+",", 5) + "... 300 in total", "BodyContains=" + strings.Repeat("é", 50) + "...", "MessageIDIn=x,x,x,x,x,... 7 in total"} {
		if len(trail) != 1 || !strings.Contains(trail[0].Detail, part) {
			t.Errorf("%s is not in %+v", part, trail)
		}
	}
}

// TestRolesOfBulkOperations checks that bulk operations require an admin and cannot
// be sent by pages of other origins.
func TestRolesOfBulkOperations(t *testing.T) {
	m := newMessagesFixture(t)
	for _, path := range []string{"POST /Webhooks/Messages/Retry?All=true", "POST /Webhooks/Messages/Delete?All=true"} {
		anonymous(t, m.Instance).do(path, "").want(t, 401)
		anonymous(t, m.Instance).do(path, "", "Authorization: Bearer "+m.Key(t, "writer")).want(t, 403)
		m.admin.do(path, "", "Origin: https://evil.example").want(t, 403)
		m.admin.do(path, "", "Sec-Fetch-Site: cross-site").want(t, 403)
		m.admin.do(strings.Replace(path, "POST", "GET", 1), "").want(t, 405)
	}
	for shop := range m.shops {
		if got := m.statuses(t, shop); got != asFilled {
			t.Errorf("the statuses are %s", got)
		}
	}
}

func TestMessagesOfAPeriod(t *testing.T) {
	m := newMessagesFixture(t)
	own := "/Webhooks/Subscribers/" + m.shops[1].Subscriber + "/Messages"
	for query, want := range map[string]int{
		"/Webhooks/Messages?Since=" + hoursLater(1, time.RFC3339):                                               9,
		"/Webhooks/Messages?until=" + hoursLater(1, "2006-01-02T15:04"):                                         1,
		"/Webhooks/Messages?Since=" + hoursLater(1, "2006-01-02T15:04") + "&Until=" + hoursLater(2, "/Date/"):   1,
		"/Webhooks/Messages?Since=&Until=":                                                                      10,
		own + "?Until=" + hoursLater(6, wire.DateLayout) + "&Strict=true":                                       1,
		own + "?Since=" + hoursLater(6, "/Date/"):                                                               4,
		own + "?Since=" + hoursLater(1, time.RFC3339) + "&AddedDateTimeLessThan=" + hoursLater(6, time.RFC3339): 1,
	} {
		if e := m.admin.do("GET "+query, "").want(t, 200).envelope(t); len(e.Results) != want {
			t.Errorf("%s: %d messages, want %d", query, len(e.Results), want)
		}
	}
	for _, query := range []string{"Since=soon", "Until=soon", "Since=2024-05-01&Since=2024-05-02"} {
		m.admin.do("GET /Webhooks/Messages?"+query, "").want(t, 400).wantMessage(t, query[:5])
	}
	m.admin.do("GET "+own+"/Responses?Strict=true&Since=2024-05-01", "").want(t, 400)
	since := hoursLater(1, time.RFC3339)
	page := m.admin.do("GET /Webhooks/Messages.html?Since="+since+"&Take=2", "").want(t, 200).body
	if !strings.Contains(page, "Since="+since) {
		t.Error("the links of the page lack Since")
	}
}
