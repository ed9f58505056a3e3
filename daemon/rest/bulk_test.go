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
	admin   client
	shops   [2]webhook.Subscription
	hasKeys bool // the events have keys: C0, C1, C2, and again
}

// messageStates are the states of the messages of each subscription, the oldest first.
var messageStates = []webhook.State{
	{Next: time.Now().Add(24 * time.Hour)},
	{Status: webhook.Successful, Attempts: 1},
	{Status: webhook.RetryPending, Attempts: 2, Next: time.Now().Add(24 * time.Hour)},
	{Status: webhook.Failed, Attempts: 3},
	{Status: webhook.Failed, Attempts: 1},
}

// asFilled are the statuses in messageStates.
const asFilled = "01233"

func newMessagesFixture(t *testing.T, args ...string) *messagesFixture {
	t.Helper()
	m := &messagesFixture{}
	m.start(t, args...)
	return m
}

// newKeyedMessages is newMessagesFixture with events that have keys.
func newKeyedMessages(t *testing.T) *messagesFixture {
	t.Helper()
	m := &messagesFixture{hasKeys: true}
	m.start(t)
	return m
}

func (m *messagesFixture) start(t *testing.T, args ...string) {
	t.Helper()
	dir := t.TempDir()
	daemontest.Prepare(t, dir, args...)
	m.addMessages(t, dir)
	m.Instance = daemontest.StartIn(t, dir, args...)
	m.admin = asAdmin(t, m.Instance)
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
	store := s.Webhooks
	lease, err := store.Engine.Lease(t.Context(), 0)
	check(err)
	batch := delivery.Batch{Leases: []delivery.Lease{lease}}
	for i := range m.shops {
		entry := audit.Entry{Actor: audit.System(), At: firstAdded}
		shop, err := store.Admin.AddSubscriber(t.Context(), admin.Subscriber{
			Name:    fmt.Sprint("Shop ", i),
			Enabled: true,
		}, entry)
		check(err)
		m.shops[i], err = store.Admin.AddSubscription(t.Context(), webhook.Subscription{
			Subscriber: shop.GUID,
			Pattern:    "*",
			URL:        "https://shop.example/in",
			Enabled:    true,
			Secret:     webhook.NewSecret(),
			SavedAt:    firstAdded,
		}, nil)
		check(err)
		for _, state := range messageStates {
			event := newEvent(len(batch.Events))
			if m.hasKeys {
				event.Key = fmt.Sprint("C", len(batch.Events)%3)
			}
			batch.Events = append(batch.Events, event)
			batch.Messages = append(batch.Messages, newMessage(event, lease.Partition, m.shops[i], state))
		}
	}

	_, err = store.Engine.AllocateIDs(t.Context(), 1000)
	check(err)
	batch.Version, err = store.Engine.Version(t.Context())
	check(err)
	check(store.Engine.Write(t.Context(), batch))
}

// newEvent returns the event that was added n hours after firstAdded.
func newEvent(n int) *webhook.Event {
	id := 100 + 2*int64(n) // the odd ids are those of messages
	return &webhook.Event{
		ID:      id,
		GUID:    numberedGUID(id),
		Name:    "debtor.updated",
		Body:    []byte("{}"),
		AddedAt: firstAdded.Add(time.Duration(n) * time.Hour),
	}
}

// newMessage returns the message of an event to a subscription.
func newMessage(event *webhook.Event, partition int64, to webhook.Subscription, state webhook.State) *webhook.Message {
	id := event.ID + 1
	return &webhook.Message{
		ID:           id,
		GUID:         webhook.GUIDTime(event.AddedAt) + numberedGUID(id)[13:],
		Event:        event,
		Partition:    partition,
		Subscription: to.ID,
		URL:          to.URL,
		State:        state,
	}
}

func numberedGUID(id int64) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", id) }

