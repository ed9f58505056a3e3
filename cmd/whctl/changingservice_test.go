package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// changingService is a service with the kind SO_Totals. Its records change with every
// request. It serves its changes and exact copies.
type changingService struct {
	url string

	mu      sync.Mutex
	random  *rand.Rand
	initial map[string]string // records by key, before the first change
	records map[string]string
	log     []change
	epoch   int
	kept    int           // tokens before this position are refused
	still   bool          // the records do not change any more
	cuts    int           // number of next replies with rows that are aborted in the middle
	served  chan struct{} // receives at each request, unless full
}

// change is a change of a record, which is empty after a deletion.
type change struct{ op, key, record string }

func serveChanges(t *testing.T) *changingService {
	s := &changingService{
		random:  rand.New(rand.NewPCG(1, 2)),
		initial: make(map[string]string),
		served:  make(chan struct{}, 1),
	}
	for _, key := range []string{"a", "A", "b ", "b", "Ü", `"'`} {
		s.initial[key] = s.record(key, 0)
	}
	for n := range 6000 { // two pages of a copy
		key := fmt.Sprintf("D%04d", n)
		s.initial[key] = s.record(key, 0)
	}
	s.records = maps.Clone(s.initial)
	server := httptest.NewServer(withoutKinds(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// record returns a version of a record. Some have no Cartage1Total.
func (s *changingService) record(key string, version int) string {
	name, _ := json.Marshal(key)
	if version%3 == 0 {
		return fmt.Sprintf(`{"InvoiceID":%s,"InvoiceTotal":%d.2500}`, name, version)
	}
	return fmt.Sprintf(`{"InvoiceID":%s,"InvoiceTotal":%d.2500,`+
		`"Cartage1Total":12345678901234567890.%04d}`, name, version, version%10_000)
}

// alter changes some records.
func (s *changingService) alter() {
	if s.still {
		return
	}
	keys := slices.Sorted(maps.Keys(s.records))
	for range s.random.IntN(8) {
		c := s.draw(keys)
		if c.op == wire.OpDeleted {
			delete(s.records, c.key)
		} else {
			c.record = s.record(c.key, len(s.log)+1)
			s.records[c.key] = c.record
		}
		s.log = append(s.log, c)
	}
}

// draw returns a random change without its record: of ten, one creates a record with a new key, and
// two delete one of the keys.
func (s *changingService) draw(keys []string) change {
	key := keys[s.random.IntN(len(keys))]
	n := s.random.IntN(10)
	if n == 0 {
		return change{op: wire.OpCreated, key: fmt.Sprintf("N%d", len(s.log))}
	}
	if _, exists := s.records[key]; !exists { // deleted by an earlier change
		return change{op: wire.OpCreated, key: key}
	}
	if n < 3 {
		return change{op: wire.OpDeleted, key: key}
	}
	return change{op: wire.OpUpdated, key: key}
}

// forget makes all tokens so far invalid.
func (s *changingService) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.kept = len(s.log)
}

// stop ends the changes.
func (s *changingService) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.still = true
}

// cutNextLoad makes the next reply with rows end in the middle.
func (s *changingService) cutNextLoad() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts++
}

// token returns the token of a position in the log.
func (s *changingService) token(version int) string { return fmt.Sprintf("%016x-%d", s.epoch, version) }

// at returns the records at a token.
func (s *changingService) at(token string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, position, _ := strings.Cut(token, "-")
	end, _ := strconv.Atoi(position)
	records := maps.Clone(s.initial)
	for _, c := range s.log[:end] {
		if c.record == "" {
			delete(records, c.key)
		} else {
			records[c.key] = c.record
		}
	}
	return records
}

func (s *changingService) serve(w http.ResponseWriter, r *http.Request) {
	select {
	case s.served <- struct{}{}:
	default:
	}
	body := s.answer(w, r)
	for body == "" && r.Context().Err() == nil { // nothing changes: the request waits
		time.Sleep(time.Millisecond)
		body = s.answer(w, r)
	}
	fmt.Fprint(w, body)
}

// answer returns the body of a response, empty for a request that has to wait.
func (s *changingService) answer(w http.ResponseWriter, r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.alter()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/Queries/SO_Totals":
		var members struct{ ForCopy string }
		_ = json.NewDecoder(r.Body).Decode(&members) // an empty token is refused
		if _, ok := s.position(members.ForCopy); !ok {
			return refuseToken(w)
		}
		return s.rows(w)
	case "/Queries/SO_Totals/Changes":
		return s.changes(w, r)
	}
	w.WriteHeader(http.StatusNotFound)
	return `{"ResponseStatus":{"ErrorCode":"NotFound","Message":"no such path"}}`
}

// position returns the position of a token in the log; false if the token is invalid.
func (s *changingService) position(token string) (int, bool) {
	epoch, text, _ := strings.Cut(token, "-")
	n, err := strconv.Atoi(text)
	isCurrent := epoch == fmt.Sprintf("%016x", s.epoch)
	return n, err == nil && isCurrent && n >= s.kept && n <= len(s.log)
}

func refuseToken(w http.ResponseWriter) string {
	w.WriteHeader(http.StatusGone)
	return `{"ResponseStatus":{"ErrorCode":"ResyncRequired","Message":"the token is too old"}}`
}

// changesPage is the maximum number of changes in a response.
const changesPage = 1000

// changes returns a page of changes, or the token of now without a token.
func (s *changingService) changes(w http.ResponseWriter, r *http.Request) string {
	since := r.URL.Query().Get("Since")
	if since == "" {
		return `{"Results":[],"Meta":{"Next":"` + s.token(len(s.log)) + `",` +
			`"Key":"InvoiceID","Omitted":"Cartage3TaxTotal"}}`
	}
	start, ok := s.position(since)
	if !ok {
		return refuseToken(w)
	}
	end := min(len(s.log), start+changesPage)
	if start == end && r.URL.Query().Get("Wait") != "" {
		return ""
	}
	var bodies []string
	for i, c := range s.log[start:end] {
		bodies = append(bodies, c.body(start+i+1))
	}
	return `{"Results":[` + strings.Join(bodies, ",") + `],"Meta":{"Next":"` + s.token(end) + `"}}`
}

// body returns a change with an ID as the service sends it.
func (c change) body(id int) string {
	key, _ := json.Marshal(c.key)
	text := fmt.Sprintf(`{"ChangeID":%d,"Kind":"SO_Totals","Op":"%s","Key":%s,`+
		`"KeyFields":{"InvoiceID":%s}`, id, c.op, key, key)
	if c.record != "" {
		text += `,"Record":` + c.record
	}
	return text + `,"CapturedAt":"2026-11-26T10:00:00.0000000Z"}`
}

// rows returns all records for a copy, with the token in the trailer.
func (s *changingService) rows(w http.ResponseWriter) string {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", wire.HeaderRowCount+", "+wire.HeaderNextToken)
	w.Header().Set(http.TrailerPrefix+wire.HeaderRowCount, strconv.Itoa(len(s.records)))
	w.Header().Set(http.TrailerPrefix+wire.HeaderNextToken, s.token(len(s.log)))
	var rows strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.records)) {
		rows.WriteString(s.records[key] + "\n")
	}
	if s.cuts > 0 {
		s.cuts--
		_, _ = io.WriteString(w, rows.String()[:rows.Len()/2])
		panic(http.ErrAbortHandler)
	}
	return rows.String()
}
