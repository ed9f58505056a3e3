package importer_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const (
	subscriber        = "a0000000-0000-4000-8000-000000000001"
	otherSubscriber   = "a0000000-0000-4000-8000-000000000002"
	subscription      = "b0000000-0000-4000-8000-000000000001"
	otherSubscription = "b0000000-0000-4000-8000-000000000002" // of an event that is not published
	badSubscription   = "b0000000-0000-4000-8000-000000000003" // its URL is not one
	header            = "c0000000-0000-4000-8000-000000000001"
	oldMessage        = "d0000000-0000-4000-8000-000000000002"
	newMessage        = "d0000000-0000-4000-8000-000000000003"

	secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	schema = "existing"
)

// fixture is the existing service's database and a receiver of its subscription.
type fixture struct {
	dsn        string
	deliveries chan delivery
}

type delivery struct {
	header http.Header
	body   string
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{dsn: mssqltest.Database(t), deliveries: make(chan delivery, 1000)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.deliveries <- delivery{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)

	ddl, err := os.ReadFile("testdata/existing.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("{schema}", schema, "{receiver}", receiver.URL+"/hook").Replace(string(ddl))
	statements := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")
	mssqltest.Exec(t, f.dsn, "CREATE SCHEMA "+schema)
	mssqltest.Exec(t, f.dsn, statements...)
	return f
}

// newStore creates an empty store.
func newStore(t *testing.T, dir string) {
	t.Helper()
	status := whd.Main(whd.Process{
		Args:   []string{"migrate", "--data-dir", dir},
		Stdout: io.Discard,
		Stderr: io.Discard,
	})
	if status != 0 {
		t.Fatalf("whd migrate: exit code %d, want 0", status)
	}
}

// run runs whd import, expects an exit code, and returns the output.
func (f *fixture) run(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	got := whd.Main(whd.Process{
		Args:   append([]string{"import", "--from", f.dsn, "--schema", schema}, args...),
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &errs,
	})
	if got != want {
		t.Fatalf("whd import %q: exit code %d, want %d\n%s%s", args, got, want, &out, &errs)
	}
	for _, hidden := range []string{"canary", "whsec_"} {
		if strings.Contains(out.String()+errs.String(), hidden) {
			t.Errorf("whd import %q: the output contains %s:\n%s%s", args, hidden, &out, &errs)
		}
	}
	return out.String(), errs.String()
}

// receive returns the next delivery.
func (f *fixture) receive(t *testing.T) delivery {
	t.Helper()
	select {
	case d := <-f.deliveries:
		return d
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was delivered")
		return delivery{}
	}
}

// request sends a request as admin, expects a status, and returns the response's body.
func request(t *testing.T, i *daemontest.Instance, want int, line, body string) string {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, i.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != want {
		t.Fatalf("%s: got status %d, want %d: %s", line, response.StatusCode, want, text)
	}
	return string(text)
}

// wantLines expects lines that start with the given texts.
func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("no line starts with %q in\n%s", line, text)
		}
	}
}

const (
	firstCounts = `subscribers: 2 new, 0 unchanged, 0 different here, 0 removed here, 0 not imported
subscriptions: 2 new, 0 unchanged, 0 different here, 0 removed here, 2 not imported
headers: 2 new
messages: 2 new, 0 unchanged, 0 different here, 0 removed here, 1 not imported
finished messages: 2 not copied
`
	repeatedCounts = `subscribers: 0 new, 2 unchanged, 0 different here, 0 removed here, 0 not imported
subscriptions: 0 new, 2 unchanged, 0 different here, 0 removed here, 2 not imported
headers: 0 new
messages: 0 new, 2 unchanged, 0 different here, 0 removed here, 1 not imported
`
)

