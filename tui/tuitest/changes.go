package tuitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
)

// CannedDaemon returns a client of a proxy for a service that responds to requests for some
// paths, with their query, with fixed JSON.
func CannedDaemon(t *testing.T, i *daemontest.Instance, responses map[string]string) *client.Client {
	t.Helper()
	target, err := url.Parse(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := responses[strings.TrimSuffix(r.URL.RequestURI(), "?")]
		if !ok {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return Connect(t, &daemontest.Instance{URL: server.URL})
}

// RecordChanges runs a proxy for a service that rejects and records every request that
// could change data.
func RecordChanges(t *testing.T, service string) (address string, list func() []string) {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if r.Method != http.MethodGet && !strings.HasPrefix(r.URL.Path, "/Queries/") {
			read := http.MaxBytesReader(w, r.Body, 1<<20)
			_, err := io.Copy(body, read)
			if err != nil || !strings.Contains(body.String(), `"DryRun":"true"`) {
				mu.Lock()
				sent = append(sent, r.Method+" "+r.URL.Path+" "+body.String())
				mu.Unlock()
				w.WriteHeader(http.StatusTeapot)
				return
			}
			r.Body = http.NoBody
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"Matched":1,"Retried":1,"Deleted":1,"DryRun":true}`))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(sent)
	}
}
