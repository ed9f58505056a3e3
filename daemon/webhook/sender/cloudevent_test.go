package sender

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/webhook"
)

// cloudEventMessage returns a message of an event with a key.
func cloudEventMessage(key string) *webhook.Message {
	m := testMessage()
	m.Event.GUID = "0199a0b2-5c1d-7000-8a4b-000000000001"
	m.Event.Key = key
	m.Event.AddedAt = time.Date(2026, 1, 2, 4, 4, 5, 678_912_345, time.FixedZone("", 3600))
	return m
}

func cloudEvents(h http.Header) map[string]string {
	attributes := make(map[string]string)
	for name := range h {
		if strings.HasPrefix(name, "Ce-") {
			attributes[name] = strings.Join(h.Values(name), "|")
		}
	}
	return attributes
}

// TestCloudEventHeaders checks the attributes of CloudEvents, and that a subscription without the
// format has none.
func TestCloudEventHeaders(t *testing.T) {
	want := map[string]string{
		"Ce-Specversion": "1.0",
		"Ce-Id":          "0199a0b2-5c1d-7000-8a4b-000000000001",
		"Ce-Source":      "/Webhooks/Events",
		"Ce-Type":        "debtor.updated",
		"Ce-Time":        "2026-01-02T03:04:05.678Z",
	}
	for key, subject := range map[string]string{
		"":               "",
		"00120":          "00120",
		`Größe "7", 5%`:  "Gr%C3%B6%C3%9Fe%20%227%22,%205%25",
		"€\t\U0001F600~": "%E2%82%AC%09%F0%9F%98%80~",
	} {
		got, _ := deliver(t, cloudEventMessage(key), &webhook.Subscription{Format: webhook.FormatCloudEvents})
		expected := maps.Clone(want)
		if key != "" {
			expected["Ce-Subject"] = subject
		}
		if attributes := cloudEvents(got.request.Header); !maps.Equal(attributes, expected) {
			t.Errorf("the key %q: got %v, want %v", key, attributes, expected)
		}
	}

	plain, _ := deliver(t, cloudEventMessage("7"), &webhook.Subscription{})
	if attributes := cloudEvents(plain.request.Header); len(attributes) > 0 {
		t.Errorf("a subscription without a format sent %v", attributes)
	}
}

// TestSubscriptionReplacesCloudEventHeaders checks that headers of the subscription take the place of
// attributes, and that everything else of the request is the same as without the format.
func TestSubscriptionReplacesCloudEventHeaders(t *testing.T) {
	sub := &webhook.Subscription{
		Format:  webhook.FormatCloudEvents,
		Secret:  webhook.NewSecret(),
		Headers: []webhook.Header{{Name: "ce-source", Value: "https://erp.example/"}},
	}
	m := cloudEventMessage("7")
	m.Event.Name = record.TestEventFor("debtor.updated")
	got, _ := deliver(t, m, sub)
	h := got.request.Header
	if sources := h.Values("Ce-Source"); !slices.Equal(sources, []string{"https://erp.example/"}) {
		t.Errorf("ce-source is %q, want that of the subscription", sources)
	}
	if h.Get("Ce-Type") != "debtor.updated" || h.Get("Webhook-Test") != "true" {
		t.Errorf("a test of debtor.updated has %v", h)
	}
	if !bytes.Equal(got.body, m.Event.Body) {
		t.Errorf("got the body %s, want %s", got.body, m.Event.Body)
	}
	if contentType := h.Get("Content-Type"); contentType != "application/json; charset=utf-8" {
		t.Errorf("got the type %s, want that of JSON", contentType)
	}
}

// TestSDKReadsCloudEvents delivers messages, and reads them by the SDK of CloudEvents for JavaScript.
func TestSDKReadsCloudEvents(t *testing.T) {
	dir := clientstest.NodeModules(t, "cloudevents")
	type received struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	var deliveries []received
	var want []map[string]any
	for _, test := range []struct {
		key  string
		body string
		data any
	}{
		{"", `{"DebtorID": "0001"}`, map[string]any{"DebtorID": "0001"}},
		{"00120", `[1, "Müller"]`, []any{1.0, "Müller"}},
		{`Größe "7", 5% €`, `{}`, map[string]any{}},
		{"%41", "plain text", "plain text"},
	} {
		m := cloudEventMessage(test.key)
		m.Event.Body = []byte(test.body)
		got, _ := deliver(t, m, &webhook.Subscription{
			Format:  webhook.FormatCloudEvents,
			Secret:  webhook.NewSecret(),
			Headers: []webhook.Header{{Name: "ce-shop", Value: "acme"}},
		})
		d := received{Headers: make(map[string]string), Body: string(got.body)}
		for name := range got.request.Header {
			d.Headers[strings.ToLower(name)] = got.request.Header.Get(name)
		}
		deliveries = append(deliveries, d)
		event := map[string]any{
			"specversion":     "1.0",
			"id":              m.Event.GUID,
			"source":          "/Webhooks/Events",
			"type":            "debtor.updated",
			"time":            "2026-01-02T03:04:05.678Z",
			"datacontenttype": got.request.Header.Get("Content-Type"),
			"shop":            "acme",
			"data":            test.data,
		}
		if test.key != "" {
			event["subject"] = test.key
		}
		want = append(want, event)
	}

	text, err := json.Marshal(deliveries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "cloudevents.cjs"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
	cmd.Stdin = bytes.NewReader(text)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var events []map[string]any
	err = json.Unmarshal(out, &events)
	if err != nil || len(events) != len(want) {
		t.Fatalf("the SDK returned %s (%v), want %d events", out, err, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(events[i], want[i]) {
			t.Errorf("the SDK read\n%v, want\n%v", events[i], want[i])
		}
	}
}
