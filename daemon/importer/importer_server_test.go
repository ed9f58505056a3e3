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
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const (
	subscriber   = "a0000000-0000-4000-8000-000000000001"
	subscription = "b0000000-0000-4000-8000-000000000001"
	secret       = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	schema       = "existing"
)

// fixture is the existing service's database and a receiver of its subscription.
type fixture struct {
	dsn string
	got chan delivery
}

type delivery struct {
	header http.Header
	body   string
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{dsn: mssqltest.Database(t), got: make(chan delivery, 1000)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.got <- delivery{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)
	ddl, err := os.ReadFile("testdata/existing.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("{schema}", schema, "{receiver}", receiver.URL+"/hook").Replace(string(ddl))
	mssqltest.Exec(t, f.dsn, "CREATE SCHEMA "+schema)
	mssqltest.Exec(t, f.dsn, strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")...)
	return f
}

// newStore creates an empty store.
func newStore(t *testing.T, dir string) {
	t.Helper()
	if status := whd.Main(whd.Process{Args: []string{"migrate", "--data-dir", dir}, Stdout: io.Discard, Stderr: io.Discard}); status != 0 {
		t.Fatalf("migrate: exit code %d", status)
	}
}

// run runs whd import and returns its output.
func (f *fixture) run(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"import", "--from", f.dsn, "--schema", schema}, args...)
	if got := whd.Main(whd.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}); got != status {
		t.Fatalf("exit code %d, want %d\n%s%s", got, status, &out, &errs)
	}
	for _, hidden := range []string{"canary", "whsec_"} {
		if strings.Contains(out.String()+errs.String(), hidden) {
			t.Errorf("the output contains %s:\n%s%s", hidden, &out, &errs)
		}
	}
	return out.String(), errs.String()
}

// receive returns the next delivery.
func (f *fixture) receive(t *testing.T) delivery {
	t.Helper()
	select {
	case d := <-f.got:
		return d
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was delivered")
		return delivery{}
	}
}

// request sends a request as admin and returns the response's body.
func request(t *testing.T, i *daemontest.Instance, status int, line, body string) string {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, i.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(a.Body)
	if a.StatusCode != status {
		t.Fatalf("%s: %d %s", line, a.StatusCode, text)
	}
	return string(text)
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("no line %q in\n%s", line, text)
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
	settings := []string{"--data-dir", dir, "--query-time-zone", "Australia/Sydney"}
	if _, stderr := f.run(t, 3, settings...); !strings.Contains(stderr, "there is no store in") {
		t.Errorf("without a store: %s", stderr)
	}
	newStore(t, dir)
	planned, notice := f.run(t, 1, append(settings, "--dry-run")...)
	if !strings.Contains(notice, "nothing was changed") {
		t.Errorf("a dry run printed %s", notice)
	}
	wantLines(t, planned, firstCounts,
		"subscription "+subscription+": URL 127.0.0.1 is a loopback address; an administrator can allow it in webhooks.allow_targets; until then its messages fail\n",
		"subscription b0000000-0000-4000-8000-000000000002: its event job.created is not published; add it to webhooks.events",
		"subscription b0000000-0000-4000-8000-000000000003: URL must begin with http:// or https://; not imported",
		"1 subscriptions of the subscriber a0000000-0000-4000-8000-00000000000f, which does not exist; not imported",
		"message d0000000-0000-4000-8000-000000000006 of the subscription b0000000-0000-4000-8000-000000000003; not imported")
	if done, _ := f.run(t, 1, settings...); done != planned {
		t.Errorf("the import printed\n%sthe dry run\n%s", done, planned)
	}
	for _, args := range [][]string{settings, append(settings, "--dry-run")} {
		repeated, _ := f.run(t, 1, args...)
		wantLines(t, repeated, repeatedCounts, "subscription "+subscription+": URL 127.0.0.1 is a loopback address; ")
	}

	i := daemontest.StartIn(t, dir, "--webhooks-allow-targets", "127.0.0.0/8", "--query-time-zone", "Australia/Sydney")
	if _, stderr := f.run(t, 3, settings...); strings.Count(stderr, "stop it") != 1 {
		t.Errorf("while the daemon runs: %s", stderr)
	}
	f.run(t, 1, append(settings, "--dry-run")...)
	bodies := map[string]string{"d0000000-0000-4000-8000-000000000003": `{"InvoiceNo":"№ 1"}`, "d0000000-0000-4000-8000-000000000002": `{"InvoiceNo":"2"}`}
	for range 2 {
		d := f.receive(t)
		id := d.header.Get("Webhook-Id")
		if d.body != bodies[id] || d.header.Get("X-First") != "canary-1" || d.header.Get("X-Second") != "canary-2" || d.header.Get("X-Event-Name") != "salesorder.created" && d.header.Get("X-Event-Name") != "SalesOrder.created" {
			t.Errorf("%s: %q %v", id, d.body, d.header)
		}
		delete(bodies, id)
	}
	path := "/Webhooks/Subscribers/" + subscriber
	messages := request(t, i, 200, "GET "+path+"/Messages?OrderBy=ItemNo&Fields=MessageID,AddedDateTime,SubscriptionID&format=csv", "")
	if want := "d0000000-0000-4000-8000-000000000002,2026-01-01T16:04:05.1230000,"; !strings.Contains(messages, want) { // in UTC
		t.Errorf("no %s in\n%s", want, messages)
	}
	request(t, i, 200, "POST "+path+"/Subscriptions/"+subscription+"/Secret", `{"Secret":"`+secret+`","KeepFor":"0"}`)
	request(t, i, 201, "POST /Webhooks/Events", `{"EventName":"salesorder.created","Body":"{\"InvoiceNo\":\"7\"}"}`)
	d := f.receive(t)
	if !d.signed(t) || d.header.Get("X-First") != "canary-1" || d.body != `{"InvoiceNo":"7"}` {
		t.Errorf("%q %v", d.body, d.header)
	}
	t.Logf("delivered: %q %v", d.body, d.header)

	var s wire.Subscription
	if err := json.Unmarshal([]byte(request(t, i, 200, "GET "+path+"/Subscriptions/"+subscription, "")), &s); err != nil || s.Headers[0].SubscriptionRequestHeaderID != "c0000000-0000-4000-8000-000000000001" || s.EventName != "salesorder.created" {
		t.Errorf("%+v (%v)", s, err)
	}
	request(t, i, 200, "PATCH "+path, `{"Name":"ACME"}`)
	request(t, i, 200, "PATCH "+path+"/Subscriptions/"+subscription, `{"Headers":[]}`)
	request(t, i, 204, "DELETE "+path+"/Subscriptions/b0000000-0000-4000-8000-000000000002", "")
	request(t, i, 204, "DELETE /Webhooks/Subscribers/a0000000-0000-4000-8000-000000000002", "")
	request(t, i, 204, "DELETE "+path+"/Subscriptions/"+subscription+"/Messages/d0000000-0000-4000-8000-000000000003", "")
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	repeated, _ := f.run(t, 1, settings...)
	wantLines(t, repeated, "subscriber "+subscriber+": its Name or IsEnabled differs here; not changed", "subscription "+subscription+": its EventName, URL or Headers differs here; not changed",
		"subscribers: 0 new, 0 unchanged, 1 different here, 1 removed here, 0 not imported",
		"subscriptions: 0 new, 0 unchanged, 1 different here, 2 removed here, 1 not imported",
		"messages: 0 new, 2 unchanged, 0 different here, 1 removed here, 0 not imported")
}

