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

// receiver receives deliveries at one address for each event and one for all events.
// One address fails temporarily.
type receiver struct {
	url string

	mu         sync.Mutex
	conns      int        // open connections
	connClosed *sync.Cond // signalled when a connection is closed
	failing    bool
	acceptedAt map[string][]time.Time // times of acceptance, by message
	bodies     map[string]int         // bit set of the addresses that received an event
	keyed      []string               // bodies of events in order by key, as they were first accepted
}

// Addresses. Each event is sent to its own and to the one for all events.
const (
	allEvents    = "all"
	flakyEvent   = "debtor.deleted" // fails temporarily, in order by key
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

// settle waits until everything that a daemon sent before it died has been received,
// and returns the time. Connections are accepted in order, so earlier ones are known
// when settle's own is answered.
func (o *receiver) settle(t *testing.T) time.Time {
	t.Helper()
	newConnections := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := newConnections.Get(o.url)
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

func (o *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the daemon died while sending
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
			if address == flakyEvent && o.bodies[string(body)]&(1<<i) == 0 {
				o.keyed = append(o.keyed, string(body))
			}
			o.bodies[string(body)] |= 1 << i
		}
	}
}

// disordered counts the events that were received in order by key, and those of them that
// were first received after a later event with the same key.
func (o *receiver) disordered() (all, disordered int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	latest := make(map[string]int)
	for _, body := range o.keyed {
		publisher, n := publisherOf(body), sequenceOf(body)
		if n < latest[publisher] {
			disordered++
		}
		latest[publisher] = max(latest[publisher], n)
	}
	return len(o.keyed), disordered
}

func (o *receiver) setFailing(broken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failing = broken
}

// has reports whether an event was received at all its addresses.
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

// duplicates counts the deliveries of messages after their first, and those of them
// with no kill since the previous delivery.
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
