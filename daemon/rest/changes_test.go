package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goclient "github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/changes"
	demodata "github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/storage"
)

// feed is a feed of changes in memory. Its tokens are "e-" and a number.
type feed struct {
	mu     sync.Mutex
	bodies []string
	grown  chan struct{} // closed at the next change
	waits  chan struct{} // receives when a reader starts to wait
	rows   int           // given out for copies
	first  bool          // the first look has not ended
}

func newFeed() *feed { return &feed{grown: make(chan struct{}), waits: make(chan struct{}, 10)} }

func (f *feed) add(n int) { f.addLong(n, 0) }

// addLong adds n changes with bodies that are size bytes longer than those of others.
func (f *feed) addLong(n, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	blanks := strings.Repeat(" ", size)
	for range n {
		id := len(f.bodies) + 1
		f.bodies = append(f.bodies, fmt.Sprintf(`{"ChangeID":%d,"Kind":"CR_Classification","Op":"deleted","Key":"K%d","KeyFields":{"RecID":"K%d"},%s"CapturedAt":"2026-11-26T10:00:00.0000000Z"}`, id, id, id, blanks))
	}
	close(f.grown)
	f.grown = make(chan struct{})
}

func (f *feed) Now(context.Context, *record.Kind) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first {
		return "", &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "the first look has not ended",
			RetryAfter: 2 * time.Second,
		}
	}
	return "e-" + strconv.Itoa(len(f.bodies)), nil
}

func (f *feed) Read(ctx context.Context, _ *record.Kind, since string, take int, wait time.Duration) (*changes.Batch, error) {
	var list []changes.Change
	at, err := strconv.Atoi(strings.TrimPrefix(since, "e-"))
	deadline := time.After(wait)
	for {
		f.mu.Lock()
		total, grown := len(f.bodies), f.grown
		if err != nil || at > total {
			f.mu.Unlock()
			return nil, fault.New(fault.Gone, "the token is not one of this service")
		}
		for n := at; n < min(total, at+take); n++ {
			list = append(list, changes.Change{ID: int64(n + 1), Body: []byte(f.bodies[n])})
		}
		f.mu.Unlock()
		if len(list) > 0 || wait == 0 {
			return &changes.Batch{
				Changes:  list,
				Next:     "e-" + strconv.Itoa(at+len(list)),
				LookedAt: lookedAt,
			}, nil
		}
		f.waits <- struct{}{}
		select {
		case <-grown:
		case <-deadline:
			return &changes.Batch{Next: since, LookedAt: lookedAt}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *feed) Copy(_ context.Context, kind *record.Kind, token string) (queries.Copy, error) {
	if !strings.HasPrefix(token, "e-") {
		return nil, fault.New(fault.Gone, "the token is not one of this service")
	}
	return &feedCopy{f, kind}, nil
}

// feedCopy adds a change at its end, as if a row had differed.
type feedCopy struct {
	*feed
	kind *record.Kind
}

// lookedAt is the time of the last look.
var lookedAt = time.Date(2026, 11, 26, 10, 0, 1, 0, time.UTC)

func (f *feed) LookedAt(context.Context, *record.Kind) (time.Time, error) { return lookedAt, nil }

func (f *feed) Fields(_ context.Context, kind *record.Kind) (key, captured []int, err error) {
	for i := range kind.Fields[1:] {
		captured = append(captured, i)
	}
	return []int{0}, captured, nil
}

func (c *feedCopy) Row(_ context.Context, cells []row.Cell) error {
	c.rows++
	if len(cells) != len(c.kind.Fields) {
		return errors.New("not all fields")
	}
	return nil
}

func (c *feedCopy) End(ctx context.Context) (string, error) {
	c.add(1)
	return c.Now(ctx, c.kind)
}

// captures is the state of two captures: one has stopped, the other one runs.
type captures struct {
	resumed []string
}

func (c *captures) List(context.Context) ([]wire.Capture, error) {
	return []wire.Capture{{Kind: "IN_Colours", Phase: "capturing"}, {
		Kind:      "CR_Classification",
		Mode:      record.CaptureOnDemand,
		Phase:     "stopped",
		Reason:    "no rows",
		Manual:    true,
		Lag:       wire.TimeSpan(90 * time.Second),
		Created:   3,
		Deleted:   1,
		SweptRows: 50,
	}}, nil
}

func (c *captures) Resume(_ context.Context, actor audit.Actor, kind *record.Kind, mode string) error {
	if kind.Name != "CR_Classification" {
		return fault.New(fault.Conflict, "the capture of %s has not stopped", kind.Name)
	}
	c.resumed = append(c.resumed, fmt.Sprint(actor.Name, " ", kind.Name, " ", mode))
	return nil
}

// changesFixture is a service with one slot for requests unless the test has another number. Its kinds are captured except
// for DB_Class, and one requires the role writer.
type changesFixture struct {
	client
	server   *rest.Server
	feed     *feed
	captures captures
	reader   string // an API key
}

func startChanges(t *testing.T) *changesFixture {
	t.Helper()
	return startChangesWith(t, 1)
}

// startChangesWith starts a service with a number of slots.
func startChangesWith(t *testing.T, slots int) *changesFixture {
	t.Helper()
	f := &changesFixture{feed: newFeed()}
	var kinds []record.Kind
	for _, kind := range record.Builtin().Kinds() {
		k := *kind
		k.Capture = record.CaptureOnDemand
		if k.Name == "DB_Class" {
			k.Capture = ""
		}
		switch k.Name {
		case "BM_Inputs":
			k.Role = "writer"
		case "CR_Classification":
			k.Key = k.FieldNames()[:1]
		}
		kinds = append(kinds, k)
	}

	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}

	var accounts *account.Service
	server, store := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
		c.Feed = func() (queries.Feed, error) { return f.feed, nil }
		c.Captures = &f.captures
		accounts = c.Accounts
		c.Options = func() *edge.Options { return &edge.Options{Registry: registry} }
		c.Edge.MaxRequests = slots
	})
	kind, _ := record.Builtin().Lookup("CR_Classification")
	if _, err := store.Load(t.Context(), []*record.Kind{kind}, demodata.Rows); err != nil {
		t.Fatal(err)
	}

	f.server = server
	key := func(role account.Role) string {
		key, _, err := accounts.As(audit.System()).AddKey(t.Context(), account.NewKey{
			Name: role.String(),
			Role: role,
		})
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	listener := httptest.NewUnstartedServer(server)
	listener.Config.ConnContext = edge.ConnContext
	listener.Start()
	t.Cleanup(listener.Close)
	f.reader = key(account.Reader)
	f.client = client{t: t, url: listener.URL}.with("Authorization: Bearer " + key(account.Admin))
	return f
}