// TestImport imports into the embedded store: a dry run, an import, repeated imports
// after changes on both sides, and deliveries to the receiver.
func TestImport(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	zone := []string{"--query-time-zone", "Australia/Sydney"}
	args := append([]string{"--data-dir", dir}, zone...)
	dryRun := append(slices.Clone(args), "--dry-run")
	if _, stderr := f.run(t, 3, args...); !strings.Contains(stderr, "there is no store in") {
		t.Errorf("without a store: got %s", stderr)
	}
	newStore(t, dir)
	f.importTwice(t, args, dryRun)

	i := daemontest.StartIn(t, dir, append(zone, "--webhooks-allow-targets", "127.0.0.0/8")...)
	if _, stderr := f.run(t, 3, args...); strings.Count(stderr, "stop it") != 1 {
		t.Errorf("while the daemon runs: got %s", stderr)
	}
	f.run(t, 1, dryRun...)
	f.expectMessages(t)
	checkImported(t, i)
	f.publish(t, i)

	// Changes and removals here are reported, and not undone.
	path := "/Webhooks/Subscribers/" + subscriber
	request(t, i, 200, "PATCH "+path, `{"Name":"ACME"}`)
	request(t, i, 200, "PATCH "+path+"/Subscriptions/"+subscription, `{"Headers":[]}`)
	request(t, i, 204, "DELETE "+path+"/Subscriptions/"+otherSubscription, "")
	request(t, i, 204, "DELETE /Webhooks/Subscribers/"+otherSubscriber, "")
	request(t, i, 204, "DELETE "+path+"/Subscriptions/"+subscription+"/Messages/"+newMessage, "")
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	repeated, _ := f.run(t, 1, args...)
	wantLines(t, repeated,
		"subscriber "+subscriber+": its Name or IsEnabled differs here; not changed",
		"subscription "+subscription+": its EventName, URL or Headers differs here; not changed",
		"subscribers: 0 new, 0 unchanged, 1 different here, 1 removed here, 0 not imported",
		"subscriptions: 0 new, 0 unchanged, 1 different here, 2 removed here, 1 not imported",
		"messages: 0 new, 2 unchanged, 0 different here, 1 removed here, 0 not imported")
}

// importTwice imports after a dry run, and again, which changes nothing.
func (f *fixture) importTwice(t *testing.T, args, dryRun []string) {
	t.Helper()
	const blocked = "subscription " + subscription + ": URL 127.0.0.1 is a loopback address; "
	planned, notice := f.run(t, 1, dryRun...)
	if !strings.Contains(notice, "nothing was changed") {
		t.Errorf("a dry run printed %s", notice)
	}
	wantLines(t, planned, firstCounts,
		blocked+"an administrator can allow it in webhooks.allow_targets; until then its messages fail\n",
		"subscription "+otherSubscription+": its event job.created is not published; add it to webhooks.events",
		"subscription "+badSubscription+": URL must begin with http:// or https://; not imported",
		"1 subscriptions of the subscriber a0000000-0000-4000-8000-00000000000f, which does not exist; not imported",
		"message d0000000-0000-4000-8000-000000000006 of the subscription "+badSubscription+"; not imported")
	if printed, _ := f.run(t, 1, args...); printed != planned {
		t.Errorf("the import printed\n%sthe dry run\n%s", printed, planned)
	}

	for _, args := range [][]string{args, dryRun} {
		repeated, _ := f.run(t, 1, args...)
		wantLines(t, repeated, repeatedCounts, blocked)
	}
}

// expectMessages expects the deliveries of the imported messages.
func (f *fixture) expectMessages(t *testing.T) {
	t.Helper()
	bodies := map[string]string{
		oldMessage: `{"InvoiceNo":"2"}`,
		newMessage: `{"InvoiceNo":"№ 1"}`,
	}
	events := []string{"salesorder.created", "SalesOrder.created"}
	for len(bodies) > 0 {
		d := f.receive(t)
		id := d.header.Get("Webhook-Id")
		want, ok := bodies[id]
		if !ok {
			t.Fatalf("the message %s was delivered, want one of %v", id, bodies)
		}
		if d.body != want {
			t.Errorf("the message %s has the body %q, want %q", id, d.body, want)
		}
		d.wantHeaders(t)
		if event := d.header.Get("X-Event-Name"); !slices.Contains(events, event) {
			t.Errorf("the message %s has the event %q, want one of %q", id, event, events)
		}
		delete(bodies, id)
	}
}

// wantHeaders expects the headers of the imported subscription.
func (d delivery) wantHeaders(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{"X-First": "canary-1", "X-Second": "canary-2"} {
		if got := d.header.Get(name); got != want {
			t.Errorf("the message %s has the %s %q, want %q",
				d.header.Get("Webhook-Id"), name, got, want)
		}
	}
}

// checkImported checks the time of a message, which is in UTC, and the subscription.
func checkImported(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	path := "/Webhooks/Subscribers/" + subscriber
	messages := request(t, i, 200,
		"GET "+path+"/Messages?OrderBy=ItemNo&Fields=MessageID,AddedDateTime,SubscriptionID&format=csv", "")
	if want := oldMessage + ",2026-01-01T16:04:05.1230000,"; !strings.Contains(messages, want) {
		t.Errorf("the messages have no %s:\n%s", want, messages)
	}

	var s wire.Subscription
	text := request(t, i, 200, "GET "+path+"/Subscriptions/"+subscription, "")
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if s.EventName != "salesorder.created" {
		t.Errorf("the subscription has the event %q, want salesorder.created", s.EventName)
	}
	if got := s.Headers[0].SubscriptionRequestHeaderID; got != header {
		t.Errorf("the first header of the subscription has the ID %q, want %q", got, header)
	}
}

