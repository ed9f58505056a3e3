package crashtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

const writerCount = 8

// writer is a program of the ERP. It changes rows of its own branch in transactions, some of
// which are rolled back. It knows its keys, by table and number.
type writer struct {
	erp     *erp
	branch  int
	session session
	numbers int // of keys in each table
	keys    map[string]map[int]string
	counter int64
	stats   *writerStats
}

// writerStats counts the work of all writers.
type writerStats struct {
	mu         sync.Mutex
	committed  int // changes
	deleted    int
	renamed    int            // changes of a key
	dropped    map[int64]bool // counters of changes that were rolled back
	failures   map[string]int // transactions that failed, by error
	rolledBack int
}

// writers are the programs of an ERP.
type writers struct {
	*writerStats
	all    []*writer
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	busy   time.Duration // time that they have run
	began  time.Time
}

// newWriters returns writers with a number of keys for each of them in each table.
func newWriters(t *testing.T, e *erp, numbers int) *writers {
	t.Helper()
	w := &writers{writerStats: &writerStats{dropped: make(map[int64]bool), failures: make(map[string]int)}}
	for branch := range writerCount {
		program := &writer{
			erp:     e,
			branch:  branch,
			session: e.open(t),
			numbers: numbers,
			counter: int64(branch),
			stats:   w.writerStats,
		}
		if err := program.load(); err != nil {
			t.Fatal(err)
		}
		w.all = append(w.all, program)
		t.Cleanup(func() { program.session.Close() })
	}
	t.Cleanup(w.stop)
	return w
}

// start lets the writers write at a rate of changes per second, together.
func (w *writers) start(rate int) {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.began = time.Now()
	for _, program := range w.all {
		w.tasks.Go(func() { program.run(ctx, float64(rate)) })
	}
}

// stop waits for the end of all transactions.
func (w *writers) stop() {
	if w.cancel != nil {
		w.cancel()
		w.tasks.Wait()
		w.busy += time.Since(w.began)
		w.cancel = nil
	}
}

// report describes the work of the writers.
func (w *writers) report(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Logf("%d writers committed %d changes in %v (%.0f per second), of which %d were deletions and %d changed keys",
		writerCount, w.committed, w.busy.Round(time.Second), float64(w.committed)/w.busy.Seconds(), w.deleted, w.renamed)
	t.Logf("%d changes were rolled back, %d transactions failed", w.rolledBack, len(w.failures))
	for text, n := range w.failures {
		t.Logf("%d transactions failed: %s", n, text)
	}
	if w.committed == 0 {
		t.Error("nothing was written")
	}
}

// run runs transactions at a rate of changes per second, which all writers share.
func (w *writer) run(ctx context.Context, rate float64) {
	for ctx.Err() == nil {
		began := time.Now()
		hold := rand.N(w.erp.engine.maxHold)
		n := 1 + int(hold.Seconds()*rate/w.erp.engine.openTransactions)
		if err := w.transaction(ctx, n, hold); err != nil {
			w.fail(err)
		}
		perChange := writerCount / rate * float64(time.Second)
		end := began.Add(time.Duration(float64(n) * perChange))
		pause(ctx, time.Until(end))
	}
}

// transaction commits n changes, or rolls them back, after a time. The time of the changes is
// that before the transaction.
func (w *writer) transaction(ctx context.Context, n int, hold time.Duration) error {
	stamp, err := w.session.now()
	if err != nil {
		return err
	}
	b := &batch{writer: w, stamp: stamp, keys: make(map[string]map[int]string)}
	for name, keys := range w.keys {
		b.keys[name] = maps.Clone(keys)
	}
	from := w.counter
	for range n {
		b.change()
	}
	end := "COMMIT TRANSACTION"
	rollBack := rand.IntN(10) == 0
	if rollBack {
		end = "ROLLBACK TRANSACTION"
	}
	if err := w.session.begin(); err != nil {
		return err
	}
	if err := w.session.exec(b.text.String()); err != nil {
		return err
	}
	pause(ctx, hold)
	if rollBack { // before a reader can see them
		w.stats.drop(from, w.counter)
	}
	if err := w.session.exec(end); err != nil {
		return err
	}
	if !rollBack {
		w.keys = b.keys
		w.stats.commit(n, b)
	}
	return nil
}

// commit counts the n changes of a batch that were committed.
func (s *writerStats) commit(n int, b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed += n
	s.deleted += b.deleted
	s.renamed += b.renamed
}

