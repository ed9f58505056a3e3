package assistant_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// whyKinds have a kind for readers and one for writers. Changes of both are captured.
const whyKinds = `[Item]
source = "Items"
summary = "Items"
area = "Stock"
key = ["ID"]
capture = "always"
events = "item"
[Item.fields]
ID = "string"
Note = "string?"
[Zebra]
source = "Zebras"
summary = "Stripes"
area = "Stock"
key = ["ID"]
role = "writer"
capture = "always"
events = "zebra"
[Zebra.fields]
ID = "string"
`

// whyMembers are the members of steps: codes, times, names and IDs.
var whyMembers = []string{
	"at", "changeID", "code", "due", "event", "eventID", "kind", "messageID", "step", "subscriberID", "subscriptionID",
}

const (
	// pause is the time between two looks at the state of the daemon.
	pause = 20 * time.Millisecond
	// timeout is the limit for a state of the daemon that a test waits for.
	timeout = 2 * time.Minute
)

// await waits until isDone returns true. isDone also returns the state that it found, for the
// failure at the timeout.
func await(t *testing.T, description string, isDone func() (done bool, state any)) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(pause) {
		done, state := isDone()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s; the last state is %+v", timeout, description, state)
		}
	}
}

// whyQuestion is a question about a key, with the steps that answer it.
type whyQuestion struct{ text, key, steps string }

var whyQuestions = []whyQuestion{
	{
		text:  "Did the shop get item A17, and why not twice?",
		key:   "A17",
		steps: "change, event, condition not met, message, attempt 200, delivered",
	},
	{
		text:  "Why does the shop not have order W1?",
		key:   "W1",
		steps: "event, message, attempt 503, retrying due, no change",
	},
	{
		text:  "Why was nothing sent of order S1?",
		key:   "S1",
		steps: "event, message, disabled, no change",
	},
	{
		text:  "Is there news of Z1?",
		key:   "Z1",
		steps: "", // its kind is for writers
	},
	{
		text:  "Is there news of a key without records and events?",
		key:   "nothing",
		steps: "no change, no event",
	},
}

