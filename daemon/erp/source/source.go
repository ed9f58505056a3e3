// Package source reads the ERP's records for the capture of changes.
package source

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Source reads the records, on connections of its own. It implements changes.Source.
type Source struct {
	database
	limits func() executor.Limits
}

// database is a database of a Source.
type database interface {
	executor.Database
	// Database returns the identity and the state of the database: see changes.Source.
	Database(ctx context.Context) (changes.Database, error)
	// facts returns the facts about a kind's table in the catalogue of the database.
	facts(ctx context.Context, kind *record.Kind) (tableFacts, error)
	// Forget removes a kind that is no longer used from caches.
	Forget(kind *record.Kind)
	Close() error
}

// tableFacts are facts about a table.
type tableFacts struct {
	missing    bool              // the table or view does not exist, or may not be read
	long       map[int]bool      // fields of columns that can have more than 8,000 bytes
	wide       map[int]bool      // fields of columns that can have more than 4 KiB
	denied     map[int]string    // why fields cannot be read
	leading    []string          // first columns of indexes
	version    bool              // the stamp field is a rowversion
	foreign    bool              // the table is in another database, which has its own rowversions
	unbounded  bool              // the server has no MIN_ACTIVE_ROWVERSION(), which rowversions need
	stored     bool              // see changes.Table
	rows       int64             // see changes.Table
	content    string            // see changes.Table
	collations map[string]string // see changes.Table
}

// maxCompared is the size of the values that conditions may compare, in bytes.
const maxCompared = 4 << 10

// New returns the source of the records; zone is the time zone of their times.
func New(r *erp.Records, zone *time.Location) (*Source, error) {
	if r.OnServer() {
		opened, err := r.OpenServerCapture()
		if err != nil {
			return nil, err
		}
		return &Source{database: &server{Server: opened}, limits: r.Limits}, nil
	}
	opened, err := r.OpenFileCapture()
	if err != nil {
		return nil, err
	}
	return &Source{database: &file{File: opened, zone: zone}, limits: r.Limits}, nil
}

func (s *Source) Table(ctx context.Context, kind *record.Kind) (changes.Table, error) {
	t := changes.Table{Stamp: -1}
	facts, err := s.facts(ctx, kind)
	if err != nil {
		return t, judgeNothing(err)
	}
	if facts.missing {
		const message = " does not exist, or may not be read; run whd check for details"
		return t, executor.Unavailable(nil, "the table or view of "+kind.Name+message)
	}
	t.Key, err = executor.Key(ctx, s, kind)
	if err != nil {
		return t, judgeNothing(err)
	}
	for field, f := range kind.Fields {
		if reason := facts.omits(kind, field, t.Key); reason != "" {
			t.Omitted = append(t.Omitted, f.Name+": "+reason)
		} else {
			t.Fields = append(t.Fields, field)
		}
		if facts.wide[field] {
			t.Wide = append(t.Wide, f.Name)
		}
	}
	if stamp, ok := kind.Column(kind.Stamp); ok && facts.denied[stamp] == "" {
		leads := func(column string) bool { return strings.EqualFold(column, kind.Fields[stamp].ColumnName()) }
		t.Stamp = stamp
		t.Version = facts.version
		t.Obstacle = facts.obstacle(slices.ContainsFunc(facts.leading, leads), kind.Stamp)
		t.Pollable = t.Obstacle == ""
	}
	t.Content = facts.content
	t.Rows = facts.rows
	t.Stored = facts.stored
	t.Collations = facts.collations
	return t, nil
}

// wideTimeout limits the look-up of a table for WideFields.
const wideTimeout = 30 * time.Second

// WideFields returns the fields of a kind that conditions cannot name, by the columns of its
// table.
func (s *Source) WideFields(kind *record.Kind) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wideTimeout)
	defer cancel()
	table, err := s.Table(ctx, kind)
	return table.Wide, err
}