// statuses returns the statuses of a subscription's messages, oldest first.
func (m *messagesFixture) statuses(t *testing.T, shop int) string {
	t.Helper()
	path := "/Webhooks/Messages?OrderBy=ItemNo&Fields=Status&SubscriptionID=" + m.shops[shop].GUID
	var statuses strings.Builder
	for _, row := range m.admin.do("GET "+path, "").want(t, 200).envelope(t).Results {
		var message struct{ Status int }
		if err := json.Unmarshal(row, &message); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(&statuses, message.Status)
	}
	return statuses.String()
}

// wantStatuses checks the statuses of a subscription's messages, oldest first.
func (m *messagesFixture) wantStatuses(t *testing.T, shop int, want string) {
	t.Helper()
	if got := m.statuses(t, shop); got != want {
		t.Errorf("the messages of shop %d have the statuses %s, want %s", shop, got, want)
	}
}

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
		{"", `{"Status":3,"ſince":"2026-07-01"}`, "***", "unknown"},
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
		{"SubscriptionID=shop-1", ``, "SubscriptionID", "must be a whole ID"},
		{"", `{"MessageIDIn":["` + numberedGUID(1) + `","01a1..7fa4"]}`, "MessageIDIn", "must be a whole ID"},
		{"All=perhaps", ``, "All", ""},
		{"Status=3&Counted=", ``, "Counted", "no value"},
		{"Status=3&Counted=5", ``, "Counted", "DryRun=true"},
		{"Status=3&Counted=2026-07-01/5", ``, "Counted", "DryRun=true"},
		{"Status=3&Counted=2026-07-01T00:00:00.0000000/", ``, "Counted", "DryRun=true"},
		{"Counted=2026-07-01T00:00:00.0000000/5", ``, "", "All=true"},
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
			failure := m.admin.do("POST "+path, tt.body).want(t, 400).failure(t)
			field := ""
			if len(failure.Errors) > 0 {
				field = failure.Errors[0].FieldName
			}
			if field != tt.field {
				t.Errorf("POST %s %s returned an error of the field %q, want %q", path, tt.body, field, tt.field)
			}
			if !strings.Contains(failure.Message, tt.message) {
				t.Errorf("POST %s %s returned the message %q, want %q in it",
					path, tt.body, failure.Message, tt.message)
			}
		}
	}

	for shop := range m.shops {
		m.wantStatuses(t, shop, asFilled)
	}

	if trail := m.auditTrail(t); len(trail) > 0 {
		t.Errorf("the audit trail of refused requests is %+v, want none", trail)
	}
}

// auditTrail returns the audit trail of bulk operations, oldest first.
func (m *messagesFixture) auditTrail(t *testing.T) []auditEntry {
	t.Helper()
	const path = "/Queries/WH_Audit?ActionStartsWith=messages&OrderBy=EntryNo&Fields=UserName,Via,Address,Action,Subject,Detail"
	var trail []auditEntry
	for _, row := range m.admin.do("GET "+path, "").want(t, 200).envelope(t).Results {
		var entry auditEntry
		if err := json.Unmarshal(row, &entry); err != nil {
			t.Fatal(err)
		}
		trail = append(trail, entry)
	}
	return trail
}

// wantRetried retries messages, and checks the response.
func (m *messagesFixture) wantRetried(t *testing.T, query, body string, want wire.MessagesRetried) {
	t.Helper()
	got := read[wire.MessagesRetried](t, m.admin.do("POST /Webhooks/Messages/Retry"+query, body).want(t, 200))
	got.Counted = "" // TestOnlyCountedMessages checks it
	if got != want {
		t.Errorf("POST /Webhooks/Messages/Retry%s %s returned %+v, want %+v", query, body, got, want)
	}
}

