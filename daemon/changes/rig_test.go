package changes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/row"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a capture of one table, in a bubble of package synctest.
type rig struct {
	t      *testing.T
	table  *table
	store  *store
	kind   *record.Kind
	named  atomic.Bool // a subscription names item.deleted
	config changes.Settings
	kinds  []*record.Kind        // nil for kind alone
	source changes.Source        // nil for the table
	before map[string][]row.Cell // rows that revert restores
	log    bytes.Buffer          // output of logger, to be read after synctest.Wait
	logger *slog.Logger          // logger of all daemons

	*changes.Capturer
	feed changes.Feed
	end  func()
}

func newRig(t *testing.T, table *table) *rig {
	r := &rig{t: t, table: table, store: newStore(), kind: table.kind}
	r.logger = slog.New(slog.NewTextHandler(&r.log, nil))
	r.config = changes.Settings{
		Share:   1,
		Sweep:   time.Minute,
		Overlap: 10 * time.Second,
		Keep:    24 * time.Hour,
		MaxSize: 1 << 30,
	}
	return r
}

// start starts a daemon; the returned function ends it. coordinates is nil for always.
func (r *rig) start(coordinates func() bool) (*changes.Capturer, func()) {
	log := r.logger
	if os.Getenv("WHD_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	source := r.source
	if source == nil {
		source = r.table
	}
	c := changes.New(changes.Config{
		Source:    source,
		Store:     r.store,
		Publisher: daemon{r.store, coordinates},
		Log:       log,
		Secret:    []byte("secret"),
		Kinds:     r.allKinds,
		Named:     func(event string) bool { return event == "item.deleted" && r.named.Load() },
		Settings:  func() changes.Settings { return r.config },
	})
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	return c, func() {
		cancel()
		<-done
	}
}

func (r *rig) allKinds() []*record.Kind {
	if r.kinds != nil {
		return r.kinds
	}
	return []*record.Kind{r.kind}
}

// run starts the daemon and waits for the first look.
func (r *rig) run() {
	r.Capturer, r.end = r.start(nil)
	r.feed = changes.Feed{Capturer: r.Capturer}
	r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
}

func (r *rig) restart() {
	r.end()
	r.run()
}

func (r *rig) status() changes.Status {
	if all := r.Status(); len(all) > 0 {
		return all[0]
	}
	return changes.Status{}
}

// stored returns the capture of the kind as it is stored.
func (r *rig) stored() changes.Capture {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.store.kind(r.kind.Name).copied()
}

// until waits for a condition, in the time of the bubble.
func (r *rig) until(event string, ok func() bool) {
	r.t.Helper()
	r.untilEvery(100*time.Millisecond, event, ok)
}

// untilEvery is until with an interval of the checks.
func (r *rig) untilEvery(interval time.Duration, event string, ok func() bool) {
	r.t.Helper()
	for range 1_000_000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(interval)
	}
	r.t.Fatalf("never: %s; %+v", event, r.status())
}

// sweeps lets n sweeps pass that begin from now on.
func (r *rig) sweeps(n int) {
	for range n {
		began := time.Now()
		r.untilEvery(time.Second, "a sweep has ended", func() bool { return r.stored().State.Began.After(began) })
	}
}

// feedChange is a change of the feed.
type feedChange struct {
	id     int64
	op     changes.Op
	key    string
	event  string
	record map[string]any
	before map[string]any
	fields []string
}

func (c feedChange) String() string { return fmt.Sprintf("%s %s %v", c.op, c.key, c.fields) }

// changes returns the changes above an ID.
func (r *rig) changes(after int64) (list []feedChange) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, c := range r.store.kind(r.kind.Name).changes {
		if c.ID <= after {
			continue
		}
		var body struct {
			ChangeID                  int64
			Kind, Op, Key             string
			KeyFields, Record, Before map[string]any
			Changed                   []string
			CapturedAt                time.Time
		}
		d := json.NewDecoder(strings.NewReader(string(c.Body)))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			r.t.Fatalf("%s: %v", c.Body, err)
		}
		isOfChange := body.ChangeID == c.ID && body.Kind == r.kind.Name && body.Op == c.Op && body.Key == c.Key
		if !isOfChange || body.CapturedAt.IsZero() {
			r.t.Errorf("change %d, %s of %q, has the body %s", c.ID, c.Op, c.Key, c.Body)
		}
		list = append(list, feedChange{
			id:     c.ID,
			op:     changes.Op(body.Op),
			key:    body.KeyFields["ID"].(string),
			event:  c.Event,
			record: body.Record,
			before: body.Before,
			fields: body.Changed,
		})
	}
	return list
}

