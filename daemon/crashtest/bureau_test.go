package crashtest

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// bureau receives what two daemons deliver, and keeps a record of each attempt
// from its beginning to its end.
type bureau struct {
	url string
	srv *httptest.Server

	mu      sync.Mutex
	broken  bool
	taken   int
	working int                   // attempts that have no end yet
	grown   *sync.Cond            // a line was closed or held, something was taken, or nothing is under way
	lines   map[net.Conn]bool     // whether anything has come on them yet
	records map[string][]*attempt // by message, as they began
	skewed  int                   // attempts whose time stamp receivers would refuse
}

// attempt is what the bureau saw of one.
type attempt struct {
	address, body string
	begin, end    time.Time // the end is zero while it lasts
	taken         bool
}

// The addresses of the bureau.
const (
	plain   = "plain"   // takes everything
	failing = "failing" // refuses or holds some, and at times all
	inOrder = "ordered" // refuses some
)

// toldApart are the names of the events of those who raise them at once and of
// the one who raises them in order.
const (
	ofMany = "debtor.deleted"
	ofOne  = "debtor.updated"
)

// tolerance is how far from the receiver's clock Standard Webhooks allows a time
// stamp to be.
const tolerance = 5 * time.Minute

type lineKey struct{}

func openBureau(t *testing.T) *bureau {
	b := &bureau{lines: make(map[net.Conn]bool), records: make(map[string][]*attempt)}
	b.grown = sync.NewCond(&b.mu)
	b.srv = httptest.NewUnstartedServer(b)
	b.srv.Config.ConnState = b.lineState
	b.srv.Config.ConnContext = func(ctx context.Context, line net.Conn) context.Context {
		return context.WithValue(ctx, lineKey{}, line)
	}
	b.srv.Start()
	t.Cleanup(b.srv.Close)
	b.url = b.srv.URL + "/"
	return b
}

func (b *bureau) lineState(line net.Conn, s http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch s {
	case http.StateNew:
		b.lines[line] = false
	case http.StateActive:
		b.lines[line] = true
	case http.StateClosed:
		b.drop(line)
	}
}

// drop is told of a line on which nothing can be taken any more.
func (b *bureau) drop(line net.Conn) {
	delete(b.lines, line)
	b.grown.Broadcast()
}

// settle waits until everything has come that was sent before, and gives the
// time. Lines are accepted in turn, so those before our own are known when it is
// answered; all of them are closed, and a living daemon makes new ones.
func (b *bureau) settle(t *testing.T) time.Time {
	t.Helper()
	own := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := own.Get(b.url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	b.mu.Lock()
	before := slices.Collect(maps.Keys(b.lines))
	b.mu.Unlock()
	b.srv.Config.SetKeepAlivesEnabled(false)
	defer b.srv.Config.SetKeepAlivesEnabled(true)
	late := time.Now().Add(unusedTime)
	wake := time.AfterFunc(unusedTime, b.grown.Broadcast)
	defer wake.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range before {
		for b.isAwaited(line, time.Now().Before(late)) {
			b.grown.Wait()
		}
	}
	return time.Now()
}

// unusedTime is how long settle waits for something to come on a line that is
// new: a daemon may have made it and not need it any more.
const unusedTime = time.Second

func (b *bureau) isAwaited(line net.Conn, early bool) bool {
	used, open := b.lines[line]
	return open && (used || early)
}

// ServeHTTP is http.Handler's.
func (b *bureau) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method == http.MethodGet {
		return
	}
	a := &attempt{address: path.Base(r.URL.Path), body: string(body), begin: begin}
	code := b.begin(r, a)
	if code == holds {
		b.hold(r)
	} else {
		linger(r.Context(), rand.N(20*time.Millisecond))
	}
	b.finish(a, code == http.StatusOK && r.Context().Err() == nil) // else nobody hears of it
	if code == holds {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
}

// holds is no status: the attempt gets no answer.
const holds = 0

// begin enters an attempt and says how it is answered.
func (b *bureau) begin(r *http.Request, a *attempt) (code int) {
	sent, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || a.begin.Sub(time.Unix(sent, 0)).Abs() > tolerance {
		b.skewed++
	}
	id := r.Header.Get("Webhook-Id")
	b.records[id] = append(b.records[id], a)
	b.working++
	return b.answer(a.address)
}

// finish enters the end of an attempt, before the daemon can know of it.
func (b *bureau) finish(a *attempt, taken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.end, a.taken = time.Now(), taken
	if b.working--; taken {
		b.taken++
	}
	b.grown.Broadcast()
}

func (b *bureau) answer(address string) int {
	switch {
	case address == failing && rand.IntN(50) == 0:
		return holds
	case address == failing && (b.broken || rand.IntN(10) == 0),
		address == inOrder && rand.IntN(30) == 0:
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// hold waits until the daemon has had enough. Nothing is taken from it, so
// nobody needs to wait for the line.
func (b *bureau) hold(r *http.Request) {
	line, _ := r.Context().Value(lineKey{}).(net.Conn)
	b.mu.Lock()
	b.drop(line)
	b.mu.Unlock()
	<-r.Context().Done()
}

func linger(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (b *bureau) breakDown(broken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = broken
}

// rest waits until nothing is under way.
func (b *bureau) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.working > 0 {
		b.grown.Wait()
	}
}

// await waits until so many more were taken. It reports false where that does
// not happen.
func (b *bureau) await(more int) bool {
	late := time.AfterFunc(bound, b.grown.Broadcast)
	defer late.Stop()
	began := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for want := b.taken + more; b.taken < want; b.grown.Wait() {
		if time.Since(began) >= bound {
			return false
		}
	}
	return true
}
