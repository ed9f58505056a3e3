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

// Parts of the output that differ between runs.
var (
	whyTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)?`)
	whyAddress  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	whyDuration = regexp.MustCompile(`, [0-9.]+(ms|s)\b`)
)

// TestWhy compares the output of whctl why for keys with different histories with the golden
// file.
func TestWhy(t *testing.T) {
	dir, admin := t.TempDir(), map[string]string{profile.EnvUser: "admin", profile.EnvPassword: daemontest.AdminPassword}
	records, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{BusyTimeout: testTimeout})
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
	exec("CREATE TABLE Items (ID TEXT PRIMARY KEY, Amount INTEGER)")
	if err := os.WriteFile(filepath.Join(dir, "item.toml"), []byte(whyKind), 0o600); err != nil {
		t.Fatal(err)
	}
	service := daemontest.StartIn(t, dir, "--erp", "demo", "--erp-kinds", filepath.Join(dir, "item.toml"), "--changes-sweep", "1s", "--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", "t.delivered,t.retried,t.failed,t.breaker,t.disabled", "--webhooks-retry-schedule", "1s,720h")
	c, err := client.New(client.Options{URL: service.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var mu sync.Mutex
	requests := make(map[string]int)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests[r.URL.Path]++
		isFirst := requests[r.URL.Path] == 1
		if r.URL.Path == "/failed" {
			w.WriteHeader(http.StatusUnprocessableEntity)
		} else if r.URL.Path == "/breaker" || r.URL.Path == "/retried" && isFirst {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	shop, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"t.delivered", "t.retried", "t.failed", "t.breaker", "t.disabled", "item.created", "item.updated"} {
		path := "/" + strings.TrimPrefix(event, "t.")
		request := wire.SubscriptionRequest{EventName: new(event), URL: new(receiver.URL + path), IsEnabled: new(event != "t.disabled")}
		switch event {
		case "t.failed":
			request.RetrySchedule = new("1s")
		case "item.updated":
			request.Where = json.RawMessage(`{"Changed":"Amount","AmountGreaterThan":2}`)
		case "t.breaker": // probed later than the test ends
			request.RetrySchedule = new("720h")
		}
		if _, err := c.AddSubscription(t.Context(), shop.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
	publish := func(event, key string) {
		t.Helper()
		if _, err := c.RaiseEventWith(t.Context(), wire.EventPost{EventName: event, Key: key, Body: "{}"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	await := func(key, step string) {
		t.Helper()
		for began := time.Now(); ; {
			why, err := c.Why(t.Context(), key)
			if err != nil || time.Since(began) > testTimeout {
				t.Fatalf("%s: no %s: %+v %v", key, step, why, err)
			}
			if slices.ContainsFunc(why.Steps, func(s wire.WhyStep) bool { return s.Step == step }) {
				return
			}
		}
	}
	for n := range 5 {
		publish("t.breaker", fmt.Sprint("n", n))
	}
	await("n0", wire.WhyBreakerOpen)
	for _, name := range []string{"delivered", "retried", "failed", "breaker", "disabled"} {
		publish("t."+name, name)
	}
	for { // the first look raises no events
		all, err := c.Captures(t.Context())
		if err != nil || t.Context().Err() != nil {
			t.Fatal(all, err)
		}
		if len(all) == 1 && all[0].Phase == "capturing" {
			break
		}
	}
	exec("INSERT INTO Items VALUES ('updated', 1), ('removed', 1)")
	await("updated", wire.WhyDelivered)
	await("removed", wire.WhyDelivered)
	exec("UPDATE Items SET Amount = 2 WHERE ID = 'updated'")
	await("updated", wire.WhyUnmet)
	if r, err := c.DeleteMessages(t.Context(), map[string][]string{"Key": {"removed"}}); err != nil || r.Deleted != 1 {
		t.Fatal(r, err)
	}
	exec("DELETE FROM Items WHERE ID = 'removed'")
	await("removed", wire.WhyNoSubscription)
	for key, step := range map[string]string{"delivered": wire.WhyDelivered, "retried": wire.WhyDelivered, "failed": wire.WhyFailed, "breaker": wire.WhyBreakerOpen, "disabled": wire.WhyDisabled} {
		await(key, step)
	}
	var b strings.Builder
	for _, key := range []string{"delivered", "retried", "failed", "breaker", "disabled", "updated", "removed", "unknown"} {
		admin[profile.EnvURL] = service.URL
		r := invocation{env: admin}.run(t, "why", key, "--csv")
		if r.code != 0 {
			t.Fatalf("%s: %d %s", key, r.code, r.stderr)
		}
		text := whyTime.ReplaceAllString(r.stdout, "TIME")
		text = whyDuration.ReplaceAllString(whyAddress.ReplaceAllString(text, "shop.example"), ", DURATION")
		fmt.Fprintf(&b, "$ whctl why %s --csv\n%s\n", key, text)
	}
	golden(t, "why", b.String())
}
