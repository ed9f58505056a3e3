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
	recorder := &changeRecorder{proxy: httputil.NewSingleHostReverseProxy(target)}
	recorder.proxy.FlushInterval = -1
	recorder.proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	server := httptest.NewServer(recorder)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, recorder.list
}

// changeRecorder is a proxy that rejects and records requests that could change data.
type changeRecorder struct {
	proxy *httputil.ReverseProxy
	mu    sync.Mutex
	sent  []string // method, path and body of each request
}

func (c *changeRecorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isRead := r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/Queries/")
	if isRead {
		c.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	isDryRun := err == nil && strings.Contains(string(body), `"DryRun":"true"`)
	if isDryRun {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"Matched":1,"Retried":1,"Deleted":1,"DryRun":true}`)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, r.Method+" "+r.URL.Path+" "+string(body))
	w.WriteHeader(http.StatusTeapot)
}

// list returns the requests so far.
func (c *changeRecorder) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}
