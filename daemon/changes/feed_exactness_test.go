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
	for name, table := range map[string]func() *table{
		"sweeps":     func() *table { return newTable(newKind("Item")) },
		"time":       func() *table { return newTable(newKind("Item")).byTime() },
		"rowversion": func() *table { return newTable(newKind("Item")).byVersion() },
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { exactness(t, table(), seed) })
			})
		}
	}
}

func exactness(t *testing.T, table *table, seed uint64) {
	r := newFaultyRig(t, table, seed)
	end := r.startBoth()
	token := r.firstToken()
	r.startFaults()
	reader := startLaterReader(table)
	writers := startWriters(table, seed)

	copied, loading := r.load(token)
	writers.Wait()
	r.endFaults()
	if _, err := loading.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.sweeps(2)
	naive := reader.stop()
	end()

	checkCountersGrow(t, r.changes(0))
	apply(copied, r.changes(position(t, token)))
	source := table.all()
	compare(t, copied, source)
	if missing := differences(naive, source); missing == 0 {
		t.Error("a reader of later stamps has lost no row: the test proves nothing")
	}
	t.Log(r.count(), "changes,", len(source), "rows")
}

// chances are random decisions of several goroutines.
type chances struct {
	mu     sync.Mutex
	random *rand.Rand
}

// oneIn reports true in one of n calls on average.
func (c *chances) oneIn(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n) == 0
}

// delay returns up to three seconds.
func (c *chances) delay() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.random.Int64N(int64(3 * time.Second)))
}

// faultyRig is a rig with two daemons that take over from each other.
type faultyRig struct {
	*rig
	chances *chances
	second  atomic.Bool // the second of the daemons coordinates
}

func newFaultyRig(t *testing.T, table *table, seed uint64) *faultyRig {
	chances := &chances{random: rand.New(rand.NewPCG(seed, 1))}
	for i := range 200 {
		table.set(fmt.Sprintf("w%d-%d", i%8, i/8), "1.50", "v")
	}
	table.delay = chances.delay
	table.limit = 37
	r := &faultyRig{rig: newRig(t, table), chances: chances}
	r.config.Sweep = 10 * time.Second
	r.store.matching = 1
	return r
}

// startBoth starts the daemons, of which the first one coordinates. The returned function ends
// them.
func (r *faultyRig) startBoth() (end func()) {
	_, endSecond := r.start(r.second.Load)
	first, endFirst := r.start(func() bool { return !r.second.Load() })
	r.Capturer = first
	r.feed.Capturer = first
	return func() {
		endFirst()
		endSecond()
	}
}

// firstToken waits for the first look, and returns the token after it.
func (r *faultyRig) firstToken() (token string) {
	r.until("the first look has ended", func() bool {
		now, err := r.feed.Now(r.t.Context(), r.kind)
		token = now
		return err == nil
	})
	return token
}

// startFaults makes each step of capture fail at times.
func (r *faultyRig) startFaults() {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.store.publish = func() error {
		if r.chances.oneIn(8) {
			r.takeOver()
		}
		return nil
	}
	r.store.published = func() error {
		if r.chances.oneIn(8) {
			return fault.New(fault.Unavailable, "the connection is lost after the commit")
		}
		return nil
	}
	r.store.putting = func() error {
		if r.chances.oneIn(8) {
			return errors.New("killed before the shadow is written")
		}
		return nil
	}
}

// takeOver lets the other daemon coordinate.
func (r *faultyRig) takeOver() {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.second.Store(!r.second.Load())
	r.store.fence++
	r.store.kind("Item").Fence = r.store.fence
}

// endFaults ends the faults, and lets the first daemon coordinate.
func (r *faultyRig) endFaults() {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.store.publish = nil
	r.store.published = nil
	r.store.putting = nil
	if r.second.Load() {
		r.second.Store(false)
		r.store.fence++
	}
}

// startWriters starts transactions that change the table.
func startWriters(table *table, seed uint64) *sync.WaitGroup {
	var writers sync.WaitGroup
	for i := range 8 {
		random := rand.New(rand.NewPCG(seed, uint64(i+2)))
		writers.Go(func() { table.write(random, i, 150, 5*time.Second) })
	}
	return &writers
}

// laterReader reads the rows of a table with later times than the last one that it has seen,
// each second. It loses rows of transactions that commit after a later one.
type laterReader struct {
	table  *table
	last   string
	copied map[string]string
	ended  chan struct{} // closed by stop
	done   chan struct{}
}

func startLaterReader(table *table) *laterReader {
	l := &laterReader{
		table:  table,
		copied: make(map[string]string),
		ended:  make(chan struct{}),
		done:   make(chan struct{}),
	}
	go l.run()
	return l
}

// stop ends the reader and returns its copy of the rows.
func (l *laterReader) stop() map[string]string {
	close(l.ended)
	<-l.done
	return l.copied
}

func (l *laterReader) run() {
	defer close(l.done)
	for {
		l.read()
		select {
		case <-l.ended:
			return
		case <-time.After(time.Second):
		}
	}
}

func (l *laterReader) read() {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	next := l.last
	for key, cells := range l.table.rows {
		changedAt := string(cells[itemChanged].Data)
		if changedAt > l.last {
			l.copied[key] = fmt.Sprintf("%s|%d|%s", cells[itemAmount].Data, cells[itemCount].Int, cells[itemText].Data)
			next = max(next, changedAt)
		}
	}
	l.last = next
}

// checkCountersGrow checks that the changes of each key with a record are in the order of its
// counter.
func checkCountersGrow(t *testing.T, list []feedChange) {
	t.Helper()
	counters := make(map[string]int64)
	for _, c := range list {
		if c.record == nil || c.event == "" {
			continue
		}
		count, err := c.record["Count"].(json.Number).Int64()
		if err != nil {
			t.Fatalf("change %d of %s: %v", c.id, c.key, err)
		}
		if last, ok := counters[c.key]; ok && count <= last {
			t.Errorf("change %d of %s has count %d after %d, want a larger one", c.id, c.key, count, last)
		}
		counters[c.key] = count
	}
}

// compare checks the rows of a copy.
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