// publish publishes an event for the imported subscription, and expects its delivery with a
// new secret.
func (f *fixture) publish(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	request(t, i, 200,
		"POST /Webhooks/Subscribers/"+subscriber+"/Subscriptions/"+subscription+"/Secret",
		`{"Secret":"`+secret+`","KeepFor":"0"}`)
	request(t, i, 201, "POST /Webhooks/Events",
		`{"EventName":"salesorder.created","Body":"{\"InvoiceNo\":\"7\"}"}`)
	d := f.receive(t)
	if want := `{"InvoiceNo":"7"}`; d.body != want {
		t.Errorf("the published event was delivered with the body %q, want %q", d.body, want)
	}
	d.wantHeaders(t)
	if got, want := d.header.Get("Webhook-Signature"), d.signature(t); got != want {
		t.Errorf("the published event was delivered with the signature %q, want %q", got, want)
	}
}

// signature returns the signature of the delivery with the secret.
func (d delivery) signature(t *testing.T) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, d.header.Get("Webhook-Id")+"."+d.header.Get("Webhook-Timestamp")+"."+d.body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// insertMessages adds n open messages of the subscription.
func (f *fixture) insertMessages(t *testing.T, n int) {
	t.Helper()
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(
			"('E0000000-0000-4000-8000-%012x', '%s', N'%d', 1, 0, 0, '2026-01-03', '2026-01-03')",
			i, subscription, i)
	}
	mssqltest.Exec(t, f.dsn, "INSERT INTO "+schema+".SY_WebhookMessage (RecID, "+
		"SY_WebhookSubscription_RecID, Body, ItemNo, Status, Retries, AddedDateTime, LastSavedDateTime) "+
		"VALUES "+strings.Join(rows, ", "))
}

// TestImportIntoAServer imports several pages of messages into a store on the same
// database while a daemon runs on it.
func TestImportIntoAServer(t *testing.T) {
	const (
		added = 450       // more than two pages
		total = added + 2 // with those of the fixture
	)
	f := newFixture(t)
	f.insertMessages(t, added)
	args := []string{"--store", f.dsn, "--data-dir", t.TempDir()}
	withoutMessages := append(slices.Clone(args), "--no-messages")
	if _, stderr := f.run(t, 1, withoutMessages...); !strings.Contains(stderr, "run whd migrate") {
		t.Errorf("without tables: got %s", stderr)
	}

	i := daemontest.Start(t, "--store", f.dsn, "--migrate", "--webhooks-allow-targets", "127.0.0.0/8")
	printed, _ := f.run(t, 1, withoutMessages...)
	wantLines(t, printed,
		"subscriptions: 2 new, ",
		"messages: 0 new, 0 unchanged, 0 different here, 0 removed here, 0 not imported")
	printed, _ = f.run(t, 1, args...)
	wantLines(t, printed, fmt.Sprintf("messages: %d new, ", total))

	delivered := make(map[string]bool)
	for len(delivered) < total {
		delivered[f.receive(t).header.Get("Webhook-Id")] = true
	}
	text := request(t, i, 200, "GET /Webhooks/Messages?Take=1&Fields=Status&Status=1", "")
	if !strings.Contains(text, `"Results":[{`) {
		t.Errorf("after the deliveries: got no delivered message in %s", text)
	}
}

// TestUnusableSource checks the errors for a source without the tables or some columns,
// for one that cannot be reached, and for a malformed one.
func TestUnusableSource(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	newStore(t, dir)
	mssqltest.Exec(t, f.dsn,
		"ALTER TABLE "+schema+".SY_WebhookSubscription DROP COLUMN URL",
		"DROP TABLE "+schema+".SY_WebhookMessage")
	_, stderr := f.run(t, 1, "--data-dir", dir)
	wantLines(t, stderr,
		"whd: the table existing.SY_WebhookSubscription has no column URL",
		"whd: the table existing.SY_WebhookMessage is missing, or the login may not read it")
	f.run(t, 2, "--data-dir", dir, "--from", "sqlserver://canary:canary@/%zz")
	f.run(t, 3, "--data-dir", dir, "--from", "sqlserver://canary:canary@127.0.0.1:1?dial+timeout=5")
}
