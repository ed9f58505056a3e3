package crashtest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver receives what is delivered, at an address for each event. One address
// fails at times.
type receiver struct {
	url string

	mu         sync.Mutex
	conns      int        // connections that are open
	connClosed *sync.Cond // a line was closed
	failing    bool
	acceptedAt map[string][]time.Time // when each message was taken
	bodies     map[string]int         // the addresses at which each event came, as bits
}

// The addresses. Each event goes to its own and to the one for all.
const (
	allEvents    = "all"
	flakyEvent   = "debtor.deleted" // fails at times
	addressCount = 4
)

var addresses = [addressCount]string{allEvents, "debtor.created", "debtor.updated", flakyEvent}

func newReceiver(t *testing.T) *receiver {
	o := &receiver{acceptedAt: make(map[string][]time.Time), bodies: make(map[string]int)}
	o.connClosed = sync.NewCond(&o.mu)
	srv := httptest.NewUnstartedServer(o)
	srv.Config.ConnState = o.connState
	srv.Start()
	t.Cleanup(srv.Close)
	o.url = srv.URL + "/"
	return o
}

func (o *receiver) connState(_ net.Conn, s http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch s {
	case http.StateNew:
		o.conns++
	case http.StateClosed:
		o.conns--
		o.connClosed.Broadcast()
	}
}

// settle waits until everything has come that a daemon sent before it died, and
// gives the time. Lines are accepted in turn, so those before our own are known
// when it is answered.
func (o *receiver) settle(t *testing.T) time.Time {
	t.Helper()
	own := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := own.Get(o.url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.conns > 0 {
		o.connClosed.Wait()
	}
	return time.Now()
}

// ServeHTTP is http.Handler's.
func (o *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the daemon died while it sent this
	}
	address := path.Base(r.URL.Path)
	if r.Method == http.MethodGet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if address == flakyEvent && o.failing {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	id := r.Header.Get("Webhook-Id")
	o.acceptedAt[id] = append(o.acceptedAt[id], time.Now())
	for i, a := range addresses {
		if a == address {
			o.bodies[string(body)] |= 1 << i
		}
	}
}

func (o *receiver) setFailing(broken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failing = broken
}

// has reports whether an event came wherever it goes.
func (o *receiver) has(event string) bool {
	name, _, _ := strings.Cut(event, " ")
	want := 1
	for i, a := range addresses {
		if a == name {
			want |= 1 << i
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bodies[event] == want
}

// duplicates counts the deliveries after a message's first, and among them those
// between which and the one before no daemon was killed.
func (o *receiver) duplicates(kills []time.Time) (all, unexcused int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, times := range o.acceptedAt {
		for i := 1; i < len(times); i++ {
			all++
			if !between(times[i-1], times[i], kills) {
				unexcused++
			}
		}
	}
	return all, unexcused
}

func between(from, to time.Time, moments []time.Time) bool {
	for _, m := range moments {
		if m.After(from) && m.Before(to) {
			return true
		}
	}
	return false
}