func TestChanges(t *testing.T) {
	f := startChanges(t)
	f.feed.add(3)
	reader := client{t: t, url: f.url}.with("Authorization: Bearer " + f.reader)
	kind, _ := record.Builtin().Lookup("CR_Classification")
	last := kind.Fields[len(kind.Fields)-1].Name // not captured
	for _, tt := range []struct {
		line, body string
		as         client
		status     int
		contains   string
	}{
		{
			line:     "GET /Queries/CR_Classification/Changes",
			as:       reader,
			status:   200,
			contains: `{"Results":[],"Meta":{"Next":"e-3","LookedAt":"2026-11-26T10:00:01.0000000Z","Key":"CreditorClassificationID","Omitted":"` + last + `"},"ResponseStatus":{}}`,
		},
		{
			line:     "GET /queries/cr_classification/changes/?since=e-1&take=1",
			as:       reader,
			status:   200,
			contains: `"Key":"K2","KeyFields":{"RecID":"K2"},"CapturedAt":"2026-11-26T10:00:00.0000000Z"}],"Meta":{"Next":"e-2",`,
		},
		{
			line:     "GET /Queries/CR_Classification/Changes.ndjson?Since=e-2",
			as:       reader,
			status:   200,
			contains: `"Key":"K3","KeyFields":{"RecID":"K3"},"CapturedAt":"2026-11-26T10:00:00.0000000Z"}` + "\n",
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Since=e-2&jsconfig=eccn",
			as:       reader,
			status:   200,
			contains: `"key":"K3","keyFields":{"recID":"K3"},"capturedAt":"`,
		},
		{
			line:     "POST /json/reply/Changes",
			body:     `{"Kind":"CR_Classification","Since":"e-2"}`,
			as:       reader,
			status:   200,
			contains: `"Meta":{"Next":"e-3","LookedAt":"2026-11-26T10:00:01.0000000Z"}`,
		},
		{line: "GET /json/reply/Changes?Since=e-2", body: "", as: reader, status: 400, contains: "Kind"},
		{
			line:     "GET /json/reply/Changes?Kind=CR_Classificatio",
			as:       reader,
			status:   404,
			contains: "CR_Classification",
		},
		{
			line:     "GET /Queries/CR_Classificatio/Changes",
			as:       reader,
			status:   404,
			contains: "CR_Classification",
		},
		{line: "GET /Queries/WH_Audit/Changes", body: "", as: f.client, status: 404, contains: "WH_Audit"},
		{
			line:   "GET /Queries/CR_Classification/Changes",
			as:     client{t: t, url: f.url},
			status: 401,
		},
		{line: "GET /Queries/BM_Inputs/Changes", body: "", as: reader, status: 403, contains: "writer"},
		{
			line:     "GET /json/reply/Changes?Kind=BM_Inputs",
			as:       reader,
			status:   403,
			contains: "writer",
		},
		{line: "GET /Queries/BM_Inputs/Changes", body: "", as: f.client, status: 200, contains: `"e-3"`},
		{
			line:     "GET /Queries/DB_Class/Changes",
			as:       reader,
			status:   409,
			contains: `capture = \"asked\" under [DB_Class]`,
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Since=e-4",
			as:       reader,
			status:   410,
			contains: `"ResyncRequired"`,
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Since=x",
			as:       reader,
			status:   410,
			contains: `"ResyncRequired"`,
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Wait=61",
			as:       reader,
			status:   400,
			contains: "Wait",
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Take=0",
			as:       reader,
			status:   400,
			contains: "Take",
		},
		{
			line:     "GET /Queries/CR_Classification/Changes?Take=1001",
			as:       reader,
			status:   400,
			contains: "Take",
		},
		{
			line:     "GET /Queries/CR_Classification/Changes.csv",
			as:       reader,
			status:   400,
			contains: "json and ndjson",
		},
		{
			line:     "GET /xml/reply/Changes?Kind=CR_Classification",
			as:       reader,
			status:   400,
			contains: "json and ndjson",
		},
		{line: "POST /Queries/CR_Classification/Changes", body: "{}", as: reader, status: 405, contains: ""},
	} {
		t.Run(tt.line, func(t *testing.T) {
			a := tt.as.do(tt.line, tt.body)
			if a.status != tt.status || !strings.Contains(a.body, tt.contains) {
				t.Errorf("got status %d and %s, want %d with %s", a.status, a.body, tt.status, tt.contains)
			}
		})
	}

	t.Run("headers of NDJSON", func(t *testing.T) {
		a := reader.do("GET /Queries/CR_Classification/Changes?Since=e-0&format=ndjson", "").
			wantHeader(t, wire.HeaderNextToken, "e-3").
			wantHeader(t, wire.HeaderRowCount, "3")
		if lines := strings.Count(a.body, "\n"); lines != 3 {
			t.Errorf("got %d lines, want 3: %s", lines, a.body)
		}
	})

	t.Run("before the end of the first look", func(t *testing.T) {
		f.feed.first = true
		a := reader.do("GET /Queries/CR_Classification/Changes", "")
		a.want(t, 503).wantHeader(t, "Retry-After", "2")
	})
}

