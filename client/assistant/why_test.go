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
	"github.com/bizhook/whd/daemon/sqlite"
)

// whyKinds have a kind for readers and one for writers. Events of both are captured.
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
var whyMembers = []string{"at", "changeID", "code", "due", "event", "eventID", "kind", "messageID", "step", "subscriberID", "subscriptionID"}

// pause is the time between questions to the daemon whether something has happened.
const pause = 20 * time.Millisecond

// whyQuestion is a question about a key, with the steps that answer it.
type whyQuestion struct{ text, key, steps string }

var whyQuestions = []whyQuestion{
	{"Did the shop get item A17, and why not twice?", "A17", "change, event, condition not met, message, attempt 200, delivered"},
	{"Why does the shop not have order W1?", "W1", "event, message, attempt 503, retrying due, no change"},
	{"Why was nothing sent of order S1?", "S1", "event, message, disabled, no change"},
	{"Is there news of Z1?", "Z1", ""},
	{"Is there news of nothing?", "nothing", "no change, no event"},
}

// startWhy starts a daemon with the histories that the questions are about, and returns a
// client of it as admin. The endpoints respond with a text that must not reach an assistant.
func startWhy(t *testing.T) (*daemontest.Instance, *client.Client) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kinds.toml"), []byte(whyKinds), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	exec := func(statement string) {
		t.Helper()
		if err := records.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE Items (ID TEXT PRIMARY KEY, Note TEXT)")
	exec("CREATE TABLE Zebras (ID TEXT PRIMARY KEY)")
	i := daemontest.StartIn(t, dir, "--mcp-enabled", "--auth-queries", "anonymous", "--erp-kinds", filepath.Join(dir, "kinds.toml"), "--changes-sweep", "1s", "--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", "order.sent,order.shelved,order.many", "--webhooks-retry-schedule", "720h")
	c, err := client.New(client.Options{URL: i.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
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
	for _, s := range []struct{ event, where string }{{"item.created", ""}, {"item.created", `{"Note":"another canary"}`}, {"zebra.created", ""}, {"order.sent", ""}, {"order.shelved", ""}, {"order.many", ""}} {
		request := wire.SubscriptionRequest{EventName: new(s.event), URL: new(endpoint.URL + "/" + s.event), IsEnabled: new(s.event != "order.shelved")}
		if s.where != "" {
			request.Where = json.RawMessage(s.where)
		}
		if _, err := c.AddSubscription(t.Context(), shop.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
	for capturing := 0; capturing < 2; { // the first look raises no events
		captures, err := c.Captures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		capturing = 0
		for _, capture := range captures {
			if capture.Phase == "capturing" {
				capturing++
			}
		}
	}
	exec("INSERT INTO Items VALUES ('A17', 'canary')")
	exec("INSERT INTO Zebras VALUES ('Z1')")
	for key, event := range map[string]string{"W1": "order.sent", "S1": "order.shelved"} {
		publish(t, c, event, key)
	}
	for key, step := range map[string]string{"A17": wire.WhyDelivered, "W1": wire.WhyRetrying, "S1": wire.WhyDisabled, "Z1": wire.WhyDelivered} {
		awaitStep(t, c, key, step)
	}
	return i, c
}

func publish(t *testing.T, c *client.Client, event, key string) {
	t.Helper()
	if _, err := c.RaiseEventWith(t.Context(), wire.EventPost{EventName: event, Key: key, Body: "{}"}, ""); err != nil {
		t.Fatal(err)
	}
}

// awaitStep waits until the history of a key has a step.
func awaitStep(t *testing.T, c *client.Client, key, step string) {
	t.Helper()
	for {
		why, err := c.Why(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: no %s: %v", key, step, err)
		}
		if slices.ContainsFunc(why.Steps, func(s wire.WhyStep) bool { return s.Step == step }) {
			return
		}
		time.Sleep(pause)
	}
}

// stepsOf shows the steps of a result.
func stepsOf(t *testing.T, text string) string {
	t.Helper()
	var r struct{ Steps []map[string]any }
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Steps == nil {
		t.Fatalf("%v: %s", err, text)
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

// TestQuestionsAboutKeys answers each question in one call, by either way in. The results have
// no texts of records, endpoints or conditions, and nothing of a kind for writers.
func TestQuestionsAboutKeys(t *testing.T) {
	i, _ := startWhy(t)
	program := buildProgram(t)
	for _, role := range []string{"admin", "writer", "reader"} {
		for name, to := range transports(t, i, program, i.Key(t, role)) {
			s := connect(t, to)
			for _, q := range whyQuestions {
				got := answer(t, s, fmt.Sprintf(`why {"key":%q}`, q.key))
				if strings.Contains(strings.ToLower(got), "zebra") || strings.Contains(got, "canary") || strings.Contains(got, instruction) || strings.Contains(got, "http") {
					t.Errorf("%s as %s: %s: %s", name, role, q.text, got)
				}
				if role != "admin" {
					if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "requires the role admin") {
						t.Errorf("%s as %s: %s: %s", name, role, q.text, got)
					}
					continue
				}
				if steps := stepsOf(t, got); steps != q.steps {
					t.Errorf("%s: %s %s, want %s", name, q.text, steps, q.steps)
				}
				t.Logf("1 call: %s %s", q.text, q.steps)
			}
		}
	}
}

// TestLongHistory reads the steps of a key in results of at most 16 KiB: each once.
func TestLongHistory(t *testing.T) {
	i, c := startWhy(t)
	const events = 80
	for range events {
		publish(t, c, "order.many", "many")
	}
	var want int
	for delivered := 0; delivered < events; {
		history, err := c.Why(t.Context(), "many")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		want, delivered = len(history.Steps), 0
		for _, s := range history.Steps {
			if s.Step == wire.WhyDelivered {
				delivered++
			}
		}
	}
	key := i.Key(t, "admin")
	skip := "0"
	pages := 0
	seen := make(map[string]bool)
	for ; skip != "null"; pages++ {
		r := call(t, i, key, "why", fmt.Sprintf(`{"key":"many","skip":%s}`, skip))
		for _, step := range r.list(t, "steps") {
			seen[fmt.Sprint(step)] = true
		}
		skip = answerAt(r.decoded(t), "nextSkip")
	}
	if len(seen) != want || pages < 3 {
		t.Errorf("%d steps in %d pages, want %d", len(seen), pages, want)
	}
}
