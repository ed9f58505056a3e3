package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// whyKind publishes events of records.
const whyKind = `[Item]
source = "Items"
summary = "Items"
area = "Stock"
key = ["ID"]
capture = "always"
events = "item"
[Item.fields]
ID = "string"
Amount = "int?"
`

// whySubscriptions have a subscription for each way in which an event can end. The path of their
// target is the name of the event without t.
var whySubscriptions = []wire.SubscriptionRequest{
	{EventName: new("t.delivered")},
	{EventName: new("t.retried")},
	{EventName: new("t.failed"), RetrySchedule: new("1s")},
	{EventName: new("t.breaker"), RetrySchedule: new("720h")}, // probed after the test ends
	{EventName: new("t.disabled"), IsEnabled: new(false)},
	{EventName: new("item.created")},
	{
		EventName: new("item.updated"),
		Where:     json.RawMessage(`{"Changed":"Amount","AmountGreaterThan":2}`),
	},
}

// Parts of the output that differ between runs.
var (
	whyTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)?`)
	whyAddress  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	whyID       = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	whyDuration = regexp.MustCompile(`, [0-9.]+(ms|s)\b`)
)

// TestWhy compares the output of whctl why for keys with different histories with the golden
// file.
func TestWhy(t *testing.T) {
	f := startWhy(t)
	f.subscribe("Shop", startWhyReceiver(t))
	f.publishEvents()
	f.changeRecords()

	var b strings.Builder
	for _, key := range []string{
		"delivered", "retried", "failed", "breaker", "disabled", "updated", "removed", "unknown",
	} {
		fmt.Fprintf(&b, "$ whctl why %s --csv\n%s\n", key, f.run(key))
	}
	golden(t, "why", b.String())
	f.checkMessage("", "t.delivered")
	f.checkMessage("delivered", "t.delivered")
}

// checkMessage publishes an event with a key, or with none, and checks that the history of its
// message is found by the ID and has no other message.
func (f *whyFixture) checkMessage(key, event string) {
	f.t.Helper()
	f.publish(event, key)
	page, err := f.admin.AllMessages(f.t.Context(), map[string][]string{"Take": {"1"}})
	if err != nil {
		f.t.Fatal(err)
	}
	id := page.Results[0].MessageID
	for _, text := range []string{id, id[:8] + ".." + id[len(id)-4:]} {
		f.await("the history of the message "+text+" ends with its delivery", func() (bool, string) {
			got := f.run(text)
			lines := strings.Split(strings.TrimSpace(got), "\n")
			isDelivered := len(lines) == 5 && strings.HasPrefix(lines[4], "TIME,delivered,")
			return isDelivered && strings.Count(got, id) == 3, got
		})
	}
}

// whyFixture is a service that captures the kind Item of its records.
type whyFixture struct {
	t       *testing.T
	service *daemontest.Instance
	admin   *client.Client
	records *sqlite.Conn
}

func startWhy(t *testing.T) *whyFixture {
	t.Helper()
	return startCapture(t, whyKind)
}

// startCapture starts a service with records of a kind like whyKind.
func startCapture(t *testing.T, kind string) *whyFixture {
	t.Helper()
	f := &whyFixture{t: t}
	dir := t.TempDir()
	var err error
	f.records, err = sqlite.Open(
		filepath.Join(dir, "records.db"), sqlite.Options{BusyTimeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.records.Close() })
	f.exec("CREATE TABLE Items (ID TEXT PRIMARY KEY, Amount INTEGER)")

	kinds := filepath.Join(dir, "item.toml")
	if err := os.WriteFile(kinds, []byte(kind), 0o600); err != nil {
		t.Fatal(err)
	}
	f.service = daemontest.StartIn(t, dir,
		"--erp", "demo", "--erp-kinds", kinds,
		"--changes-sweep", "1s", "--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8",
		"--webhooks-events", "t.delivered,t.retried,t.failed,t.breaker,t.disabled",
		"--webhooks-retry-schedule", "1s,720h")
	f.admin, err = client.New(client.Options{
		URL:      f.service.URL,
		User:     "admin",
		Password: daemontest.AdminPassword,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.admin.Close)
	return f
}

// whyReceiver answers with the status that is due to each path.
type whyReceiver struct {
	mu       sync.Mutex
	requests map[string]int // by path
}

// startWhyReceiver serves a receiver and returns its URL.
func startWhyReceiver(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(&whyReceiver{requests: make(map[string]int)})
	t.Cleanup(server.Close)
	return server.URL
}

func (r *whyReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[req.URL.Path]++
	switch req.URL.Path {
	case "/failed":
		w.WriteHeader(http.StatusUnprocessableEntity)
	case "/breaker":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "/retried":
		if r.requests[req.URL.Path] == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// subscribe adds the subscriptions of a subscriber to paths of a receiver.
func (f *whyFixture) subscribe(name, receiver string) {
	f.t.Helper()
	shop, err := f.admin.AddSubscriber(f.t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, request := range whySubscriptions {
		event := *request.EventName
		request.URL = new(receiver + "/" + strings.TrimPrefix(event, "t."))
		if _, err := f.admin.AddSubscription(f.t.Context(), shop.RecID, request); err != nil {
			f.t.Fatalf("subscribing to %s: %v", event, err)
		}
	}
}

// publishEvents publishes events with keys named after how they end, and waits until they do.
func (f *whyFixture) publishEvents() {
	f.t.Helper()
	// The circuit breaker opens after five failures.
	for n := range 5 {
		f.publish("t.breaker", fmt.Sprint("n", n))
	}
	f.awaitStep("n0", wire.WhyBreakerOpen)

	keys := []string{"delivered", "retried", "failed", "breaker", "disabled"}
	for _, key := range keys {
		f.publish("t."+key, key)
	}
	f.awaitStep("delivered", wire.WhyDelivered)
	f.awaitStep("retried", wire.WhyDelivered)
	f.awaitStep("failed", wire.WhyFailed)
	f.awaitStep("breaker", wire.WhyBreakerOpen)
	f.awaitStep("disabled", wire.WhyDisabled)
}

// changeRecords changes the record updated so that the condition of its subscription is not met,
// and removes the record removed and the message of its creation.
func (f *whyFixture) changeRecords() {
	f.t.Helper()
	f.awaitCapture() // the first look publishes no events
	f.exec("INSERT INTO Items VALUES ('updated', 1), ('removed', 1)")
	f.awaitStep("updated", wire.WhyDelivered)
	f.awaitStep("removed", wire.WhyDelivered)

	f.exec("UPDATE Items SET Amount = 2 WHERE ID = 'updated'")
	f.awaitStep("updated", wire.WhyUnmet)

	f.deleteMessage("removed")
	f.exec("DELETE FROM Items WHERE ID = 'removed'")
	f.awaitStep("removed", wire.WhyNoSubscription)
}

func (f *whyFixture) exec(statement string) {
	f.t.Helper()
	if err := f.records.Exec(statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

func (f *whyFixture) publish(event, key string) {
	f.t.Helper()
	post := wire.EventPost{EventName: event, Key: key, Body: "{}"}
	if _, err := f.admin.PublishEventWith(f.t.Context(), post, ""); err != nil {
		f.t.Fatalf("publishing %s with the key %s: %v", event, key, err)
	}
}

// deleteMessage deletes the only message with a key.
func (f *whyFixture) deleteMessage(key string) {
	f.t.Helper()
	reply, err := f.admin.DeleteMessages(f.t.Context(), map[string][]string{"Key": {key}})
	if err != nil {
		f.t.Fatalf("deleting the message with the key %s: %v", key, err)
	}
	if reply.Deleted != 1 {
		f.t.Fatalf("deleting the message with the key %s: got %d, want 1", key, reply.Deleted)
	}
}

// awaitStep waits until the history of a key has a step.
func (f *whyFixture) awaitStep(key, step string) {
	f.t.Helper()
	f.await(fmt.Sprintf("the history of %s has the step %s", key, step), func() (bool, string) {
		why, err := f.admin.Why(f.t.Context(), key)
		if err != nil {
			f.t.Fatalf("reading the history of %s: %v", key, err)
		}
		isReached := slices.ContainsFunc(why.Steps, func(s wire.WhyStep) bool {
			return s.Step == step
		})
		return isReached, fmt.Sprintf("%+v", why.Steps)
	})
}

// awaitCapture waits until the changes of the only kind are captured.
func (f *whyFixture) awaitCapture() {
	f.t.Helper()
	f.await("changes are captured", func() (bool, string) {
		captures, err := f.admin.Captures(f.t.Context())
		if err != nil {
			f.t.Fatalf("reading the state of the capture: %v", err)
		}
		isCapturing := len(captures) == 1 && captures[0].Phase == "capturing"
		return isCapturing, fmt.Sprintf("%+v", captures)
	})
}

// await waits until a condition holds. The state describes why it does not.
func (f *whyFixture) await(goal string, condition func() (done bool, state string)) {
	f.t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		done, state := condition()
		if done {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("waiting until %s: got %s after %v", goal, state, testTimeout)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// run returns the output of whctl why for a key, without the parts that differ between runs.
func (f *whyFixture) run(key string) string {
	f.t.Helper()
	inv := invocation{env: map[string]string{
		profile.EnvURL:      f.service.URL,
		profile.EnvUser:     "admin",
		profile.EnvPassword: daemontest.AdminPassword,
	}}
	r := inv.run(f.t, "why", key, "--csv")
	if r.code != 0 {
		f.t.Fatalf("whctl why %s: got exit code %d, want 0: %s", key, r.code, r.stderr)
	}
	text := whyTime.ReplaceAllString(r.stdout, "TIME")
	text = whyAddress.ReplaceAllString(text, "shop.example")
	if !strings.Contains(key, "-") && !strings.Contains(key, "..") {
		text = whyID.ReplaceAllString(text, "ID")
	}
	return whyDuration.ReplaceAllString(text, ", DURATION")
}

// TestWhyIsIndented checks that the lines of a long text start below its title on a terminal of 80
// cells.
func TestWhyIsIndented(t *testing.T) {
	got := invocation{terminal: true, width: 80, handler: serveListed}.run(t, "why", "D100512")
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	start := strings.Index(lines[0], "Text")
	const steps = 2
	if start < 0 || len(lines) <= 1+steps {
		t.Fatalf("got %s, want a text of several lines below its title", got)
	}
	for _, line := range lines[1+steps:] {
		text := strings.TrimLeft(line, " ")
		if len(line) > 80 || len(line)-len(text) != start {
			t.Errorf("the line %q starts at %d, want at most 80 cells from %d:\n%s",
				line, len(line)-len(text), start, got.stdout)
		}
	}
}
