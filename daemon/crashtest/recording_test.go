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

// recordingReceiver receives the deliveries of two daemons and records the start and
// end of each attempt.
type recordingReceiver struct {
	url string
	srv *httptest.Server

	mu       sync.Mutex
	failing  bool
	accepted int
	running  int                   // attempts that have not ended
	changed  *sync.Cond            // signalled when a connection was closed or held, a message accepted, or an attempt has ended
	conns    map[net.Conn]bool     // whether anything was received on them
	records  map[string][]*attempt // by message, in the order of their start
	skewed   int                   // attempts with a timestamp that receivers would reject
}

// attempt is an attempt as seen by the receiver.
type attempt struct {
	address, body  string
	started, ended time.Time // ended is zero while the attempt runs
	accepted       bool
}

// Addresses of the receiver.
const (
	addressPlain   = "plain"   // accepts everything
	addressFailing = "failing" // fails for some messages, temporarily for all
	addressOrdered = "ordered" // fails for some messages
	addressKeyed   = "keyed"   // fails for some messages, temporarily for all of one key
)

// Names of the events that are published concurrently and of those published in order.
const (
	concurrentEvent = "debtor.deleted"
	orderedEvent    = "debtor.updated"
)

// timestampTolerance is the tolerance for timestamps that Standard Webhooks specifies.
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

// drop removes a connection on which no message can be accepted any more.
func (b *recordingReceiver) drop(line net.Conn) {
	delete(b.conns, line)
	b.changed.Broadcast()
}

// settle waits until everything that was sent before has been received, and returns the
// time. Connections are accepted in order, so earlier ones are known when settle's own
// is answered. All of them are closed; a running daemon opens new ones.
func (b *recordingReceiver) settle(t *testing.T) time.Time {
	t.Helper()
	newConnections := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := newConnections.Get(b.url)
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

// idleConnTimeout is how long settle waits for a request on a new connection: a daemon
// may have opened it without using it.
const idleConnTimeout = time.Second

func (b *recordingReceiver) awaited(line net.Conn, beforeTimeout bool) bool {
	used, open := b.conns[line]
	return open && (used || beforeTimeout)
}

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
	b.finish(a, code == http.StatusOK && r.Context().Err() == nil) // otherwise the daemon does not get the response
	if code == noResponse {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
}

// noResponse is not a status: the attempt gets no response.
const noResponse = 0

// begin records an attempt and returns its response.
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
	return b.respond(a)
}

// finish records the end of an attempt before the daemon can know of it.
func (b *recordingReceiver) finish(a *attempt, taken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.ended = time.Now()
	a.accepted = taken
	b.running--
	if taken {
		b.accepted++
	}
	b.changed.Broadcast()
}

// poisonedKey is the key that fails temporarily.
const poisonedKey = "1"

func (b *recordingReceiver) respond(a *attempt) int {
	fails := false
	switch a.address {
	case addressFailing:
		if rand.IntN(50) == 0 {
			return noResponse
		}
		fails = b.failing || rand.IntN(10) == 0
	case addressKeyed:
		isPoisoned := b.failing && publisherOf(a.body) == poisonedKey
		fails = isPoisoned || rand.IntN(30) == 0
	case addressOrdered:
		fails = rand.IntN(30) == 0
	}
	if fails {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// hold waits until the daemon gives up. The message is not accepted, so settle need not
// wait for the connection.
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

// awaitIdle waits until no attempts are running.
func (b *recordingReceiver) awaitIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.running > 0 {
		b.changed.Wait()
	}
}

// await waits until more messages have been accepted. It returns false after a timeout.
func (b *recordingReceiver) await(count int) bool {
	late := time.AfterFunc(recoveryTimeout, b.changed.Broadcast)
	defer late.Stop()
	began := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for want := b.accepted + count; b.accepted < want; b.changed.Wait() {
		if time.Since(began) >= recoveryTimeout {
			return false
		}
	}
	return true
}
