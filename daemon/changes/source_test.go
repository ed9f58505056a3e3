package changes_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
)

// The fields of the kind Item.
const (
	itemID = iota
	itemAmount
	itemCount
	itemText
	itemChanged
	itemVersion
)

// newKind returns a kind with a key, values, and both sorts of stamps.
func newKind(name string) *record.Kind {
	k := record.Kind{
		Name:    name,
		Capture: record.CaptureAlways,
		Events:  strings.ToLower(name),
		Key:     []string{"ID"},
		Before:  []string{"Amount"},
		Fields: []record.Field{
			{Name: "ID", Type: record.Text}, {Name: "Amount", Type: record.Decimal, Null: true}, {Name: "Count", Type: record.Long},
			{Name: "Text", Type: record.Text, Null: true}, {Name: "ChangedAt", Type: record.DateTime}, {Name: "Version", Type: record.Bytes},
		},
	}
	for i := range k.Fields {
		k.Fields[i].Filter = k.Fields[i].Type.Filter()
	}
	registry, err := record.NewRegistry(k)
	if err != nil {
		panic(err)
	}
	return registry.Kinds()[0]
}

// table is a table that transactions change.
type table struct {
	kind *record.Kind

	mu      sync.Mutex
	rows    map[string][]row.Cell
	version uint64           // the last one assigned
	open    map[uint64]bool  // versions of open transactions
	counts  map[string]int64 // of the changes of each key
	content int

	info       changes.Table
	identity   string
	group      string
	delay      func() time.Duration // of a page, after it was read
	fail       func(r changes.Read) error
	moving     map[string]string // amounts of rows that change while a poll reads them
	away       bool              // the database cannot be identified, once
	limit      int               // of the rows of a page; 0 for none
	reads      int
	identified int
	cells      int
}

func newTable(kind *record.Kind) *table {
	return &table{
		kind:     kind,
		rows:     make(map[string][]row.Cell),
		open:     make(map[uint64]bool),
		counts:   make(map[string]int64),
		identity: "ERP 1",
		info: changes.Table{
			Key:    []int{itemID},
			Fields: []int{itemID, itemAmount, itemCount, itemText, itemChanged},
			Stamp:  -1,
			Rows:   -1,
		},
	}
}

// byTime, and byVersion, have capture poll the table.
func (t *table) byTime() *table {
	t.info.Stamp, t.info.Pollable = itemChanged, true
	return t
}

func (t *table) byVersion() *table {
	t.info.Stamp = itemVersion
	t.info.Pollable = true
	t.info.Version = true
	t.info.Fields = t.info.Fields[:itemChanged]
	return t
}

func text(s string) row.Cell { return row.Cell{Data: []byte(s)} }

// stamps returns the stamps of a change that is made now. The transaction is open until
// its version is removed.
func (t *table) stamps() (at, version row.Cell, number uint64) {
	t.version++
	return text(time.Now().UTC().Format(wire.DateLayout)), row.Cell{Data: binary.BigEndian.AppendUint64(nil, t.version)}, t.version
}

// set writes a row in a transaction that commits at once.
func (t *table) set(key, amount, words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[key]++
	at, version, _ := t.stamps()
	cells := []row.Cell{text(key), text(amount), {Int: t.counts[key]}, text(words), at, version}
	cells[itemAmount].Null = amount == ""
	cells[itemText].Null = words == ""
	t.rows[key] = cells
	t.content++
}

func (t *table) remove(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.rows, key)
	}
	t.content++
}

func (t *table) readCount() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads
}

// all returns the rows by key, as JSON objects of captured fields would have them.
func (t *table) all() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	copied := make(map[string]string)
	for key, cells := range t.rows {
		copied[key] = fmt.Sprintf("%s|%d|%s", cells[itemAmount].Text(record.Decimal), cells[itemCount].Int, cells[itemText].Text(record.Text))
	}
	return copied
}

func (t *table) Table(context.Context, *record.Kind) (changes.Table, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info, nil
}

func (t *table) Database(context.Context) (changes.Database, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.identified++
	if t.away {
		t.away = false
		return changes.Database{}, fault.New(fault.Unavailable, "the server is away")
	}
	d := changes.Database{Identity: t.identity, Group: t.group, Now: time.Now().UTC()}
	if t.info.Version {
		active := t.version + 1
		for v := range t.open {
			active = min(active, v)
		}
		d.Latest, d.Active = binary.BigEndian.AppendUint64(nil, t.version), binary.BigEndian.AppendUint64(nil, active)
	}
	return d, nil
}

