package crashtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// receiver is the endpoint of a subscriber. It keeps the events by kind and ChangeID.
type receiver struct {
	url   string
	burst chan struct{} // buffered; an event has arrived after a pause

	mu         sync.Mutex
	last       time.Time // of an event
	events     map[string]map[int64]received
	messages   map[string]string // kind and ChangeID, by webhook-id
	deliveries int
	problems   []string
}

// burstPause is the pause before an event that is the first one of a group of changes.
const burstPause = 20 * time.Millisecond

// received is an event that was received at least once.
type received struct {
	message string // webhook-id
	body    string
	change  wire.Change
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{
		burst:    make(chan struct{}, 1),
		events:   make(map[string]map[int64]received),
		messages: make(map[string]string),
	}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the daemon died while sending
	}
	e := received{message: request.Header.Get("Webhook-Id"), body: string(body)}
	err = json.Unmarshal(body, &e.change)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deliveries++
	r.noteArrival()
	if err != nil {
		r.problems = append(r.problems, err.Error())
		return
	}
	r.add(e)
}

// noteArrival reports an event that arrived after a pause. The caller holds mu.
func (r *receiver) noteArrival() {
	if time.Since(r.last) > burstPause {
		select {
		case r.burst <- struct{}{}:
		default:
		}
	}
	r.last = time.Now()
}

// add keeps an event, and checks that earlier ones with the same ChangeID or the same
// webhook-id are the same. The caller holds mu.
func (r *receiver) add(e received) {
	events := r.events[e.change.Kind]
	if events == nil {
		events = make(map[int64]received)
		r.events[e.change.Kind] = events
	}
	name := e.change.Kind + " " + strconv.FormatInt(e.change.ChangeID, 10)
	first, ok := events[e.change.ChangeID]
	if ok && (first.message != e.message || first.body != e.body) {
		r.problems = append(r.problems, fmt.Sprintf("two events have the ChangeID %s: %s %s and %s %s",
			name, first.message, first.body, e.message, e.body))
	}
	if other := cmp.Or(r.messages[e.message], name); other != name {
		r.problems = append(r.problems,
			fmt.Sprintf("the message %s has the changes %s and %s", e.message, other, name))
	}
	events[e.change.ChangeID] = e
	r.messages[e.message] = name
}

// count returns the number of changes that were received.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.messages)
}

// missing returns the ChangeIDs of a kind up to the last one that were not received.
func (r *receiver) missing(kind string, last int64) (ids []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := int64(1); id <= last; id++ {
		if _, has := r.events[kind][id]; !has {
			ids = append(ids, id)
		}
	}
	return ids
}

// marker returns the last marker of a kind that was received.
func (r *receiver) marker(kind string) (counter int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[kind] {
		if row, err := readRow(e.change.Record); err == nil && row.No == "marker" {
			counter = max(counter, int(row.Counter))
		}
	}
	return counter
}

// erpRow is a row in an event.
type erpRow struct {
	Branch            json.Number
	No                string
	Counter           int64
	Amount            json.Number
	Note              string
	LastSavedDateTime string
}

func readRow(text json.RawMessage) (row erpRow, err error) {
	if text != nil {
		err = json.Unmarshal(text, &row)
	}
	return row, err
}

// history are the results of the events of a kind in their order.
type history struct {
	last      int64
	lost      int
	twice     int // published again
	backwards int // older than the event before
	phantoms  int // of changes that were rolled back
	odd       int // other problems
	rows      contents
	samples   []string // descriptions of problems
}

// problems returns the number of problems of all kinds.
func (h *history) problems() int {
	return h.lost + h.twice + h.backwards + h.phantoms + h.odd
}

// follow applies the events of a kind up to the last one, and checks that each describes
// another state of its row than the one before. dropped are counters that were rolled back.
func (r *receiver) follow(kind string, last int64, dropped map[int64]bool) *history {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &history{last: last, rows: make(contents)}
	rows := make(map[string]erpRow)
	counters := make(map[string]int64)
	for id := int64(1); id <= last; id++ {
		e, ok := r.events[kind][id]
		if !ok {
			h.count(&h.lost, kind, id, "lost")
			continue
		}
		key := string(e.change.KeyFields)
		before, exists := rows[key]
		after, err := readRow(e.change.Record)
		op := e.change.Op
		if err == nil && op == wire.OpDeleted {
			if !exists {
				h.count(&h.twice, kind, id, "deleted again: "+key)
			}
			delete(rows, key)
			continue
		}
		isRepeated := exists && (op == wire.OpCreated || before == after)
		switch {
		case err != nil:
			h.count(&h.odd, kind, id, err.Error())
		case isRepeated:
			h.count(&h.twice, kind, id, op+" again: "+e.body)
		case !exists && op != wire.OpCreated:
			h.count(&h.odd, kind, id, "updated without creation: "+e.body)
		}
		if after.Counter <= counters[key] {
			h.count(&h.backwards, kind, id, "older than the event before: "+e.body)
		}
		if dropped[after.Counter] {
			h.count(&h.phantoms, kind, id, "rolled back: "+e.body)
		}
		rows[key] = after
		counters[key] = max(counters[key], after.Counter)
	}
	h.addRows(rows)
	return h
}

// addRows adds rows in the form in which they are read from the tables.
func (h *history) addRows(rows map[string]erpRow) {
	for _, row := range rows {
		h.rows.add([]string{
			row.Branch.String(),
			row.No,
			strconv.FormatInt(row.Counter, 10),
			cmp.Or(row.Amount.String(), "null"),
			cmp.Or(row.Note, "null"),
			normalStamp(row.LastSavedDateTime),
		})
	}
}

// count counts a problem and describes the first ones.
func (h *history) count(n *int, kind string, id int64, problem string) {
	*n++
	if len(h.samples) < 10 {
		h.samples = append(h.samples, fmt.Sprintf("%s %d: %s", kind, id, problem))
	}
}

// evaluate compares the events with the tables and reports changes that were lost or published twice.
func (r *receiver) evaluate(t *testing.T, m *markers, w *writers, last map[string]int64) {
	t.Helper()
	for _, tb := range m.erp.tables {
		h := r.follow(tb.name, last[tb.name], w.dropped)
		source, err := readContents(m.session, tb.name)
		if err != nil {
			t.Fatal(err)
		}
		d, samples := h.rows.compare(source)
		t.Logf("%s: %d changes, %d lost, %d published twice, %d older than the one before, %d rolled back",
			tb.name, h.last, h.lost, h.twice, h.backwards, h.phantoms)
		t.Logf("%s: of %d rows %d missing, %d extra, %d stale", tb.name, len(source), d.missing, d.extra, d.stale)
		if h.last == 0 {
			t.Errorf("there are no events of %s", tb.name)
		}
		if h.problems() > 0 || d != (differences{}) {
			t.Errorf("the events of %s are not exact:\n%s\n%s",
				tb.name, strings.Join(h.samples, "\n"), strings.Join(samples, "\n"))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%d changes were received in %d deliveries", len(r.messages), r.deliveries)
	for _, problem := range r.problems {
		t.Error(problem)
	}
}
