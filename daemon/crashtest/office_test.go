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

// office receives what is delivered, at an address for each event. One address
// fails at times.
type office struct {
	url string

	mu     sync.Mutex
	lines  int        // connections that are open
	quiet  *sync.Cond // a line was closed
	broken bool
	took   map[string][]time.Time // when each message was taken
	bodies map[string]int         // the addresses at which each event came, as bits
}

// The addresses. Each event goes to its own and to the one for all.
const (
	forAll  = "all"
	flimsy  = "debtor.deleted" // fails at times
	howMany = 4
)

var addresses = [howMany]string{forAll, "debtor.created", "debtor.updated", flimsy}

func openOffice(t *testing.T) *office {
	o := &office{took: make(map[string][]time.Time), bodies: make(map[string]int)}
	o.quiet = sync.NewCond(&o.mu)
	srv := httptest.NewUnstartedServer(o)
	srv.Config.ConnState = o.lineState
	srv.Start()
	t.Cleanup(srv.Close)
	o.url = srv.URL + "/"
	return o
}

func (o *office) lineState(_ net.Conn, s http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch s {
	case http.StateNew:
		o.lines++
	case http.StateClosed:
		o.lines--
		o.quiet.Broadcast()
	}
}

// settle waits until everything has come that a daemon sent before it died, and
// gives the time. Lines are accepted in turn, so those before our own are known
// when it is answered.
func (o *office) settle(t *testing.T) time.Time {
	t.Helper()
	own := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := own.Get(o.url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.lines > 0 {
		o.quiet.Wait()
	}
	return time.Now()
}

// ServeHTTP is http.Handler's.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	if address == flimsy && o.broken {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	id := r.Header.Get("Webhook-Id")
	o.took[id] = append(o.took[id], time.Now())
	for i, a := range addresses {
		if a == address {
			o.bodies[string(body)] |= 1 << i
		}
	}
}

func (o *office) breakDown(broken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = broken
}

// has reports whether an event came wherever it goes.
func (o *office) has(event string) bool {
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

// twice counts the deliveries after a message's first, and among them those
// between which and the one before no daemon was killed.
func (o *office) twice(kills []time.Time) (all, unexcused int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, times := range o.took {
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