// Read reads committed rows. It orders keys without regard to case, as servers do.
func (t *table) Read(ctx context.Context, r changes.Read) (page changes.Page, err error) {
	t.mu.Lock()
	t.reads++
	if t.fail != nil {
		err = t.fail(r)
	}
	if err == nil {
		page = t.read(r)
	}
	delay := t.delay
	t.mu.Unlock()
	if delay != nil {
		time.Sleep(delay())
	}
	if err == nil && ctx.Err() != nil {
		err = fault.Wrap(ctx.Err(), fault.Unavailable, "canceled")
	}
	return page, err
}

func fold(s string) string {
	return strings.ToLower(strings.TrimRight(strings.ReplaceAll(s, "-", ""), " "))
}

func (t *table) read(r changes.Read) (page changes.Page) {
	var list [][]row.Cell
	less := func(a, b []row.Cell) int {
		return cmp.Compare(fold(string(a[itemID].Data)), fold(string(b[itemID].Data)))
	}
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		list = append(list, t.rows[key])
	}
	slices.SortStableFunc(list, less)
	switch {
	case r.Keys != nil:
		wanted := make(map[string]bool)
		for _, key := range r.Keys {
			wanted[fold(string(key[0].Data))] = true
		}
		list = slices.DeleteFunc(list, func(cells []row.Cell) bool { return !wanted[fold(string(cells[itemID].Data))] })
	case r.Since != nil:
		at := t.info.Stamp
		slices.SortStableFunc(list, func(a, b []row.Cell) int { return cmp.Or(bytes.Compare(a[at].Data, b[at].Data), less(a, b)) })
		list = slices.DeleteFunc(list, func(cells []row.Cell) bool {
			c := bytes.Compare(cells[at].Data, r.Since.From.Data)
			if c == 0 && r.Since.Key != nil {
				c = cmp.Compare(fold(string(cells[itemID].Data)), fold(string(r.Since.Key[0].Data)))
				return c <= 0
			}
			return c < 0
		})
	case r.After != nil:
		list = slices.DeleteFunc(list, func(cells []row.Cell) bool {
			return fold(string(cells[itemID].Data)) <= fold(string(r.After[0].Data))
		})
	}
	limit := r.Limit
	if t.limit > 0 { // as if the rows were large
		limit = min(limit, t.limit)
	}
	page.More = len(list) > limit
	for _, cells := range list[:min(limit, len(list))] {
		var picked []row.Cell
		for _, i := range r.Fields {
			picked = append(picked, cells[i])
			t.cells++
		}
		if moved, reading := t.moving[string(cells[itemID].Data)]; reading && r.Since != nil { // read before its change, too
			old := slices.Clone(picked)
			old[itemAmount] = text(moved)
			page.Rows = append(page.Rows, old)
		}
		page.Rows = append(page.Rows, picked)
	}
	return page
}

// writer changes rows of its own in transactions: inserts, updates, deletes and changes of
// keys, of which some are rolled back. Stamps are given at the change, and the commit comes
// up to hold later.
func (t *table) write(random *rand.Rand, writer, transactions int, hold time.Duration) {
	for range transactions {
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		key := fmt.Sprintf("w%d-%d", writer, random.IntN(60))
		t.mu.Lock()
		at, version, number := t.stamps()
		t.open[number] = true
		t.counts[key]++
		cells := []row.Cell{text(key), text(fmt.Sprintf("%d.50", random.IntN(100))), {Int: t.counts[key]}, text("v"), at, version}
		t.mu.Unlock()
		if random.IntN(2) == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(hold))))
		}
		t.mu.Lock()
		switch n := random.IntN(100); {
		case n < 10: // rolled back
		case n < 20:
			delete(t.rows, key)
		case n < 25: // changes the key, if it was there
			if _, exists := t.rows[key]; exists {
				delete(t.rows, key)
				moved := strings.ToUpper(key) + fmt.Sprint(random.IntN(10))
				t.counts[moved]++
				cells[itemID], cells[itemCount] = text(moved), row.Cell{Int: t.counts[moved]}
				t.rows[moved] = cells
			}
		default:
			t.rows[key] = cells
		}
		delete(t.open, number)
		t.content++
		t.mu.Unlock()
	}
}

// sources has a table for each kind; the first one has the clock of the database.
type sources map[string]*table

func (s sources) Table(ctx context.Context, k *record.Kind) (changes.Table, error) {
	return s[k.Name].Table(ctx, k)
}

func (s sources) Read(ctx context.Context, r changes.Read) (changes.Page, error) {
	return s[r.Kind.Name].Read(ctx, r)
}

func (s sources) Database(ctx context.Context) (changes.Database, error) {
	return s["Kind0"].Database(ctx)
}