// drop notes the counters after from, up to to, of changes that are rolled back.
func (s *writerStats) drop(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := from + writerCount; n <= to; n += writerCount {
		s.dropped[n] = true
		s.rolledBack++
	}
}

// fail rolls back and reads the keys again: the transaction may be committed.
func (w *writer) fail(err error) {
	_ = w.session.exec("ROLLBACK TRANSACTION") // it may have ended
	loadErr := w.load()
	w.stats.mu.Lock()
	defer w.stats.mu.Unlock()
	w.stats.failures[fmt.Sprintf("%v; %v", err, loadErr)]++
}

// fill adds rows until most keys are in use. They are not counted.
func (w *writers) fill(t *testing.T) {
	t.Helper()
	const portion = 500
	for _, program := range w.all {
		for n := 0; n < 2*program.numbers*len(program.erp.tables); n += portion {
			if err := program.transaction(t.Context(), portion, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.committed = 0
	w.deleted = 0
	w.renamed = 0
	w.rolledBack = 0
}

// load reads the keys of the branch.
func (w *writer) load() error {
	w.keys = make(map[string]map[int]string)
	for _, tb := range w.erp.tables {
		keys := make(map[int]string)
		query := fmt.Sprintf("SELECT No FROM %s WHERE Branch = %d", tb.name, w.branch)
		err := w.session.query(query, func(row []string) {
			var branch, number int
			if _, err := fmt.Sscanf(strings.ToLower(row[0]), keyFormat, &branch, &number); err == nil {
				keys[number] = row[0]
			}
		})
		if err != nil {
			return err
		}
		w.keys[tb.name] = keys
	}
	return nil
}

// keyFormat is the format of the column No: branch and number. Capital letters make another
// key, which is the same for most servers.
const keyFormat = "branch %d no %d"

// batch is the text of the changes of a transaction.
type batch struct {
	*writer
	stamp   string
	keys    map[string]map[int]string
	text    strings.Builder
	deleted int
	renamed int
}

// change adds a random change: about 10 % are deletions, 5 % change a key, and some do not
// set the time.
func (b *batch) change() {
	name := b.erp.tables[rand.IntN(len(b.erp.tables))].name
	n := rand.IntN(b.numbers)
	keys := b.keys[name]
	key, exists := keys[n]
	b.counter += writerCount
	amount := fmt.Sprintf("'%d.%02d'", rand.IntN(10_000), rand.IntN(100))
	note := fmt.Sprintf("'note %d'", rand.IntN(1000))
	if rand.IntN(10) == 0 {
		amount = "NULL"
		note = "NULL"
	}
	set := fmt.Sprintf("Counter = %d, Amount = %s, Note = %s", b.counter, amount, note)
	where := fmt.Sprintf("WHERE Branch = %d AND No = '%s'", b.branch, key)
	switch p := rand.IntN(100); {
	case !exists:
		keys[n] = fmt.Sprintf(keyFormat, b.branch, n)
		fmt.Fprintf(&b.text,
			"INSERT INTO %s (Branch, No, Counter, Amount, Note, LastSavedDateTime) VALUES (%d, '%s', %d, %s, %s, '%s');\n",
			name, b.branch, keys[n], b.counter, amount, note, b.stamp)
	case p < 11:
		delete(keys, n)
		b.deleted++
		fmt.Fprintf(&b.text, "DELETE FROM %s %s;\n", name, where)
	case p < 17:
		b.renamed++
		renamed := b.rename(keys, n)
		fmt.Fprintf(&b.text, "UPDATE %s SET No = '%s', %s, LastSavedDateTime = '%s' %s;\n",
			name, renamed, set, b.stamp, where)
	case p < 22:
		fmt.Fprintf(&b.text, "UPDATE %s SET %s %s;\n", name, set, where)
	default:
		fmt.Fprintf(&b.text, "UPDATE %s SET %s, LastSavedDateTime = '%s' %s;\n", name, set, b.stamp, where)
	}
}

// rename renames row n to another number if that is free, and else to another case of letters. It
// returns its new key.
func (b *batch) rename(keys map[int]string, n int) string {
	key := keys[n]
	to := rand.IntN(b.numbers)
	if _, taken := keys[to]; taken {
		to = n
	}
	renamed := strings.ToUpper(key)
	if to != n {
		renamed = fmt.Sprintf(keyFormat, b.branch, to)
	} else if renamed == key {
		renamed = strings.ToLower(key)
	}
	delete(keys, n)
	keys[to] = renamed
	return renamed
}

// pause waits for a time, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
