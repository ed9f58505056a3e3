package client_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// script answers each request with the next of its replies: a status and a body in JSON,
// "rows", a token and rows, "stripped" and rows without trailers, "cut" and rows to abort the
// reply after these, or "close" to close the connection. It records the path, query string and
// token of requests.
type script struct {
	mu       sync.Mutex
	replies  []string
	requests []string
}

// next records a request and returns the reply to it.
func (s *script) next(request string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

// received returns the requests.
func (s *script) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.URL.Path + "?" + r.URL.RawQuery
	var members struct{ ForCopy string }
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&members) // an invalid body has no token
		line += " " + members.ForCopy
	}
	status, body, _ := strings.Cut(s.next(line), " ")
	switch status {
	case "close":
		panic(http.ErrAbortHandler)
	case "rows":
		token, lines, _ := strings.Cut(body, " ")
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount+", "+wire.HeaderNextToken)
		_, _ = w.Write([]byte(lines))
		w.Header().Set(wire.HeaderRowCount, strconv.Itoa(strings.Count(lines, "\n")))
		w.Header().Set(wire.HeaderNextToken, token)
		return
	case "stripped", "cut":
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = w.Write([]byte(body))
		w.(http.Flusher).Flush()
		if status == "cut" {
			panic(http.ErrAbortHandler)
		}
		return
	case "503":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
	case "410":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
	default:
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write([]byte(body))
}

const (
	firstLook = `503 {"ResponseStatus":{"ErrorCode":"ServiceUnavailable","Message":"the first look has not ended"}}`
	tooOld    = `410 {"ResponseStatus":{"ErrorCode":"ResyncRequired","Message":"the token is too old"}}`
)

func TestFollowChangesContinuesAfterLostConnections(t *testing.T) {
	s := &script{replies: []string{
		firstLook,
		`200 {"Results":[],"Meta":{"Next":"e-1"}}`,
		"close",
		firstLook,
		`200 {"Results":[{"ChangeID":2,"Op":"created","KeyFields":{"InvoiceID":"D1"},"Record":{"InvoiceID":"D1","InvoiceTotal":1.50}}],"Meta":{"Next":"e-2"}}`,
		tooOld,
	}}
	c := serve(t, s.ServeHTTP)
	var got []string
	for page, err := range c.FollowChanges(t.Context(), kind(t, "SO_Totals"), "") {
		if err != nil {
			got = append(got, client.KindOf(err).String())
			continue
		}
		got = append(got, page.Next)
		if len(page.Texts) > 0 && (page.Changes[0].ChangeID != 2 || !strings.Contains(string(page.Texts[0]), `"InvoiceTotal":1.50`)) {
			t.Errorf("%+v", page)
		}
	}
	if want := []string{"e-1", "e-2", "resynchronization required"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	first := "/Queries/SO_Totals/Changes?"
	second := "/Queries/SO_Totals/Changes?Since=e-1&Wait=20"
	third := "/Queries/SO_Totals/Changes?Since=e-2&Wait=20"
	if want := []string{first, first, second, second, second, third}; !slices.Equal(s.received(), want) {
		t.Errorf("requests %q, want %q", s.received(), want)
	}
}

// copied is the result of a copy: its rows, the last page, and how it ended.
func copied(t *testing.T, c *client.Client) (rows []string, pages int, last *client.CopyPage, err error) {
	t.Helper()
	for page, err := range c.Copy(t.Context(), kind(t, "SO_Totals")) {
		if err != nil {
			return rows, pages, last, err
		}
		last = page
		pages++
		for _, row := range page.Rows {
			rows = append(rows, row.Text("InvoiceID"))
		}
	}
	return rows, pages, last, nil
}

const startOfCopy = `200 {"Results":[],"Meta":{"Next":"e-1","Key":"InvoiceID","Omitted":"A,B"}}`

func TestCopyIsOneReply(t *testing.T) {
	var lines strings.Builder
	var want []string
	for n := range 12_000 {
		want = append(want, "D"+strconv.Itoa(n))
		lines.WriteString(`{"InvoiceID":"D` + strconv.Itoa(n) + `"}` + "\n")
	}
	for name, replies := range map[string][]string{
		"trailer":             {"rows e-4 " + lines.String()},
		"stripped by a proxy": {"stripped " + lines.String(), "close", `200 {"Results":[],"Meta":{"Next":"e-4"}}`},
	} {
		s := &script{replies: append([]string{firstLook, startOfCopy, "close", firstLook}, replies...)}
		rows, pages, last, err := copied(t, serve(t, s.ServeHTTP))
		if err != nil || !slices.Equal(rows, want) || pages != 3 {
			t.Fatalf("%s: %d rows in %d pages: %v", name, len(rows), pages, err)
		}
		if last.Since != "e-1" || last.Exact != "e-4" || !slices.Equal(last.Key, []string{"InvoiceID"}) || !slices.Equal(last.Omitted, []string{"A", "B"}) {
			t.Errorf("%s: %+v", name, last)
		}
		copying, changes := "/Queries/SO_Totals?format=ndjson e-1", "/Queries/SO_Totals/Changes?"
		if want := []string{changes, changes, copying, copying, copying, changes, changes}; !slices.Equal(s.received(), want[:len(s.received())]) {
			t.Errorf("%s: requests %q, want %q", name, s.received(), want)
		}
	}
}

// A copy of which not all rows arrive is incomplete.
func TestCopyIsIncompleteWithoutItsEnd(t *testing.T) {
	s := &script{replies: []string{startOfCopy, `cut {"InvoiceID":"D1"}` + "\n"}}
	if _, _, last, err := copied(t, serve(t, s.ServeHTTP)); !client.Is(err, client.Incomplete) || last != nil {
		t.Errorf("%+v, %v", last, err)
	}
}

// A service that has never been reached is an error at once.
func TestFollowChangesEndsIfTheServiceIsUnreachable(t *testing.T) {
	c, err := client.New(client.Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	for _, err := range c.FollowChanges(t.Context(), kind(t, "SO_Totals"), "e-1") {
		n++
		if !client.Is(err, client.Unreachable) {
			t.Errorf("change %d: error %v, want that the service is unreachable", n, err)
		}
	}
	if n != 1 {
		t.Errorf("%d items", n)
	}
}