// obstacle returns why rows cannot be polled by a stamp, empty if they can.
func (f tableFacts) obstacle(indexed bool, stamp string) string {
	if !indexed {
		return "no index starts with " + stamp
	}
	if f.version && f.foreign {
		return "the table is in another database, which has its own rowversions"
	}
	if f.version && f.unbounded {
		return "the server has no " + boundOfVersions
	}
	return ""
}

// omits returns why a field is not captured, empty if it is. The fields of the key always
// are.
func (f tableFacts) omits(kind *record.Kind, field int, key []int) string {
	isNamedIn := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.EqualFold(name, kind.Fields[field].Name)
		})
	}
	switch {
	case f.denied[field] != "":
		return f.denied[field]
	case isNamedIn(kind.CaptureFields), slices.Contains(key, field):
		return ""
	case isNamedIn(kind.Ignore):
		return "it is in ignore"
	case kind.CaptureFields != nil:
		return "it is not in capture_fields"
	case kind.Fields[field].Type == record.Bytes:
		return "it is byte[]"
	case f.long[field]:
		return "its column can hold more than 8,000 bytes"
	}
	return ""
}

// maxKeyValues is the number of values in the statement of a look-up.
const maxKeyValues = 2000

// Read reads a page, or the rows of a look-up. A page may end with the second of two rows with the
// same key, so that the capture notices them. All rows of a look-up are read, of any size.
func (s *Source) Read(ctx context.Context, r changes.Read) (changes.Page, error) {
	if r.Keys != nil {
		return s.lookUpAll(ctx, r)
	}
	return s.readPage(ctx, r)
}

// lookUpAll reads the rows with the keys of a look-up.
func (s *Source) lookUpAll(ctx context.Context, r changes.Read) (changes.Page, error) {
	var rows arena
	add := func(cells []row.Cell) bool {
		rows.add(cells)
		return true
	}
	for keys := range slices.Chunk(r.Keys, maxKeyValues/len(r.Key)) {
		err := s.each(ctx, lookUp(r, keys), add)
		if err != nil {
			return changes.Page{}, err
		}
	}
	return changes.Page{Rows: rows.rows}, nil
}

// readPage reads a page of a sweep or a poll.
func (s *Source) readPage(ctx context.Context, r changes.Read) (page changes.Page, err error) {
	plan := pageOf(r)
	var key []int // columns of the key's fields
	for _, field := range r.Key {
		key = append(key, slices.Index(r.Fields, field))
	}

	var rows arena
	err = s.each(ctx, plan, func(cells []row.Cell) bool {
		n := len(rows.rows)
		isFull := n+1 == int(plan.Take) || rows.size > changes.MaxBytes
		if !isFull || sameKey(cells, rows.rows[n-1], key) {
			rows.add(cells)
		}
		page.More = isFull
		return !isFull
	})
	page.Rows = rows.rows
	return page, err
}

// lookUp returns the plan for the rows with keys.
func lookUp(r changes.Read, keys [][]row.Cell) *query.Plan {
	where := query.MatchKeys(r.Kind, r.Key, positions(r.Kind, r.Key, keys...))
	return &query.Plan{Kind: r.Kind, Columns: r.Fields, Where: []query.Condition{where}, Take: query.NoTake}
}

// pageOf returns the plan for a page of a sweep or a poll. The last of its rows is read only
// to see whether there are more: a larger plan would be one for a large page, see
// the numbers of rows in package query.
func pageOf(r changes.Read) *query.Plan {
	plan := &query.Plan{Kind: r.Kind, Columns: r.Fields, Take: int64(max(r.Limit, 2))}
	order := r.Key
	after := r.After
	if r.Since != nil {
		stamp, _ := r.Kind.Column(r.Kind.Stamp) // exists
		order, after = stampOrder(r, stamp)
		if r.Since.Key == nil {
			from := query.PositionOf(r.Since.From, r.Kind.Fields[stamp])
			plan.Where = []query.Condition{from.Compare(r.Kind, stamp, record.GreaterThanOrEqualTo)}
		}
	}
	plan.Place = query.KeyPlace(r.Kind, order, positions(r.Kind, order, after)[0])
	plan.Order = plan.Place.Order
	return plan
}

