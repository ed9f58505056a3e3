package listen

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestForwardTimeout checks that a receiver that does not respond, or not completely, is reported
// with the time limit.
func TestForwardTimeout(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/starts" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	for _, path := range []string{"/hangs", "/starts"} {
		f, err := NewForwarder(server.URL+path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		f.http.Timeout = 300 * time.Millisecond
		_, err = f.post(context.Background(), "1", "debtor.updated", []byte("{}"))
		if want := "timeout after 300ms"; err == nil || err.Error() != want {
			t.Errorf("posting to %s: got error %v, want %s", path, err, want)
		}
	}
}

// TestForwardDeclaresTypeOfBody checks that messages have the Content-Type of the service.
func TestForwardDeclaresTypeOfBody(t *testing.T) {
	var got string
	handler := func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Content-Type") }
	server := httptest.NewServer(http.HandlerFunc(handler))
	defer server.Close()
	f, err := NewForwarder(server.URL, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"{}":    "application/json; charset=utf-8",
		"hello": "text/plain; charset=utf-8",
	} {
		_, err := f.post(context.Background(), "1", "debtor.updated", []byte(body))
		if err != nil || got != want {
			t.Errorf("posting the body %q: got Content-Type %q, error %v; want %q", body, got, err, want)
		}
	}
}

// TestForwardUsesTimeoutOfService checks that a receiver may take as long as the service allows:
// one that responds after 35 s works if webhooks.attempt_timeout is 40 s.
func TestForwardUsesTimeoutOfService(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-attempt-timeout", "40s", "--webhooks-lease", "2m")
	service, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	f, err := NewForwarder("localhost:3000", time.Now)
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := Listener{Service: service, Forwarder: f, Now: time.Now, Out: io.Discard}
	l.Notice = func(format string, args ...any) {
		t.Logf(format, args...)
		if strings.HasPrefix(format, "mirroring") {
			cancel()
		}
	}
	_, _ = l.Run(ctx) // ends with the context
	if f.http.Timeout != 40*time.Second {
		t.Errorf("got the time limit %s, want 40s", f.http.Timeout)
	}
}