// startWhy starts a daemon with the histories that the questions are about, and returns a
// client of it as admin. The endpoints respond with a text that must not reach an assistant.
func startWhy(t *testing.T) (*daemontest.Instance, *client.Client) {
	t.Helper()
	dir := t.TempDir()
	kinds := filepath.Join(dir, "kinds.toml")
	if err := os.WriteFile(kinds, []byte(whyKinds), 0o600); err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(dir, "records.db")
	execute(t, records,
		"CREATE TABLE Items (ID TEXT PRIMARY KEY, Note TEXT)",
		"CREATE TABLE Zebras (ID TEXT PRIMARY KEY)",
	)
	daemon := daemontest.StartIn(t, dir,
		"--mcp-enabled",
		"--auth-queries", "anonymous",
		"--erp-kinds", kinds,
		"--changes-sweep", "1s",
		"--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8",
		"--webhooks-events", "order.sent,order.shelved,order.many",
		"--webhooks-retry-schedule", "720h",
	)
	c, err := client.New(client.Options{URL: daemon.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)

	addSubscriptions(t, c)
	awaitCapture(t, c, 2)
	execute(t, records,
		"INSERT INTO Items VALUES ('A17', 'canary')",
		"INSERT INTO Zebras VALUES ('Z1')",
	)
	publish(t, c, "order.sent", "W1")
	publish(t, c, "order.shelved", "S1")

	awaitStep(t, c, "A17", wire.WhyDelivered)
	awaitStep(t, c, "W1", wire.WhyRetrying)
	awaitStep(t, c, "S1", wire.WhyDisabled)
	awaitStep(t, c, "Z1", wire.WhyDelivered)
	return daemon, c
}

// addSubscriptions adds a subscriber to all events, with an endpoint that fails for order.sent.
func addSubscriptions(t *testing.T, c *client.Client) {
	t.Helper()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order.sent" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, instruction)
	}))
	t.Cleanup(endpoint.Close)
	shop, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ event, where string }{
		{event: "item.created"},
		{event: "item.created", where: `{"Note":"another canary"}`},
		{event: "zebra.created"},
		{event: "order.sent"},
		{event: "order.shelved"},
		{event: "order.many"},
	} {
		request := wire.SubscriptionRequest{
			EventName: new(s.event),
			URL:       new(endpoint.URL + "/" + s.event),
			IsEnabled: new(s.event != "order.shelved"),
		}
		if s.where != "" {
			request.Where = json.RawMessage(s.where)
		}
		if _, err := c.AddSubscription(t.Context(), shop.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitCapture waits until a number of kinds is captured. Records that exist before capture starts
// are not changes.
func awaitCapture(t *testing.T, c *client.Client, kinds int) {
	t.Helper()
	await(t, fmt.Sprintf("the capture of %d kinds", kinds), func() (bool, any) {
		captures, err := c.Captures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		capturing := 0
		for _, capture := range captures {
			if capture.Phase == "capturing" {
				capturing++
			}
		}
		return capturing >= kinds, captures
	})
}

func publish(t *testing.T, c *client.Client, event, key string) {
	t.Helper()
	post := wire.EventPost{EventName: event, Key: key, Body: "{}"}
	if _, err := c.PublishEventWith(t.Context(), post, ""); err != nil {
		t.Fatalf("publishing %s: %v", event, err)
	}
}

// awaitStep waits until the history of a key has a step.
func awaitStep(t *testing.T, c *client.Client, key, step string) {
	t.Helper()
	isStep := func(s wire.WhyStep) bool { return s.Step == step }
	await(t, fmt.Sprintf("the step %q of %s", step, key), func() (bool, any) {
		why, err := c.Why(t.Context(), key)
		if err != nil {
			t.Fatalf("waiting for the step %s of %s: %v", step, key, err)
		}
		return slices.ContainsFunc(why.Steps, isStep), why.Steps
	})
}

// stepsOf returns the steps of a result in a short form, such as "event, attempt 503, retrying
// due". It checks that they have only the members of whyMembers.
func stepsOf(t *testing.T, text string) string {
	t.Helper()
	var r struct{ Steps []map[string]any }
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Steps == nil {
		t.Fatalf("the answer %s has no steps (%v)", text, err)
	}
	var lines []string
	for _, s := range r.Steps {
		line := fmt.Sprint(s["step"])
		if code := s["code"]; code != nil {
			line += fmt.Sprint(" ", code)
		}
		if s["due"] != nil {
			line += " due"
		}
		for member := range s {
			if !slices.Contains(whyMembers, member) {
				t.Errorf("a step has %s: %s", member, text)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

// TestQuestionsAboutKeys answers each question in one call, over either transport. The results
// have no texts of records, endpoints or conditions, and nothing of a kind for writers.
func TestQuestionsAboutKeys(t *testing.T) {
	daemon, _ := startWhy(t)
	program := buildProgram(t)
	for _, role := range []string{"admin", "writer", "reader"} {
		for name, transport := range transports(t, daemon, program, daemon.Key(t, role)) {
			t.Run(name+" as "+role, func(t *testing.T) {
				session := connect(t, transport)
				for _, q := range whyQuestions {
					checkAnswer(t, q, answer(t, session, fmt.Sprintf(`why {"key":%q}`, q.key)), role)
				}
			})
		}
	}
}

// checkAnswer checks the answer to a question in a role.
func checkAnswer(t *testing.T, q whyQuestion, got, role string) {
	t.Helper()
	for _, hidden := range []string{"zebra", "canary", strings.ToLower(instruction), "http"} {
		if strings.Contains(strings.ToLower(got), hidden) {
			t.Errorf("%s: got %s, want it without %q", q.text, got, hidden)
		}
	}
	if role == "admin" {
		if steps := stepsOf(t, got); steps != q.steps {
			t.Errorf("%s: got the steps %s, want %s", q.text, steps, q.steps)
		}
		return
	}
	if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "requires the role admin") {
		t.Errorf("%s: got %s, want an error about the role", q.text, got)
	}
}

// TestLongHistory reads the steps of a key in results of at most 16 KiB, the limit that call
// checks: each step once.
func TestLongHistory(t *testing.T) {
	daemon, c := startWhy(t)
	const events = 80
	for range events {
		publish(t, c, "order.many", "many")
	}
	want := awaitDeliveries(t, c, "many", events)

	key := daemon.Key(t, "admin")
	const maxPages = 20
	var steps []string
	pages := 0
	for skip := "0"; skip != "null"; pages++ {
		if pages == maxPages {
			t.Fatalf("why has not ended after %d pages with %d steps, want %d", pages, len(steps), want)
		}
		r := call(t, daemon, key, "why", fmt.Sprintf(`{"key":"many","skip":%s}`, skip))
		for _, step := range r.list(t, "steps") {
			steps = append(steps, fmt.Sprint(step))
		}
		skip = answerAt(r.decoded(t), "nextSkip")
	}
	distinct := make(map[string]bool)
	for _, step := range steps {
		distinct[step] = true
	}
	if len(steps) != want || len(distinct) != want {
		t.Errorf("the pages have %d steps, %d of them different, want %d", len(steps), len(distinct), want)
	}
	if pages < 3 {
		t.Errorf("the steps are in %d pages, want at least 3", pages)
	}
}

// awaitDeliveries waits until a number of messages with a key is delivered, and returns the number
// of steps of the key.
func awaitDeliveries(t *testing.T, c *client.Client, key string, messages int) (steps int) {
	t.Helper()
	await(t, fmt.Sprintf("%d messages of %s", messages, key), func() (bool, any) {
		history, err := c.Why(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		delivered := 0
		for _, s := range history.Steps {
			if s.Step == wire.WhyDelivered {
				delivered++
			}
		}
		steps = len(history.Steps)
		return delivered >= messages, fmt.Sprintf("%d of %d steps are deliveries", delivered, steps)
	})
	return steps
}