// count returns the number of changes.
func (r *rig) count() int {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return len(r.store.kind(r.kind.Name).changes)
}

// apply applies changes to a copy, which has the form of table.all.
func apply(copied map[string]string, list []feedChange) {
	for _, c := range list {
		if c.op == changes.Deleted {
			delete(copied, c.key)
			continue
		}
		words, _ := c.record["Text"].(string)
		copied[c.key] = fmt.Sprintf("%v|%v|%s", c.record["Amount"], c.record["Count"], words)
	}
}

// load reads all rows, as a reply does, and returns them with the copy.
func (r *rig) load(token string) (map[string]string, *changes.Copy) {
	copied, err := r.feed.Copy(r.t.Context(), r.kind, token)
	if err != nil {
		r.t.Fatal(err)
	}
	loaded := make(map[string]string)
	read := changes.Read{
		Kind:   r.kind,
		Fields: []int{itemID, itemAmount, itemCount, itemText, itemChanged, itemVersion},
		Key:    []int{itemID},
		Limit:  50,
	}
	for {
		page, err := r.table.Read(r.t.Context(), read)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, cells := range page.Rows {
			if err := copied.Row(r.t.Context(), cells); err != nil {
				r.t.Fatal(err)
			}
			loaded[string(cells[itemID].Data)] = values(cells)
			read.After = []row.Cell{cells[itemID]}
		}
		if !page.More {
			return loaded, copied
		}
	}
}

// filled runs a test with n rows.
func filled(t *testing.T, n int, sort func(*table) *table, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		table := sort(newTable(newKind("Item")))
		for i := range n {
			table.set(fmt.Sprintf("k%05d", i), "1.00", "x")
		}
		r := newRig(t, table)
		r.run()
		defer func() { r.end() }()
		test(t, r)
	})
}

// update updates n rows and returns their keys.
func (r *rig) update(n int, amount string) {
	for i := range n {
		r.table.set(fmt.Sprintf("k%05d", i), amount, "x")
	}
}

// swept returns the number of rows that sweeps have read.
func (r *rig) swept() int64 { return r.status().Swept }

// counts counts changes by their operation.
func counts(list []feedChange) map[changes.Op]int {
	n := make(map[changes.Op]int)
	for _, c := range list {
		n[c.op]++
	}
	return n
}

// restartDaemon starts another daemon without waiting for a phase.
func (r *rig) restartDaemon() {
	r.end()
	r.Capturer, r.end = r.start(nil)
	r.feed = changes.Feed{Capturer: r.Capturer}
	r.until("the state is read", func() bool { return r.status().Phase != "" })
}

// sorts are the ways to find changes.
var sorts = map[string]func(*table) *table{
	"sweeps":     func(t *table) *table { return t },
	"time":       (*table).byTime,
	"rowversion": (*table).byVersion,
}

// each runs a test in a bubble with each of the ways, with rows that keys and texts make
// hard.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	for name, sort := range sorts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := sort(newTable(newKind("Item")))
				for i, key := range []string{"b", "c ", "co-op", "", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "é"} {
					table.set(key, fmt.Sprint(i, ".50"), "x")
				}
				table.set("n", "", "")
				r := newRig(t, table)
				r.run()
				defer func() { r.end() }()
				test(t, r)
			})
		})
	}
}

// silent checks that nothing was published.
func (r *rig) silent() {
	r.t.Helper()
	if list := r.changes(0); len(list) > 0 {
		r.t.Errorf("got %d changes, the first is %q, want none", len(list), list[0])
	}
}