// Requests that wait for a change leave the only slot to others, get the change when it
// comes, and end without changes when the service stops.
func TestWaitingForChangesTakesNoSlot(t *testing.T) {
	f := startChanges(t)
	got := make(chan answer, 3)
	wait := func() {
		go func() {
			a, err := f.try("GET /Queries/CR_Classification/Changes?Since=e-0&Wait=60", "")
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		<-f.feed.waits
	}
	wait()
	wait()
	if a := f.do("GET /Queries/CR_Classification?Take=1", ""); a.status != 200 {
		t.Errorf("a query while others wait: %d %s", a.status, a.body)
	}

	f.feed.add(1)
	for range 2 {
		if a := <-got; a.status != 200 || !strings.Contains(a.body, `"Key":"K1"`) {
			t.Errorf("after a change: %d %s", a.status, a.body)
		}
	}

	if a := f.do("GET /Queries/CR_Classification?Take=1", ""); a.status != 200 { // the slot is free again
		t.Errorf("a query after waiting requests: %d %s", a.status, a.body)
	}

	go func() {
		a, err := f.try("GET /Queries/CR_Classification/Changes?Since=e-1&Wait=60", "")
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	<-f.feed.waits
	if err := f.server.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if a := <-got; a.status != 200 || !strings.Contains(a.body, `"Results":[],"Meta":{"Next":"e-1",`) {
		t.Errorf("after the stop: %d %s", a.status, a.body)
	}
}

// A client that goes away ends the wait.
func TestWaitingForChangesEndsWithTheClient(t *testing.T) {
	f := startChanges(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := f.request("GET /Queries/CR_Classification/Changes?Since=e-0&Wait=60", "").WithContext(ctx)
		if reply, err := transport.RoundTrip(r); err == nil {
			reply.Body.Close()
			t.Error("a response without a change")
		}
	}()
	<-f.feed.waits
	cancel()
	<-ended
	if err := f.server.Drain(t.Context()); err != nil { // returns when the request has ended
		t.Error(err)
	}
}

// TestRemovedKeyGetsNoChanges checks that a request that waits gets no records after its API key
// was removed.
func TestRemovedKeyGetsNoChanges(t *testing.T) {
	f := startChanges(t)
	got := make(chan answer, 1)
	reader := client{t: t, url: f.url}.with("Authorization: Bearer " + f.reader)
	go func() {
		a, err := reader.try("GET /Queries/CR_Classification/Changes?Since=e-0&Wait=60", "")
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	<-f.feed.waits
	keys := read[[]wire.APIKey](t, f.do("GET /ApiKeys", "").want(t, 200))
	for _, key := range keys {
		if key.Name == account.Reader.String() {
			f.do("DELETE /ApiKeys/"+key.KeyID, "").want(t, 204)
		}
	}
	f.feed.add(1)
	if a := <-got; a.status != 401 || strings.Contains(a.body, "K1") {
		t.Errorf("a request that waited for changes, without its key: %d %s, want status 401", a.status, a.body)
	}
}

func TestForCopy(t *testing.T) {
	f := startChanges(t)
	total := demodata.Count("CR_Classification")
	for _, tt := range []struct {
		members  string
		status   int
		contains string
	}{
		{"", 200, `"Token":"e-1"`},
		{"&format=ndjson", 200, "\n"},
		{"&OrderBy=CreditorClassificationID", 200, `"Token":"e-3"`},
		{"&Cursor=", 400, "Cursor"},
		{"&format=csv", 400, "json and ndjson"},
		{"&Take=2", 400, "Take"},
		{"&Take=1000000", 400, "Take"},
		{"&Skip=0", 400, "Skip"},
		{"&Fields=CreditorClassificationID", 400, "Fields"},
		{"&Fields=DISTINCT Description", 400, "Fields"},
		{"&GroupBy=CreditorClassificationID&Include=COUNT(*)", 400, "GroupBy"},
		{"&DescriptionStartsWith=A", 400, "DescriptionStartsWith"},
	} {
		f.feed.rows = 0
		a := f.do("GET /Queries/CR_Classification?ForCopy=e-0"+strings.ReplaceAll(tt.members, " ", "%20"), "")
		if a.status != tt.status || !strings.Contains(a.body, tt.contains) {
			t.Errorf("%s: %d %s, want %d with %s", tt.members, a.status, a.body, tt.status, tt.contains)
		}
		if a.status == 200 && f.feed.rows != total {
			t.Errorf("%s: %d rows compared, want %d", tt.members, f.feed.rows, total)
		}
		if strings.Contains(tt.members, "ndjson") && a.http.Trailer.Get(wire.HeaderNextToken) != "e-2" {
			t.Errorf("trailer %v", a.http.Trailer)
		}
	}

	if a := f.do("GET /Queries/CR_Classification?ForCopy=x", ""); a.status != 410 {
		t.Errorf("an unknown token: %d %s", a.status, a.body)
	}
	if a := f.do("GET /Queries/DB_Class?ForCopy=e-0", ""); a.status != 409 {
		t.Errorf("a kind that is not captured: %d %s", a.status, a.body)
	}
}

func TestCaptures(t *testing.T) {
	f := startChanges(t)
	reader := client{t: t, url: f.url}.with("Authorization: Bearer " + f.reader)
	if a := reader.do("GET /Changes", ""); a.status != 403 {
		t.Errorf("the state for a reader: %d", a.status)
	}
	if a := f.do("GET /Changes", ""); a.status != 200 ||
		!strings.Contains(a.body, `"Phase":"stopped","Reason":"no rows","Manual":true`) {
		t.Errorf("GET /Changes: status %d, %s; want the stopped capture", a.status, a.body)
	}

	for line, status := range map[string]int{
		"POST /Changes/CR_Classification/Resume":        204,
		"POST /json/reply/ResumeCapture":                400,
		"POST /Changes/DB_Class/Resume":                 409,
		"POST /Changes/DB_Nothing/Resume":               404,
		"POST /Changes/CR_Classification/Resume?Mode=x": 400,
	} {
		if a := f.do(line, `{"Mode":"silent"}`); a.status != status {
			t.Errorf("%s: %d %s, want %d", line, a.status, a.body, status)
		}
	}

	if a := f.do("POST /json/reply/ResumeCapture", `{"Mode":"raise","Kind":"CR_Classification"}`); a.status != 204 {
		t.Errorf("by name: %d %s", a.status, a.body)
	}

	want := []string{"admin CR_Classification silent", "admin CR_Classification raise"}
	if !slices.Equal(f.captures.resumed, want) {
		t.Errorf("resumed %q, want %q", f.captures.resumed, want)
	}

	metrics := f.do("GET /metrics", "").body
	for _, line := range []string{
		`whd_changes_lag_seconds{kind="CR_Classification"} 90`,
		`whd_changes_total{kind="CR_Classification",op="created"} 3`,
		`whd_changes_total{kind="CR_Classification",op="updated"} 0`,
		`whd_changes_swept_rows_total{kind="CR_Classification"} 50`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// TestResumePages checks that the page of a capture offers to resume it only if it waits for that, and
// shows its state otherwise.
func TestResumePages(t *testing.T) {
	f := startChanges(t)
	const button = "<button class=\"primary\">Resume the capture</button>"
	f.do("GET /Pages/Captures/CR_Classification/Resume", "").want(t, 200).wantText(t, button, "waits for a decision: no rows.")
	for kind, text := range map[string]string{
		"IN_Colours": "no decision is needed. State: capturing.",
		"DB_Class":   "the changes of DB_Class are not captured",
	} {
		path := "/Pages/Captures/" + kind + "/Resume"
		page := f.do("GET "+path, "").want(t, 200).wantText(t, "There is nothing to resume", text)
		refused := f.do("POST "+path, "Mode=silent", formType).want(t, 409).wantText(t, text)
		if strings.Contains(page.body, button) || strings.Contains(refused.body, button) {
			t.Errorf("the page of %s has the button", kind)
		}
	}
	f.do("POST /Pages/Captures/CR_Classification/Resume", "Mode=silent", formType).want(t, 303)
	if len(f.captures.resumed) != 1 {
		t.Errorf("resumed %q, want one", f.captures.resumed)
	}
}

// The Go client loads a copy, follows its changes, and reports that it must load again.
func TestClientFollowsChanges(t *testing.T) {
	f := startChanges(t)
	c, err := goclient.New(goclient.Options{URL: f.url, Token: f.reader})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	kind, _ := record.Builtin().Lookup("CR_Classification")
	var last *goclient.CopyPage
	rows := 0
	for page, err := range c.Copy(t.Context(), kind) {
		if err != nil {
			t.Fatal(err)
		}
		last = page
		rows += len(page.Rows)
	}
	if rows != demodata.Count("CR_Classification") || last.Since != "e-0" || last.Exact != "e-1" ||
		!slices.Equal(last.Key, []string{"CreditorClassificationID"}) {
		t.Fatalf("%d rows, %+v", rows, last)
	}

	token := last.Since
	for page, err := range c.FollowChanges(t.Context(), kind, token) {
		if err != nil {
			t.Fatal(err)
		}
		token = page.Next
		if token == "e-2" {
			if len(page.Changes) != 1 || page.Changes[0].ChangeID != 2 || page.Changes[0].Op != wire.OpDeleted {
				t.Errorf("got the page %+v, want the deletion with ChangeID 2", page)
			}
			break
		}
		go f.feed.add(1)
	}

	if _, err := c.Changes(t.Context(), kind, "e-99", 0, 0); !goclient.Is(err, goclient.ResyncRequired) {
		t.Errorf("an unknown token: %v", err)
	}
}
