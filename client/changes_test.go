package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// script answers each request with the next of its replies, which is one of
//
//	STATUS BODY       a status and a body in JSON
//	rows TOKEN ROWS   rows with the trailers of a complete reply
//	stripped ROWS     rows without trailers
//	cut ROWS          rows after which the connection is lost
//	close             a lost connection without a reply
//
// It records the path, query string and token of requests.
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
	step, body, _ := strings.Cut(s.next(line), " ")
	switch step {
	case "close":
		panic(http.ErrAbortHandler)
	case "rows":
		token, lines, _ := strings.Cut(body, " ")
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount+", "+wire.HeaderNextToken)
		_, _ = io.WriteString(w, lines)
		w.Header().Set(wire.HeaderRowCount, strconv.Itoa(strings.Count(lines, "\n")))
		w.Header().Set(wire.HeaderNextToken, token)
	case "stripped", "cut":
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, body)
		w.(http.Flusher).Flush()
		if step == "cut" {
			panic(http.ErrAbortHandler)
		}
	default:
		status, err := strconv.Atoi(step)
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const (
	firstLook = `503 {"ResponseStatus":{"ErrorCode":"ServiceUnavailable","Message":"the first look has not ended"}}`
	tooOld    = `410 {"ResponseStatus":{"ErrorCode":"ResyncRequired","Message":"the token is too old"}}`
)

func TestFollowChangesContinuesAfterLostConnections(t *testing.T) {
	const change = `{"ChangeID":2,"Op":"created","KeyFields":{"InvoiceID":"D1"},` +
		`"Record":{"InvoiceID":"D1","InvoiceTotal":1.50}}`
	s := &script{replies: []string{
		firstLook,
		`200 {"Results":[],"Meta":{"Next":"e-1"}}`,
		"close",
		firstLook,
		`200 {"Results":[` + change + `],"Meta":{"Next":"e-2"}}`,
		tooOld,
	}}
	c := serve(t, s.ServeHTTP)
	var steps []string // tokens, and kinds of errors
	var changes []wire.Change
	var texts []string
	for page, err := range c.FollowChanges(t.Context(), kind(t, "SO_Totals"), "") {
		if err != nil {
			steps = append(steps, client.KindOf(err).String())
			continue
		}
		steps = append(steps, page.Next)
		changes = append(changes, page.Changes...)
		for _, text := range page.Texts {
			texts = append(texts, string(text))
		}
	}

	if want := []string{"e-1", "e-2", "resynchronization required"}; !slices.Equal(steps, want) {
		t.Errorf("got the tokens and errors %q, want %q", steps, want)
	}
	if len(changes) != 1 || changes[0].ChangeID != 2 {
		t.Errorf("got the changes %+v, want that with the ID 2", changes)
	}
	if !slices.Equal(texts, []string{change}) {
		t.Errorf("got the texts %q, want %s", texts, change)
	}

	first := "/Queries/SO_Totals/Changes?"
	second := "/Queries/SO_Totals/Changes?Since=e-1&Wait=20"
	third := "/Queries/SO_Totals/Changes?Since=e-2&Wait=20"
	want := []string{first, first, second, second, second, third}
	if !slices.Equal(s.received(), want) {
		t.Errorf("sent the requests %q, want %q", s.received(), want)
	}
}

// copied is the result of a copy.
type copied struct {
	ids   []string // InvoiceID of all rows
	pages int
	last  *client.CopyPage
}

// copyAll copies all rows of SO_Totals.
func copyAll(t *testing.T, c *client.Client) (result copied, err error) {
	t.Helper()
	for page, err := range c.Copy(t.Context(), kind(t, "SO_Totals")) {
		if err != nil {
			return result, err
		}
		result.last = page
		result.pages++
		for _, row := range page.Rows {
			result.ids = append(result.ids, row.Text("InvoiceID"))
		}
	}
	return result, nil
}

const startOfCopy = `200 {"Results":[],"Meta":{"Next":"e-1","Key":"InvoiceID","Omitted":"A,B"}}`

func TestCopyIsOneReply(t *testing.T) {
	const rows, pages = 12_000, 3 // of at most 5,000 rows
	var lines strings.Builder
	var want []string
	for n := range rows {
		id := "D" + strconv.Itoa(n)
		want = append(want, id)
		lines.WriteString(`{"InvoiceID":"` + id + `"}` + "\n")
	}
	start := []string{firstLook, startOfCopy, "close", firstLook}
	for name, replies := range map[string][]string{
		"trailer": {"rows e-4 " + lines.String()},

		// The token of the end is read in a request of its own.
		"stripped by a proxy": {
			"stripped " + lines.String(),
			"close",
			`200 {"Results":[],"Meta":{"Next":"e-4"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{replies: slices.Concat(start, replies)}
			got, err := copyAll(t, serve(t, s.ServeHTTP))
			if err != nil {
				t.Fatalf("got error %v after %d rows", err, len(got.ids))
			}
			if !slices.Equal(got.ids, want) || got.pages != pages {
				t.Fatalf("got %d rows in %d pages, want all %d in %d", len(got.ids), got.pages, rows, pages)
			}
			if got.last.Since != "e-1" || got.last.Exact != "e-4" {
				t.Errorf("the tokens are %q and %q, want e-1 and e-4", got.last.Since, got.last.Exact)
			}
			if !slices.Equal(got.last.Key, []string{"InvoiceID"}) {
				t.Errorf("the key is %q, want InvoiceID", got.last.Key)
			}
			if !slices.Equal(got.last.Omitted, []string{"A", "B"}) {
				t.Errorf("the omitted fields are %q, want A and B", got.last.Omitted)
			}

			copying := "/Queries/SO_Totals?format=ndjson e-1"
			changes := "/Queries/SO_Totals/Changes?"
			wantRequests := []string{changes, changes, copying, copying, copying}
			for range replies[1:] {
				wantRequests = append(wantRequests, changes)
			}
			if !slices.Equal(s.received(), wantRequests) {
				t.Errorf("sent the requests %q, want %q", s.received(), wantRequests)
			}
		})
	}
}

// A copy of which not all rows arrive is incomplete.
func TestCopyIsIncompleteWithoutItsEnd(t *testing.T) {
	s := &script{replies: []string{startOfCopy, `cut {"InvoiceID":"D1"}` + "\n"}}
	got, err := copyAll(t, serve(t, s.ServeHTTP))
	wantKind(t, err, client.Incomplete)
	if got.last != nil {
		t.Errorf("got the page %+v, want none", got.last)
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
		wantKind(t, err, client.Unreachable)
	}
	if n != 1 {
		t.Errorf("FollowChanges yields %d items, want one error", n)
	}
}