// TestBulkRetryWithoutChange sends requests that change no message.
func TestBulkRetryWithoutChange(t *testing.T) {
	m := newMessagesFixture(t)
	for _, tt := range []struct {
		query string
		want  wire.MessagesRetried
	}{
		{
			query: "SubscriptionID=" + m.shops[0].GUID + "&DryRun=true",
			want:  wire.MessagesRetried{Matched: 5, Retried: 4, Skipped: 1, DryRun: true},
		},
		{
			query: "All=true&DryRun=true",
			want:  wire.MessagesRetried{Matched: 10, Retried: 8, Skipped: 2, DryRun: true},
		},
		{
			query: "All=true&DryRun=true&Take=4",
			want:  wire.MessagesRetried{Matched: 4, Retried: 3, Skipped: 1, DryRun: true},
		},
		{
			query: "Status=3&DryRun=1&Until=" + hoursLater(4, time.RFC3339),
			want:  wire.MessagesRetried{Matched: 1, Retried: 1, DryRun: true},
		},
		{
			query: "All=true&DryRun=true&Since=" + hoursLater(4, "2006-01-02T15:04"),
			want:  wire.MessagesRetried{Matched: 6, Retried: 5, Skipped: 1, DryRun: true},
		},
		{
			query: "DryRun=true&Since=" + hoursLater(4, "/Date/") + "&Until=" + hoursLater(6, wire.DateLayout),
			want:  wire.MessagesRetried{Matched: 2, Retried: 2, DryRun: true},
		},
		{query: "Status=3&Take=0", want: wire.MessagesRetried{}},
		{query: "StatusIn=0,2&DryRun=true", want: wire.MessagesRetried{Matched: 4, Retried: 4, DryRun: true}},
		{
			query: "StatusLessThan=2&DryRun=true",
			want:  wire.MessagesRetried{Matched: 4, Retried: 2, Skipped: 2, DryRun: true},
		},
		{query: "MessageID=" + numberedGUID(1), want: wire.MessagesRetried{}},
	} {
		m.wantRetried(t, "?"+tt.query, "", tt.want)
	}

	for shop := range m.shops {
		m.wantStatuses(t, shop, asFilled)
	}
}

func TestBulkRetry(t *testing.T) {
	m := newMessagesFixture(t)
	body := `{"Status":3,"subscriberid":"` + m.shops[1].Subscriber + `","Take":1}`
	m.wantRetried(t, "", body, wire.MessagesRetried{Matched: 1, Retried: 1})
	m.wantStatuses(t, 0, asFilled)
	if got := m.statuses(t, 1); got != "01223" && got != "01213" { // the message may have been delivered
		t.Errorf("the messages of shop 1 have the statuses %s, want 01223 or 01213", got)
	}
	m.Log.Await(t, "messages retry", "by=admin", "matched=1", "done=1")
}

// TestSendAgain sends delivered messages again. A member names the status, and an administrator
// makes the request.
func TestSendAgain(t *testing.T) {
	m := newMessagesFixture(t)
	const delivered = "?Status=1&DryRun=true"
	writer := anonymous(t, m.Instance).with("Authorization: Bearer " + m.Key(t, "writer"))
	writer.do("POST /Webhooks/Messages/Retry"+delivered, "").want(t, 403)
	want := wire.MessagesRetried{Matched: 2, Retried: 2, Replayed: 2, DryRun: true}
	m.wantRetried(t, delivered, "", want)
	m.wantRetried(t, "?StatusIn=01,3&DryRun=true", "", wire.MessagesRetried{Matched: 6, Retried: 6, Replayed: 2, DryRun: true})

	for shop, order := range []string{"subscription", "key"} {
		s := m.shops[shop]
		path := "/Webhooks/Subscribers/" + s.Subscriber + "/Subscriptions/" + s.GUID
		m.admin.do("PATCH "+path, `{"OrderBy":"`+order+`"}`).want(t, 200)
	}
	want.InOrder = 1 // the messages have no key
	want.Warning = "delivered messages of subscriptions with an order: 1; newer messages of these subscriptions wait until the delivered ones have been sent again"
	m.wantRetried(t, delivered, "", want)
}