// stampOrder returns the order of a poll, by the stamp and the rest of the key, and the values of
// the row that it follows; nil if it starts with a stamp.
func stampOrder(r changes.Read, stamp int) (order []int, after []row.Cell) {
	order = []int{stamp}
	followsRow := r.Since.Key != nil
	if followsRow {
		after = []row.Cell{r.Since.From}
	}
	for i, field := range r.Key {
		if field == stamp {
			continue
		}
		order = append(order, field)
		if followsRow {
			after = append(after, r.Since.Key[i])
		}
	}
	return order, after
}

// each calls add for the rows of a plan until it returns false.
func (s *Source) each(ctx context.Context, plan *query.Plan, add func([]row.Cell) bool) error {
	result, err := executor.Select(ctx, s, s.limits, plan)
	if err != nil {
		return judgeNothing(err)
	}
	defer result.Close()
	for {
		cells, err := result.Next()
		if err != nil || cells == nil || !add(cells) {
			return judgeNothing(err)
		}
	}
}

// judgeNothing returns the error of a read after which nothing is known about the rows: the
// statement may have waited for a row that is locked.
func judgeNothing(err error) error {
	if fault.Is(err, fault.Timeout) {
		return executor.Unavailable(err, "a read of changes exceeded its time limit")
	}
	return executor.Classify(err)
}

// positions returns the values of rows for a plan, nil for nil. fields are those of the cells.
func positions(kind *record.Kind, fields []int, rows ...[]row.Cell) [][]query.Position {
	list := make([][]query.Position, len(rows))
	for i, cells := range rows {
		for j, c := range cells {
			list[i] = append(list[i], query.PositionOf(c, kind.Fields[fields[j]]))
		}
	}
	return list
}

// sameKey reports whether two rows have the same values in some columns.
func sameKey(a, b []row.Cell, columns []int) bool {
	for _, i := range columns {
		sameValue := a[i].Int == b[i].Int && bytes.Equal(a[i].Data, b[i].Data)
		if a[i].Null != b[i].Null || a[i].Class != b[i].Class || !sameValue {
			return false
		}
	}
	return true
}

// arena holds copies of rows. It takes memory in blocks, each twice as large as the one
// before, so that a page takes few allocations and a row little memory.
type arena struct {
	rows  [][]row.Cell
	cells []row.Cell // the current block
	data  []byte     // the current block
	size  int        // bytes of all values
}

// The sizes of the largest blocks.
const (
	maxBlockRows = 512
	maxBlockData = 64 << 10
)

// add copies a row.
func (a *arena) add(cells []row.Cell) {
	if cap(a.cells)-len(a.cells) < len(cells) {
		blockRows := min(maxBlockRows, max(8, 2*len(a.rows)))
		a.cells = make([]row.Cell, 0, len(cells)*blockRows)
	}
	start := len(a.cells)
	a.cells = append(a.cells, cells...)
	copied := a.cells[start:len(a.cells):len(a.cells)]
	for i, c := range cells {
		a.size += 8 // of a number
		if len(c.Data) > 0 && !c.Null {
			copied[i].Data = a.copyData(c.Data)
			a.size += len(c.Data)
		}
	}
	a.rows = append(a.rows, copied)
}

// copyData copies bytes into a block.
func (a *arena) copyData(data []byte) []byte {
	if cap(a.data)-len(a.data) < len(data) {
		blockSize := min(maxBlockData, max(1024, 2*cap(a.data)))
		a.data = make([]byte, 0, max(len(data), blockSize))
	}
	start := len(a.data)
	a.data = append(a.data, data...)
	return a.data[start:len(a.data):len(a.data)]
}
