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
	still   bool          // nothing changes
	cuts    int           // replies with rows that are aborted in the middle
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
	return fmt.Sprintf(`{"InvoiceID":%s,"InvoiceTotal":%d.2500,"Cartage1Total":12345678901234567890.%04d}`, name, version, version%10_000)
}

// alter changes some records.
func (s *changingService) alter() {
	if s.still {
		return
	}
	keys := slices.Sorted(maps.Keys(s.records))
	for range s.random.IntN(8) {
		c := change{op: "updated", key: keys[s.random.IntN(len(keys))]}
		_, exists := s.records[c.key]
		n := s.random.IntN(10)
		if n == 0 {
			c.key = fmt.Sprintf("N%d", len(s.log))
			exists = false
		} else if n < 3 && exists {
			c.op = "deleted"
		}
		if !exists {
			c.op = "created"
		}
		if c.op == "deleted" {
			delete(s.records, c.key)
		} else {
			c.record = s.record(c.key, len(s.log)+1)
			s.records[c.key] = c.record
		}
		s.log = append(s.log, c)
	}
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

func (s *changingService) token(at int) string { return fmt.Sprintf("%016x-%d", s.epoch, at) }

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
	w.Header().Set("Content-Type", "application/json")
	defer s.alter()
	members := map[string]any{}
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&members) // an empty object is refused below
	}
	since := r.URL.Query().Get("Since")
	if r.URL.Path == "/Queries/SO_Totals" {
		since, _ = members["ForCopy"].(string)
	} else if r.URL.Path != "/Queries/SO_Totals/Changes" {
		w.WriteHeader(http.StatusNotFound)
		return `{"ResponseStatus":{"ErrorCode":"NotFound","Message":"no such path"}}`
	} else if since == "" {
		return `{"Results":[],"Meta":{"Next":"` + s.token(len(s.log)) + `","Key":"InvoiceID","Omitted":"Cartage3TaxTotal"}}`
	}
	epoch, position, _ := strings.Cut(since, "-")
	at, err := strconv.Atoi(position)
	if err != nil || epoch != fmt.Sprintf("%016x", s.epoch) || at > len(s.log) || at < s.kept {
		w.WriteHeader(http.StatusGone)
		return `{"ResponseStatus":{"ErrorCode":"ResyncRequired","Message":"the token is too old"}}`
	}
	if r.URL.Path == "/Queries/SO_Totals" {
		return s.rows(w)
	}
	var bodies []string
	for n := at; n < min(len(s.log), at+1000); n++ {
		c := s.log[n]
		key, _ := json.Marshal(c.key)
		body := fmt.Sprintf(`{"ChangeID":%d,"Kind":"SO_Totals","Op":"%s","Key":%s,"KeyFields":{"InvoiceID":%s}`, n+1, c.op, key, key)
		if c.record != "" {
			body += `,"Record":` + c.record
		}
		bodies = append(bodies, body+`,"CapturedAt":"2026-11-26T10:00:00.0000000Z"}`)
	}
	if bodies == nil && r.URL.Query().Get("Wait") != "" {
		return ""
	}
	return `{"Results":[` + strings.Join(bodies, ",") + `],"Meta":{"Next":"` + s.token(at+len(bodies)) + `"}}`
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