// TestBulkDelete deletes messages in several steps, and reads their audit trail.
func TestBulkDelete(t *testing.T) {
	m := newMessagesFixture(t)
	subscriber := m.shops[1].Subscriber
	for _, step := range []struct {
		query  string
		body   string // a form
		want   wire.MessagesDeleted
		remain [2]string // the statuses of the shops' messages
	}{
		{
			query:  "?All=true&DryRun=true",
			want:   wire.MessagesDeleted{Matched: 10, Deleted: 10, DryRun: true},
			remain: [2]string{asFilled, asFilled},
		},
		{
			body:   "Status=3&SubscriptionID=" + m.shops[0].GUID,
			want:   wire.MessagesDeleted{Matched: 2, Deleted: 2},
			remain: [2]string{"012", asFilled},
		},
		{
			query:  "?All=true&Take=1",
			want:   wire.MessagesDeleted{Matched: 1, Deleted: 1},
			remain: [2]string{"12", asFilled},
		},
		{
			body:   "SubscriberIDStartsWith=" + subscriber,
			want:   wire.MessagesDeleted{Matched: 5, Deleted: 5},
			remain: [2]string{"12", ""},
		},
		{
			query: "?All=true",
			want:  wire.MessagesDeleted{Matched: 2, Deleted: 2},
		},
	} {
		a := m.admin.do("POST /Webhooks/Messages/Delete"+step.query, step.body, formType).want(t, 200)
		got := read[wire.MessagesDeleted](t, a)
		got.Counted = ""
		if got != step.want {
			t.Errorf("POST /Webhooks/Messages/Delete%s %s returned %+v, want %+v",
				step.query, step.body, got, step.want)
		}
		for shop, want := range step.remain {
			m.wantStatuses(t, shop, want)
		}
	}

	m.Log.Await(t, "messages delete", "by=admin", "matched=2", "done=2", "whole=true")

	var want []auditEntry
	for _, filter := range []string{
		"Status=3; SubscriptionID=" + m.shops[0].GUID,
		"All=true; Take=1",
		"SubscriberIDStartsWith=" + subscriber[:8] + "***",
		"All=true",
	} {
		want = append(want, auditEntry{"admin", "basic", "127.0.0.1", "messages delete", "messages", filter})
	}

	if got := m.auditTrail(t); !slices.Equal(got, want) {
		t.Errorf("the audit trail is %+v, want %+v", got, want)
	}
}

// TestOnlyCountedMessages deletes open messages that a dry run has counted, after others have begun to
// match the filter, older and newer ones, and after one of them has changed.
func TestOnlyCountedMessages(t *testing.T) {
	m := newMessagesFixture(t)
	shop := m.shops[0]
	path := "/Webhooks/Subscribers/" + shop.Subscriber + "/Subscriptions/" + shop.GUID
	m.admin.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200) // messages that are due wait
	remove := func(members string) wire.MessagesDeleted {
		t.Helper()
		path := "/Webhooks/Messages/Delete?StatusIn=0,2&SubscriptionID=" + shop.GUID + members
		return read[wire.MessagesDeleted](t, m.admin.do("POST "+path, "").want(t, 200))
	}
	counted := remove("&DryRun=true")
	if counted.Matched != 2 || counted.Counted == "" {
		t.Fatalf("counting the open messages returned %+v, want two, and Counted", counted)
	}

	// The retry of the others also makes the third message due, which waits for its retry.
	for status, want := range map[string]wire.MessagesRetried{
		"1": {Matched: 1, Retried: 1, Replayed: 1},
		"3": {Matched: 2, Retried: 2},
	} {
		query := "?Status=" + status + "&SubscriptionID=" + shop.GUID
		m.wantRetried(t, query, "", want)
	}
	m.wantStatuses(t, 0, "02222")

	bound := "&Counted=" + url.QueryEscape(counted.Counted)
	if got := remove(bound + "&DryRun=true"); got.Deleted != 1 {
		t.Errorf("counting the counted messages returned %+v, want 1 deleted", got)
	}
	want := wire.MessagesDeleted{Matched: 1, Deleted: 1}
	if got := remove(bound); got != want {
		t.Errorf("deleting the counted messages returned %+v, want %+v", got, want)
	}
	m.wantStatuses(t, 0, "2222")
	if got := remove(bound); got != (wire.MessagesDeleted{}) {
		t.Errorf("deleting the counted messages again returned %+v, want none", got)
	}
}

