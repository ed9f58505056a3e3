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

// recordingReceiver receives what two daemons deliver, and keeps a record of each attempt
// from its beginning to its end.
type recordingReceiver struct {
	url string
	srv *httptest.Server

	mu       sync.Mutex
	failing  bool
	accepted int
	running  int                   // attempts that have no end yet
	changed  *sync.Cond            // a line was closed or held, something was taken, or nothing is under way
	conns    map[net.Conn]bool     // whether anything has come on them yet
	records  map[string][]*attempt // by message, as they began
	skewed   int                   // attempts whose time stamp receivers would refuse
}

// attempt is what the bureau saw of one.
type attempt struct {
	address, body  string
	started, ended time.Time // the end is zero while it lasts
	accepted       bool
}

// The addresses of the bureau.
const (
	addressPlain   = "plain"   // takes everything
	addressFailing = "failing" // refuses or holds some, and at times all
	addressOrdered = "ordered" // refuses some
)

// toldApart are the names of the events of those who raise them at once and of
// the one who raises them in order.
const (
	concurrentEvent = "debtor.deleted"
	orderedEvent    = "debtor.updated"
)

// timestampTolerance is how far from the receiver's clock Standard Webhooks allows a time
// stamp to be.
const timestampTolerance = 5 * time.Minute

type connKey struct{}

func newRecordingReceiver(t *testing.T) *recordingReceiver {
	b := &recordingReceiver{conns: make(map[net.Conn]bool), records: make(map[string][]*attempt)}
	b.changed = sync.NewCond(&b.mu)
	b.srv = httptest.NewUnstartedServer(b)
	b.srv.Config.ConnState = b.connState
	b.srv.Config.ConnContext = func(ctx context.Context, line net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, line)
	}
	b.srv.Start()
	t.Cleanup(b.srv.Close)
	b.url = b.srv.URL + "/"
	return b
}

func (b *recordingReceiver) connState(line net.Conn, s http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch s {
	case http.StateNew:
		b.conns[line] = false
	case http.StateActive:
		b.conns[line] = true
	case http.StateClosed:
		b.drop(line)
	}
}

// drop is told of a line on which nothing can be taken any more.
func (b *recordingReceiver) drop(line net.Conn) {
	delete(b.conns, line)
	b.changed.Broadcast()
}

// settle waits until everything has come that was sent before, and gives the
// time. Lines are accepted in turn, so those before our own are known when it is
// answered; all of them are closed, and a living daemon makes new ones.
func (b *recordingReceiver) settle(t *testing.T) time.Time {
	t.Helper()
	own := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := own.Get(b.url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	b.mu.Lock()
	before := slices.Collect(maps.Keys(b.conns))
	b.mu.Unlock()
	b.srv.Config.SetKeepAlivesEnabled(false)
	defer b.srv.Config.SetKeepAlivesEnabled(true)
	late := time.Now().Add(idleConnTimeout)
	wake := time.AfterFunc(idleConnTimeout, b.changed.Broadcast)
	defer wake.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range before {
		for b.awaited(line, time.Now().Before(late)) {
			b.changed.Wait()
		}
	}
	return time.Now()
}

// idleConnTimeout is how long settle waits for something to come on a line that is
// new: a daemon may have made it and not need it any more.
const idleConnTimeout = time.Second

func (b *recordingReceiver) awaited(line net.Conn, beforeTimeout bool) bool {
	used, open := b.conns[line]
	return open && (used || beforeTimeout)
}

// ServeHTTP is http.Handler's.
func (b *recordingReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method == http.MethodGet {
		return
	}
	a := &attempt{address: path.Base(r.URL.Path), body: string(body), started: begin}
	code := b.begin(r, a)
	if code == noResponse {
		b.hold(r)
	} else {
		sleepContext(r.Context(), rand.N(20*time.Millisecond))
	}
	b.finish(a, code == http.StatusOK && r.Context().Err() == nil) // else nobody hears of it
	if code == noResponse {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
}

// noResponse is no status: the attempt gets no answer.
const noResponse = 0

// begin enters an attempt and says how it is answered.
func (b *recordingReceiver) begin(r *http.Request, a *attempt) (code int) {
	sent, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || a.started.Sub(time.Unix(sent, 0)).Abs() > timestampTolerance {
		b.skewed++
	}
	id := r.Header.Get("Webhook-Id")
	b.records[id] = append(b.records[id], a)
	b.running++
	return b.respond(a.address)
}

// finish enters the end of an attempt, before the daemon can know of it.
func (b *recordingReceiver) finish(a *attempt, taken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.ended, a.accepted = time.Now(), taken
	if b.running--; taken {
		b.accepted++
	}
	b.changed.Broadcast()
}

func (b *recordingReceiver) respond(address string) int {
	switch {
	case address == addressFailing && rand.IntN(50) == 0:
		return noResponse
	case address == addressFailing && (b.failing || rand.IntN(10) == 0),
		address == addressOrdered && rand.IntN(30) == 0:
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// hold waits until the daemon has had enough. Nothing is taken from it, so
// nobody needs to wait for the line.
func (b *recordingReceiver) hold(r *http.Request) {
	line, _ := r.Context().Value(connKey{}).(net.Conn)
	b.mu.Lock()
	b.drop(line)
	b.mu.Unlock()
	<-r.Context().Done()
}

func sleepContext(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (b *recordingReceiver) setFailing(broken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = broken
}

// awaitIdle waits until nothing is under way.
func (b *recordingReceiver) awaitIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.running > 0 {
		b.changed.Wait()
	}
}

// await waits until so many more were taken. It reports false where that does
// not happen.
func (b *recordingReceiver) await(more int) bool {
	late := time.AfterFunc(recoveryTimeout, b.changed.Broadcast)
	defer late.Stop()
	began := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for want := b.accepted + more; b.accepted < want; b.changed.Wait() {
		if time.Since(began) >= recoveryTimeout {
			return false
		}
	}
	return true
}
