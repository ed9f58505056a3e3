package changes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Writers change a table in transactions, pages are delayed, leases are lost between read
// and commit, daemons are killed between changes and shadow: applied to a copy that was
// loaded in the same time, the feed leads to the source, and per key the counters grow. A reader
// of the rows with later stamps loses some in the same time.
func TestExactness(t *testing.T) {
	for name, sort := range map[string]func(*table) *table{
		"sweeps": func(t *table) *table { return t }, "time": (*table).byTime, "rowversion": (*table).byVersion,
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { exactness(t, sort(newTable(newKind("Item"))), seed) })
			})
		}
	}
}

func exactness(t *testing.T, table *table, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var guard sync.Mutex
	chance := func(n int) bool {
		guard.Lock()
		defer guard.Unlock()
		return random.IntN(n) == 0
	}
	table.delay = func() time.Duration {
		guard.Lock()
		defer guard.Unlock()
		return time.Duration(random.Int64N(int64(3 * time.Second)))
	}
	for i := range 200 {
		table.set(fmt.Sprintf("w%d-%d", i%8, i/8), "1.50", "v")
	}
	r := newRig(t, table)
	r.config.Sweep, table.limit = 10*time.Second, 37
	r.store.matching = 1
	var second atomic.Bool // of the two daemons coordinates
	coordinates := func(i int) func() bool { return func() bool { return second.Load() == (i == 1) } }
	var ends [2]func()
	_, ends[1] = r.start(coordinates(1))
	r.Capturer, ends[0] = r.start(coordinates(0))
	r.feed.Capturer = r.Capturer
	var token string
	r.until("the first look has ended", func() (ok bool) {
		var err error
		token, err = r.feed.Now(t.Context(), r.kind)
		return err == nil
	})
	r.store.mu.Lock()
	r.store.publish = func() error {
		if chance(8) {
			r.store.mu.Lock()
			r.store.fence++
			second.Store(!second.Load())
			fence := r.store.fence
			r.store.kind("Item").Fence = fence // the other one takes over
			r.store.mu.Unlock()
		}
		return nil
	}
	r.store.published = func() error {
		if chance(8) {
			return fault.New(fault.Unavailable, "the connection is lost after the commit")
		}
		return nil
	}
	r.store.putting = func() error {
		if chance(8) {
			return errors.New("killed before the shadow is written")
		}
		return nil
	}
	r.store.mu.Unlock()
	naive, lost := make(map[string]string), make(chan map[string]string)
	stop := make(chan struct{})
	go func() { // a reader of LastSaved > last
		last := ""
		for {
			table.mu.Lock()
			next := last
			for key, cells := range table.rows {
				if at := string(cells[itemChanged].Data); at > last {
					naive[key] = fmt.Sprintf("%s|%d|%s", cells[itemAmount].Data, cells[itemCount].Int, cells[itemText].Data)
					next = max(next, at)
				}
			}
			table.mu.Unlock()
			last = next
			select {
			case <-stop:
				lost <- naive
				return
			case <-time.After(time.Second):
			}
		}
	}()
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() { table.write(rand.New(rand.NewPCG(seed, uint64(i+2))), i, 150, 5*time.Second) })
	}
	copied, c := r.load(token)
	writers.Wait()
	r.store.mu.Lock()
	r.store.publish = nil
	r.store.published = nil
	r.store.putting = nil
	if second.Swap(false) {
		r.store.fence++
	}
	r.store.mu.Unlock()
	if _, err := c.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.sweeps(2)
	close(stop)
	<-lost
	ends[0]()
	ends[1]()

	counters := make(map[string]json.Number)
	list := r.changes(0)
	for _, c := range list {
		if c.record == nil || c.event == "" {
			continue
		}
		count := c.record["Count"].(json.Number)
		last, ok := counters[c.key]
		if ok {
			before, _ := last.Int64()
			after, _ := count.Int64()
			if after <= before {
				t.Errorf("change %d of %s has count %v after %v", c.id, c.key, count, last)
			}
		}
		counters[c.key] = count
	}
	apply(copied, r.changes(position(t, token)))
	source := table.all()
	compare(t, copied, source)
	if missing := differences(naive, source); missing == 0 {
		t.Error("a reader of later stamps has lost no row: the test proves nothing")
	}
	t.Log(len(list), "changes,", len(source), "rows")
}

func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %q, want %q", key, got[key], value)
		}
	}
	for key, value := range got {
		if _, exists := want[key]; !exists {
			t.Errorf("%s is %q, and does not exist", key, value)
		}
	}
}

// differences counts the rows that a copy lacks or has with other values.
func differences(got, want map[string]string) (n int) {
	for key, value := range want {
		if got[key] != value {
			n++
		}
	}
	return n
}

// position returns the ID of the last change before a token.
func position(t *testing.T, token string) (id int64) {
	var epoch string
	if _, err := fmt.Sscanf(token, "%16s-%d", &epoch, &id); err != nil {
		t.Fatal(token, err)
	}
	return id
}
