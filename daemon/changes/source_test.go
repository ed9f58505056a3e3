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
			{Name: "ID", Type: record.Text},
			{Name: "Amount", Type: record.Decimal, Null: true},
			{Name: "Count", Type: record.Long},
			{Name: "Text", Type: record.Text, Null: true},
			{Name: "ChangedAt", Type: record.DateTime},
			{Name: "Version", Type: record.Bytes},
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
	counts  map[string]int64 // numbers of changes, by key

	info     changes.Table
	identity string
	group    string
	delay    func() time.Duration       // returns how long a page takes, after it was read
	fail     func(r changes.Read) error // called before each read, with the lock held
	moving   map[string]string          // amounts of rows that change while a poll reads them
	away     bool                       // the database cannot be identified, once
	limit    int                        // maximum number of rows of a page; 0 for no limit

	reads      int // number of calls of Read
	identified int // number of calls of Database
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

// byTime has capture poll the table by stamps of time.
func (t *table) byTime() *table {
	t.info.Stamp = itemChanged
	t.info.Pollable = true
	return t
}

// byVersion has capture poll the table by rowversions.
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
func (t *table) stamps() (changed, version row.Cell, number uint64) {
	t.version++
	changed = text(time.Now().UTC().Format(wire.DateLayout))
	version = row.Cell{Data: rowversion(t.version)}
	return changed, version, t.version
}

func rowversion(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// set writes a row in a transaction that commits at once.
func (t *table) set(key, amount, words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[key]++
	changed, version, _ := t.stamps()
	cells := []row.Cell{text(key), text(amount), {Int: t.counts[key]}, text(words), changed, version}
	cells[itemAmount].Null = amount == ""
	cells[itemText].Null = words == ""
	t.rows[key] = cells
}

func (t *table) remove(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.rows, key)
	}
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
		copied[key] = values(cells)
	}
	return copied
}

// values returns the captured values of a row, as "AMOUNT|COUNT|TEXT".
func values(cells []row.Cell) string {
	amount := cells[itemAmount].Text(record.Decimal)
	return fmt.Sprintf("%s|%d|%s", amount, cells[itemCount].Int, cells[itemText].Text(record.Text))
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
		d.Latest = rowversion(t.version)
		d.Active = rowversion(active)
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

// fold returns a text as the collation of the table compares it: without case, hyphens, and blanks
// at the end.
func fold(s string) string {
	return strings.ToLower(strings.TrimRight(strings.ReplaceAll(s, "-", ""), " "))
}

// foldedKey returns the folded text of a key's value.
func foldedKey(cell row.Cell) string { return fold(string(cell.Data)) }

func (t *table) read(r changes.Read) (page changes.Page) {
	list := t.selected(r)
	limit := r.Limit
	if t.limit > 0 { // as if the rows were large
		limit = min(limit, t.limit)
	}
	page.More = len(list) > limit
	for _, cells := range list[:min(limit, len(list))] {
		var picked []row.Cell
		for _, i := range r.Fields {
			picked = append(picked, cells[i])
		}
		amount, isMoving := t.moving[string(cells[itemID].Data)]
		if isMoving && r.Since != nil { // the poll reads it before its change, too
			old := slices.Clone(picked)
			old[itemAmount] = text(amount)
			page.Rows = append(page.Rows, old)
		}
		page.Rows = append(page.Rows, picked)
	}
	return page
}

// selected returns the rows that a read selects, in its order and without its limit.
func (t *table) selected(r changes.Read) [][]row.Cell {
	var list [][]row.Cell
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		list = append(list, t.rows[key])
	}
	byKey := func(a, b []row.Cell) int { return cmp.Compare(foldedKey(a[itemID]), foldedKey(b[itemID])) }
	slices.SortStableFunc(list, byKey)
	switch {
	case r.Keys != nil:
		wanted := make(map[string]bool)
		for _, key := range r.Keys {
			wanted[foldedKey(key[0])] = true
		}
		return slices.DeleteFunc(list, func(cells []row.Cell) bool { return !wanted[foldedKey(cells[itemID])] })
	case r.Since != nil:
		stamp := t.info.Stamp
		slices.SortStableFunc(list, func(a, b []row.Cell) int {
			return cmp.Or(bytes.Compare(a[stamp].Data, b[stamp].Data), byKey(a, b))
		})
		return slices.DeleteFunc(list, func(cells []row.Cell) bool {
			c := bytes.Compare(cells[stamp].Data, r.Since.From.Data)
			if c == 0 && r.Since.Key != nil {
				return foldedKey(cells[itemID]) <= foldedKey(r.Since.Key[0])
			}
			return c < 0
		})
	case r.After != nil:
		return slices.DeleteFunc(list, func(cells []row.Cell) bool {
			return foldedKey(cells[itemID]) <= foldedKey(r.After[0])
		})
	}
	return list
}

// write changes the rows of one writer in transactions: inserts, updates, deletes and changes of
// keys, of which some are rolled back. A row gets its stamps when it is changed; the commit follows
// within the time hold.
func (t *table) write(random *rand.Rand, writer, transactions int, hold time.Duration) {
	for range transactions {
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		key := fmt.Sprintf("w%d-%d", writer, random.IntN(60))
		t.mu.Lock()
		changed, version, number := t.stamps()
		t.open[number] = true
		t.counts[key]++
		amount := text(fmt.Sprintf("%d.50", random.IntN(100)))
		cells := []row.Cell{text(key), amount, {Int: t.counts[key]}, text("v"), changed, version}
		t.mu.Unlock()

		if random.IntN(2) == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(hold))))
		}
		t.commit(random, key, cells)
		t.mu.Lock()
		delete(t.open, number)
		t.mu.Unlock()
	}
}

// commit writes a row, deletes it, changes its key, or rolls the change back.
func (t *table) commit(random *rand.Rand, key string, cells []row.Cell) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := random.IntN(100); {
	case n < 10: // rolled back
	case n < 20:
		delete(t.rows, key)
	case n < 25:
		if _, exists := t.rows[key]; !exists {
			return
		}
		delete(t.rows, key)
		moved := strings.ToUpper(key) + fmt.Sprint(random.IntN(10))
		t.counts[moved]++
		cells[itemID] = text(moved)
		cells[itemCount] = row.Cell{Int: t.counts[moved]}
		t.rows[moved] = cells
	default:
		t.rows[key] = cells
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