func TestBulkDeleteAsCSV(t *testing.T) {
	m := newMessagesFixture(t)
	body := `{"SubscriberIDStartsWith":"` + m.shops[1].Subscriber + `"}`
	got := m.admin.do("POST /Webhooks/Messages/Delete.csv", body).want(t, 200).body
	if want := "Matched,Deleted\r\n5,5\r\n"; got != want {
		t.Errorf("POST /Webhooks/Messages/Delete.csv %s returned %q, want %q", body, got, want)
	}
}

// TestAuditTrailOfALongFilter checks that the audit trail shortens a filter that is
// too long.
func TestAuditTrailOfALongFilter(t *testing.T) {
	m := newMessagesFixture(t)
	body, err := json.Marshal(map[string]any{
		"SubscriberIDIn": slices.Repeat([]string{m.shops[0].Subscriber}, 300),
		"BodyContains":   strings.Repeat("é", 99),
		"KeyIn":          append(slices.Repeat([]string{"x"}, 6), "y"),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.admin.do("POST /Webhooks/Messages/Retry", string(body)).want(t, 200)
	trail := m.auditTrail(t)
	if len(trail) != 1 {
		t.Fatalf("the audit trail is %+v, want one entry", trail)
	}
	mark := m.shops[0].Subscriber[:8] + "***"
	for _, part := range []string{
		"SubscriberIDIn=" + strings.Repeat(mark+",", 5) + "... 300 in total",
		"BodyContains=" + strings.Repeat("é", 50) + "...",
		"KeyIn=x,x,x,x,x,... 7 in total",
	} {
		if !strings.Contains(trail[0].Detail, part) {
			t.Errorf("the audit trail has the detail %s, want %s in it", trail[0].Detail, part)
		}
	}
}

// TestRolesOfBulkOperations checks that bulk operations require an admin and cannot
// be sent by pages of other origins.
func TestRolesOfBulkOperations(t *testing.T) {
	m := newMessagesFixture(t)
	writer := anonymous(t, m.Instance).with("Authorization: Bearer " + m.Key(t, "writer"))
	for _, path := range []string{
		"/Webhooks/Messages/Retry?All=true",
		"/Webhooks/Messages/Delete?All=true",
	} {
		anonymous(t, m.Instance).do("POST "+path, "").want(t, 401)
		writer.do("POST "+path, "").want(t, 403)
		m.admin.do("POST "+path, "", "Origin: https://evil.example").want(t, 403)
		m.admin.do("POST "+path, "", "Sec-Fetch-Site: cross-site").want(t, 403)
		m.admin.do("GET "+path, "").want(t, 405)
	}
	for shop := range m.shops {
		m.wantStatuses(t, shop, asFilled)
	}
}

func TestMessagesOfAPeriod(t *testing.T) {
	m := newMessagesFixture(t)
	const minutes = "2006-01-02T15:04"
	shop := "/Webhooks/Subscribers/" + m.shops[1].Subscriber + "/Messages"
	for _, tt := range []struct {
		path string
		want int
	}{
		{path: "/Webhooks/Messages?Since=" + hoursLater(1, time.RFC3339), want: 9},
		{path: "/Webhooks/Messages?until=" + hoursLater(1, minutes), want: 1},
		{
			path: "/Webhooks/Messages?Since=" + hoursLater(1, minutes) + "&Until=" + hoursLater(2, "/Date/"),
			want: 1,
		},
		{path: "/Webhooks/Messages?Since=&Until=", want: 10},
		{path: shop + "?Until=" + hoursLater(6, wire.DateLayout) + "&Strict=true", want: 1},
		{path: shop + "?Since=" + hoursLater(6, "/Date/"), want: 4},
		{
			path: shop + "?Since=" + hoursLater(1, time.RFC3339) + "&AddedDateTimeLessThan=" + hoursLater(6, time.RFC3339),
			want: 1,
		},
	} {
		got := len(m.admin.do("GET "+tt.path, "").want(t, 200).envelope(t).Results)
		if got != tt.want {
			t.Errorf("GET %s returned %d messages, want %d", tt.path, got, tt.want)
		}
	}
}

func TestInvalidPeriodsOfMessages(t *testing.T) {
	m := newMessagesFixture(t)
	for _, tt := range []struct{ query, message string }{
		{"Since=soon", "Since"},
		{"Until=soon", "Until"},
		{"Since=2024-05-01&Since=2024-05-02", "Since"},
	} {
		m.admin.do("GET /Webhooks/Messages?"+tt.query, "").want(t, 400).wantMessage(t, tt.message)
	}
	responses := "/Webhooks/Subscribers/" + m.shops[1].Subscriber + "/Messages/Responses"
	m.admin.do("GET "+responses+"?Strict=true&Since=2024-05-01", "").want(t, 400)
}

// TestPageOfAPeriod checks that the links of a page keep the period.
func TestPageOfAPeriod(t *testing.T) {
	m := newMessagesFixture(t)
	since := "Since=" + hoursLater(1, time.RFC3339)
	page := m.admin.do("GET /Webhooks/Messages.html?"+since+"&Take=2", "").want(t, 200).body
	if !strings.Contains(page, since) {
		t.Errorf("the links of the page lack %s, want it:\n%s", since, shortened(page))
	}
}

// TestCursorOfAPeriod checks that a page of a period can be continued with and without the period, by
// the path of a subscriber, too.
func TestCursorOfAPeriod(t *testing.T) {
	m := newMessagesFixture(t)
	since := "&Since=" + hoursLater(6, "/Date/")
	for _, path := range []string{
		"/Webhooks/Messages?Take=2&SubscriberID=" + m.shops[1].Subscriber,
		"/Webhooks/Subscribers/" + m.shops[1].Subscriber + "/Messages?Take=2",
	} {
		next := m.admin.do("GET "+path+since+"&Cursor=", "").want(t, 200).envelope(t).Meta["Next"]
		for _, members := range []string{"&Cursor=" + next, since + "&Cursor=" + next} {
			rows := m.admin.do("GET "+path+members, "").want(t, 200).envelope(t).Results
			if len(rows) != 2 {
				t.Errorf("GET %s%s: got %d messages, want 2", path, members, len(rows))
			}
		}
		changed := "&Since=" + hoursLater(5, "/Date/") + "&Cursor=" + next
		m.admin.do("GET "+path+changed, "").want(t, 400).wantMessage(t, "another query")
	}
}

// TestSampleOfRetrySelectsMessages sends the sample of the operation, which counts the failed
// messages.
func TestSampleOfRetrySelectsMessages(t *testing.T) {
	m := newMessagesFixture(t)
	sample := operationOf(t, m.admin, "RetryMessages").Samples[0]
	_, after, _ := strings.Cut(sample.Command, "-d '")
	body, _, _ := strings.Cut(after, "'")
	got := read[wire.MessagesRetried](t, m.admin.do("POST /Webhooks/Messages/Retry", body).want(t, 200))
	if got.Matched != int64(2*strings.Count(asFilled, "3")) || !got.DryRun {
		t.Errorf("%s returned %+v, want all failed messages", body, got)
	}
}
