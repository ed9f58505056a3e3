package daemon_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	v1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is an OTLP receiver.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	raw   bytes.Buffer
	spans []*spans.Span
	about []string // service names
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request v1.ExportTraceServiceRequest
	body, err := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		var plain *gzip.Reader
		if plain, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(plain)
		}
	}
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, resource := range request.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				c.about = append(c.about, a.Value.GetStringValue())
			}
		}
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// named returns the spans of a name.
func (c *collector) named(name string) (found []*spans.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func attribute(s *spans.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if n := a.Value.GetIntValue(); n != 0 {
				return strconv.FormatInt(n, 10)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}

const parent = "4bf92f3577b34da6a3ce929d0e0e4736"

// TestTraces checks the spans of a query and a delivery, which must not contain the
// secrets in their addresses and headers.
func TestTraces(t *testing.T) {
	noLeaks(t)
	collector := newCollector(t)
	received := make(chan http.Header, 1)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		received <- r.Header
	}))
	defer shop.Close()
	i := daemontest.Start(t, "--trace-endpoint", collector.URL, "--demo", "--auth-queries",
		"anonymous", "--auth-key-in-url", "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-portal")
	admin := i.Key(t, "admin")
	c, err := client.New(client.Options{URL: i.URL, Token: admin})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	subscriber, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	target, event := shop.URL+"/hidden-path?token=hidden-token", "debtor.updated"
	_, err = c.AddSubscription(t.Context(), subscriber.RecID, wire.SubscriptionRequest{
		URL:       &target,
		EventName: &event,
		Headers:   &[]wire.Header{{Name: "X-Token", Value: "hidden-header"}},
	})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := c.PublishEvent(t.Context(), event, "hidden-body"); err != nil {
		t.Fatal(err)
	}
	if h := <-received; h.Get("Traceparent") != "" {
		t.Errorf("a receiver gets the trace context: %v", h)
	}

	r, err := http.NewRequestWithContext(t.Context(), "GET",
		i.URL+"/json/reply/SO_TotalsQuery?Take=3&apikey=hidden-key", nil)
	if err != nil {
		t.Fatal(err)
	}

	r.Header.Set("Traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	r.Header.Set("Authorization", "Basic "+"aGlkZGVuOmhpZGRlbg==")
	if reply, err := http.DefaultTransport.RoundTrip(r); err == nil {
		reply.Body.Close()
	}

	get(t, i.URL+"/no/such/hidden-place")
	get(t, i.URL+"/Webhooks/Portal/Open?SubscriberID="+subscriber.RecID)
	get(t, i.URL+"/healthz")
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}

	collector.check(t, subscriber.RecID, admin)
}

func (c *collector) check(t *testing.T, secrets ...string) {
	t.Helper()
	for _, name := range []string{
		"GET /{Format}/reply/SO_TotalsQuery",
		"POST /Webhooks/Subscribers/{SubscriberID}/Subscriptions",
		"POST /Webhooks/Events",
		"deliver debtor.updated",
		"GET /...",
		"GET /Webhooks/Portal/Open",
	} {
		if len(c.named(name)) != 1 {
			t.Fatalf("%d spans %q of %v", len(c.named(name)), name, c.spans)
		}
	}

	query := c.named("GET /{Format}/reply/SO_TotalsQuery")[0]
	if hex.EncodeToString(query.TraceId) != parent ||
		attribute(query, "http.route") != "/{Format}/reply/SO_TotalsQuery" ||
		attribute(query, "http.response.status_code") == "" {
		t.Errorf("got %v", query)
	}

	delivery := c.named("deliver debtor.updated")[0]
	if attribute(delivery, "http.response.status_code") != "202" || attribute(delivery, "webhook.attempt") != "1" ||
		attribute(delivery, "server.address") != "127.0.0.1" ||
		delivery.Status.GetCode() == spans.Status_STATUS_CODE_ERROR {
		t.Errorf("got %v", delivery)
	}

	for _, s := range c.spans {
		if strings.Contains(s.Name, "health") {
			t.Errorf("got %v", s)
		}
	}
	if !slices.Contains(c.about, "whd") {
		t.Errorf("of %q", c.about)
	}

	for _, secret := range append(secrets, "hidden", "aGlkZGVu") {
		if bytes.Contains(c.raw.Bytes(), []byte(secret)) {
			t.Errorf("the spans contain %q", secret)
		}
	}
}

// TestTracesOfQuery checks that the spans of a query's steps are children of its span.
func TestTracesOfQuery(t *testing.T) {
	collector := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL) // the standard's name for the setting
	i := daemontest.Start(t, "--demo", "--auth-queries", "anonymous")
	if reply, _ := get(t, i.URL+"/Queries/SO_Totals.csv?Take=20"); reply.StatusCode != 200 {
		t.Fatalf("status %d", reply.StatusCode)
	}
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	whole := collector.named("GET /Queries/SO_Totals")
	if len(whole) != 1 {
		t.Fatalf("got %v", collector.spans)
	}
	for _, part := range []string{"read the query", "wait for the first row", "send the rows"} {
		sent := collector.named(part)
		if len(sent) != 1 || !bytes.Equal(sent[0].ParentSpanId, whole[0].SpanId) ||
			sent[0].EndTimeUnixNano < sent[0].StartTimeUnixNano {
			t.Errorf("got the spans %v for %q, want one within that of the request", sent, part)
		}
	}
}

// TestTracesWithUnreachableCollector checks that requests and the shutdown succeed.
func TestTracesWithUnreachableCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	i := daemontest.Start(t, "--trace-endpoint", "http://127.0.0.1:1")
	if reply, _ := get(t, i.URL+"/Info"); reply.StatusCode != 200 {
		t.Errorf("status %d", reply.StatusCode)
	}
	if err := i.Stop(); err != nil {
		t.Error(err)
	}
}

// shortDeadline has a near deadline but never ends, so that only the limit of the trace
// exporter depends on it.
type shortDeadline struct{ context.Context }

func (shortDeadline) Deadline() (time.Time, bool) {
	return time.Now().Add(200 * time.Millisecond), true
}

// TestTracesWithUnresponsiveCollector checks that a collector that never responds leaves
// time for the rest of the shutdown.
func TestTracesWithUnresponsiveCollector(t *testing.T) {
	ended := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	t.Cleanup(func() { close(ended); hangs.Close() })
	i := daemontest.Start(t, "--trace-endpoint", hangs.URL)
	if reply, _ := get(t, i.URL+"/Info"); reply.StatusCode != 200 {
		t.Errorf("status %d", reply.StatusCode)
	}
	if err := i.Daemon.Stop(shortDeadline{t.Context()}); err != nil {
		t.Error(err)
	}
}
