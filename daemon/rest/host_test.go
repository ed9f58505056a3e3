package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/storage"
)

// TestHostOfRequestsWithoutALogin checks that a page cannot read responses by DNS
// rebinding.
func TestHostOfRequestsWithoutALogin(t *testing.T) {
	handler, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
		c.Edge.Hosts, c.Edge.HostURL = []string{"erp.example"}, "http://whd.company.example:5050/erp"
		c.Edge.HostNames = func() []string { return []string{"server7", "server7.company.example"} }
	})
	for host, status := range map[string]int{
		"localhost":                    200,
		"LOCALHOST:5050":               200,
		"localhost.":                   200,
		"a.localhost:1":                200,
		"127.0.0.1":                    200,
		"10.1.2.3:5050":                200,
		"[::1]":                        200,
		"[2001:db8::1]:5050":           200,
		"[fe80::1%25eth0]:5050":        200,
		"erp.example":                  200,
		"ERP.Example.:5050":            200,
		"whd.company.example":          200,
		"whd.company.example:80":       200,
		"server7":                      200,
		"Server7:5050":                 200,
		"server7.company.example.":     200,
		"attacker.example":             421,
		"attacker.example:5050":        421,
		"erp.example.attacker.example": 421,
		"notlocalhost":                 421,
		"localhost.attacker.example":   421,
		"127.0.0.1.attacker.example":   421,
		"server7.attacker.example":     421,
		"[attacker.example]":           421,
		"company.example":              421,
		".":                            421,
		"":                             421,
	} {
		r := httptest.NewRequest("GET", "/json/reply/DB_ClassQuery", nil)
		r.Host = host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%q: %d, want %d", host, w.Code, status)
		}
		if w.Code == 421 &&
			(!strings.Contains(w.Body.String(), "MisdirectedRequest") ||
				!strings.Contains(w.Body.String(), "http.hosts")) {
			t.Errorf("the Host %q: got %s, want MisdirectedRequest with the setting http.hosts", host, w.Body)
		}
	}

	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Host = "attacker.example" // not an anonymous request
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "\nwhd_http_misdirected_requests_total 11\n") {
		t.Errorf("status %d, not counted", w.Code)
	}
}

func TestHostBehindAProxy(t *testing.T) {
	direct, _ := newServer(t, storage.Config{Dir: t.TempDir()})
	behind, _ := newServer(t, storage.Config{Dir: t.TempDir()},
		func(c *rest.Config) { c.Edge.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	get := func(host string, trusted bool) int {
		r := httptest.NewRequest("GET", "/json/reply/DB_ClassQuery", nil)
		r.RemoteAddr, r.Host = "10.0.0.1:4711", host
		r.Header.Set("X-Forwarded-Host", "shop.example")
		handler := direct
		if trusted {
			handler = behind
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, host := range []string{"shop.example", "backend"} {
		if got := get(host, true); got != 200 {
			t.Errorf("%s by a trusted proxy: %d", host, got)
		}
		if got := get(host, false); got != 421 {
			t.Errorf("%s by another: %d", host, got)
		}
	}
}

// TestForwardedHost checks which value of X-Forwarded-Host is believed: that of the outermost
// trusted proxy, not that of the client before it.
func TestForwardedHost(t *testing.T) {
	server := func(setHost bool) http.Handler {
		handler, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
			c.Edge.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			c.Edge.ForwardedHost = setHost
		})
		return handler
	}
	set, notSet := server(true), server(false)
	for _, tt := range []struct {
		proxy                   string
		handler                 http.Handler
		forwarded, client, want string
	}{
		{
			proxy:     "a proxy that sets it",
			handler:   set,
			forwarded: "shop.example",
			client:    "192.0.2.1",
			want:      "shop.example",
		},
		{
			proxy:     "a proxy that appends to it",
			handler:   set,
			forwarded: "attacker.example, shop.example",
			client:    "192.0.2.1",
			want:      "shop.example",
		},
		{
			proxy:     "two proxies that append to it",
			handler:   set,
			forwarded: "attacker.example,shop.example, inner",
			client:    "192.0.2.1, 10.0.0.2",
			want:      "shop.example",
		},
		{
			proxy:     "two proxies, of which one sets it",
			handler:   set,
			forwarded: "shop.example",
			client:    "192.0.2.1, 10.0.0.2",
			want:      "shop.example",
		},
		{
			proxy:     "a client that forges a chain",
			handler:   set,
			forwarded: "attacker.example, shop.example",
			client:    "10.9.9.9, 192.0.2.1",
			want:      "shop.example",
		},
		{proxy: "a proxy that removes it", handler: set, forwarded: "", client: "192.0.2.1", want: "backend"},
		{
			proxy:     "a proxy that passes on the client's",
			handler:   notSet,
			forwarded: "attacker.example",
			client:    "192.0.2.1",
			want:      "backend",
		},
	} {
		r := httptest.NewRequest("GET", "/openapi.json", nil)
		r.RemoteAddr, r.Host = "10.0.0.1:4711", "backend"
		r.Header.Set("X-Forwarded-Host", tt.forwarded)
		r.Header.Set("X-Forwarded-For", tt.client)
		w := httptest.NewRecorder()
		tt.handler.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "http://"+tt.want+`"`) {
			t.Errorf("%s: the OpenAPI document does not contain http://%s: %.600s", tt.proxy, tt.want, w.Body)
		}
	}
}

// TestHostOfEventsAndLogins checks that the Host is not checked for authenticated
// requests, but for anonymous events. HTTP/1.0 requests may lack it.
func TestHostOfEventsAndLogins(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-publish", "anonymous", "--webhooks-publish-from",
		"127.0.0.0/8", "--http-hosts", "erp.example", "--http-hosts", "ERP")
	const event = `{"EventName":"debtor.created","Body":"x"}`
	c := anonymous(t, i)
	c.do("POST /Webhooks/Events", event, "Host: attacker.example").want(t, 421)
	c.do("POST /Webhooks/Events", event, "Host: attacker.example", "Cookie: ss-id=ended").want(t, 421)
	c.do("POST /Webhooks/Events", event, "Host: erp:5050").want(t, 201)
	c.do("POST /Webhooks/Events", event).want(t, 201)
	asAdmin(t, i).do("POST /Webhooks/Events", event, "Host: attacker.example").want(t, 201)
	c.do("GET /json/reply/DB_ClassQuery", "", "Host: attacker.example").want(t, 401)
	w := dial(t, i)
	if _, err := io.WriteString(w.conn, fmt.Sprintf("POST /Webhooks/Events HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(event), event)); err != nil {
		t.Fatal(err)
	}
	if a, err := w.readResponse(); err != nil || a.status != 201 {
		t.Errorf("got %+v (%v), want status 201", a, err)
	}
}