// signed reports whether the delivery is signed with the secret.
func (d delivery) signed(t *testing.T) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, d.header.Get("Webhook-Id")+"."+d.header.Get("Webhook-Timestamp")+"."+d.body)
	return d.header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TestImportIntoAServer imports several pages of messages into a store on the same
// database while a daemon runs on it.
func TestImportIntoAServer(t *testing.T) {
	f := newFixture(t)
	const extra = 450
	rows := make([]string, extra)
	for n := range rows {
		rows[n] = fmt.Sprintf("('E0000000-0000-4000-8000-%012x', '%s', N'%d', 1, 0, 0, '2026-01-03', '2026-01-03')", n, subscription, n)
	}
	mssqltest.Exec(t, f.dsn, `INSERT INTO `+schema+`.SY_WebhookMessage (RecID, SY_WebhookSubscription_RecID, Body, ItemNo, Status, Retries, AddedDateTime, LastSavedDateTime) VALUES `+strings.Join(rows, ", "))
	dir := t.TempDir()
	store := []string{"--store", f.dsn, "--data-dir", dir}
	if _, stderr := f.run(t, 1, append(store, "--no-messages")...); !strings.Contains(stderr, "run whd migrate") {
		t.Errorf("without tables: %s", stderr)
	}
	i := daemontest.Start(t, "--store", f.dsn, "--migrate", "--webhooks-allow-targets", "127.0.0.0/8")
	got, _ := f.run(t, 1, append(store, "--no-messages")...)
	wantLines(t, got, "subscriptions: 2 new, ", "messages: 0 new, 0 unchanged, 0 different here, 0 removed here, 0 not imported")
	got, _ = f.run(t, 1, store...)
	wantLines(t, got, fmt.Sprintf("messages: %d new, ", extra+2))
	seen := make(map[string]bool)
	for len(seen) < extra+2 {
		seen[f.receive(t).header.Get("Webhook-Id")] = true
	}
	if text := request(t, i, 200, "GET /Webhooks/Messages?Take=1&Fields=Status&Status=1", ""); !strings.Contains(text, `"Results":[{`) {
		t.Errorf("no delivered message: %s", text)
	}
}

// TestUnusableSource checks the errors for a source without the tables or some columns,
// for one that cannot be reached, and for a malformed one.
func TestUnusableSource(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	newStore(t, dir)
	mssqltest.Exec(t, f.dsn, "ALTER TABLE "+schema+".SY_WebhookSubscription DROP COLUMN URL", "DROP TABLE "+schema+".SY_WebhookMessage")
	_, stderr := f.run(t, 1, "--data-dir", dir)
	wantLines(t, stderr, "whd: the table existing.SY_WebhookSubscription has no column URL", "whd: the table existing.SY_WebhookMessage is missing, or the login may not read it")
	f.run(t, 2, "--data-dir", dir, "--from", "sqlserver://canary:canary@/%zz")
	f.run(t, 3, "--data-dir", dir, "--from", "sqlserver://canary:canary@127.0.0.1:1?dial+timeout=5")
}
