package pages

import (
	"crypto/sha256"
	"net/http"
	"sync"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// equalForms serves equal forms one after the other. Users press a button twice: the second form must
// see the state that the first one has changed, see memberState.
type equalForms struct {
	mu     sync.Mutex
	queues map[formKey]*formQueue // of the forms in progress
}

// formKey identifies equal forms: the digest of their address and content.
type formKey [sha256.Size]byte

// formQueue is the queue of equal forms.
type formQueue struct {
	turn   sync.Mutex // held while one of them is served
	length int        // forms that are served, or wait
}

// oneByOne makes the routes of forms serve equal ones one after the other.
func oneByOne(routes []edge.Route) []edge.Route {
	e := equalForms{queues: make(map[formKey]*formQueue)}
	for i := range routes {
		r := &routes[i]
		if r.Methods == http.MethodPost {
			r.Serve = e.inTurn(r.Serve)
		}
	}
	return routes
}

// inTurn returns a handler that waits for its turn among equal forms.
func (e *equalForms) inTurn(serve func(*edge.Context) error) func(*edge.Context) error {
	return func(x *edge.Context) error {
		key := formKey(sha256.Sum256(append([]byte(x.Request.URL.Path+"\n"), x.Body...)))
		q := e.join(key)
		defer e.leave(key)
		q.turn.Lock()
		defer q.turn.Unlock()
		return serve(x)
	}
}

func (e *equalForms) join(key formKey) *formQueue {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[key]
	if q == nil {
		q = new(formQueue)
		e.queues[key] = q
	}
	q.length++
	return q
}

func (e *equalForms) leave(key formKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[key]
	q.length--
	if q.length == 0 {
		delete(e.queues, key)
	}
}
