package rest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/daemontest"
	demodata "github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
)

// newServer returns the HTTP handler of a store.
func newServer(t testing.TB, c storage.Config, change ...func(*rest.Config)) (*rest.Server, *storage.Store) {
	t.Helper()
	daemontest.Prepare(t, c.Dir)
	c.Registry, c.Connections = record.Builtin(), 2
	s, err := storage.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { s.Close() })
	accounts, err := account.New(account.Config{Store: s.AppDB.Accounts(), CheapHashes: true})
	if err != nil {
		t.Fatal(err)
	}

	config := rest.Config{
		Store:    s,
		Accounts: accounts,
		Log:      slog.New(slog.DiscardHandler),
		Options: func() *edge.Options {
			return &edge.Options{Registry: c.Registry, AnonymousQueries: true, CountPages: true}
		},
		Edge: edge.Config{
			Hosts:         []string{"whd", "example.com"},
			ForwardedHost: true,
			MaxRequests:   2,
			MaxBody:       1 << 20,
			MaxHead:       64 << 10,
			BodyTimeout:   time.Minute,
			WriteStall:    time.Minute,
		},
		ServeMetrics: true,
	}

	for _, f := range change {
		f(&config)
	}

	return rest.New(config), s
}

// newDemoServer returns the HTTP handler of the demo records of the smaller kinds.
func newDemoServer(t testing.TB, change ...func(*rest.Config)) *rest.Server {
	t.Helper()
	server, s := newServer(t, storage.Config{Dir: t.TempDir()}, change...)
	registry := record.Builtin()
	var kinds []*record.Kind
	for _, kind := range registry.Kinds() {
		if demodata.Count(kind.Name) < 500 {
			kinds = append(kinds, kind)
		}
	}
	if _, err := s.Load(t.Context(), kinds, demodata.Rows); err != nil {
		t.Fatal(err)
	}
	return server
}

// FuzzServer sends arbitrary bytes as requests. The response must never be a server
// error.
func FuzzServer(f *testing.F) {
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /json/reply/DB_ClassQuery?ClassContains=a&Take=2&OrderByDesc=Class HTTP/1.1\r\nHost: x\r\nAccept-Encoding: zstd\r\n\r\n",
		"POST /csv/reply/SY_FiltersQuery HTTP/1.0\r\nContent-Type: text/csv\r\nContent-Length: 33\r\n\r\n{\"ItemNoBetween\":[1,2],\"Take\":5}",
		"POST /Queries/CR_Classification.xml?callback=f HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"HEAD /api/BM_InputCustomFieldsQuery?Include=COUNT(*),MAX(DisplayOrder)&Fields=DISTINCT+CellType HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n",
		"POST /auth HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 21\r\n\r\nUserName=a&Password=b",
		"OPTIONS /json/oneway/DB_ClassQuery HTTP/1.1\r\nHost: x\r\nCookie: ss-id=aaaaaaaaaaaaaaaaaaaa\r\nOrigin: null\r\n\r\n",
		"GET /auth/logout.jsv HTTP/1.1\r\nHost: x\r\nX-ss-id: aaaaaaaaaaaaaaaaaaaa\r\nX-Forwarded-For: ,\r\nWant-Digest: sha-256\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(request))
	}
	s := newDemoServer(f)
	f.Fuzz(func(t *testing.T, request []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
		if err != nil {
			t.Skip("net/http answers this")
		}
		r.RemoteAddr = "192.0.2.1:1234"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		checkReply(t, r, w.Result())
	})
}

func checkReply(t *testing.T, r *http.Request, reply *http.Response) {
	t.Helper()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	h := reply.Header
	if reply.StatusCode == 500 || reply.StatusCode == 503 || h.Get("X-Request-Id") == "" ||
		h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("status %d, %v, %s", reply.StatusCode, h, body)
	}
	if length := h.Get("Content-Length"); length != "" && length != fmt.Sprint(len(body)) {
		t.Errorf("Content-Length %s, but %d bytes sent", length, len(body))
	}
	if strings.HasPrefix(h.Get("Content-Type"), "application/json") && h.Get("Content-Encoding") == "" &&
		!json.Valid(body) {
		t.Errorf("%s %s: not JSON: %s", r.Method, r.URL, body)
	}
	if reply.StatusCode >= 400 && len(body) == 0 {
		t.Errorf("%s %s: status %d without a message", r.Method, r.URL, reply.StatusCode)
	}
}
