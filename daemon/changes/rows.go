package changes

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/row"
)

// rows knows the columns of the rows of a kind: how to hash, compare and write them.
type rows struct {
	kind    *record.Kind
	table   Table
	columns []int // the fields that are read
	key     []column
	record  []column          // columns of bodies
	kept    []column          // columns with values that are kept for Before
	stamp   *column           // nil if there is none
	scheme  Scheme            // scheme of new entries
	current *hasher           // hasher of scheme
	older   map[int64]*hasher // hashers of all schemes that entries may have, by number
}

// column is a column of the rows that are read.
type column struct {
	record.Field
	index  int    // index among the fields that are read
	prefix []byte // comma, name and colon
}

// newRows prepares the columns of a kind. columns are the fields of the rows; nil for those
// that capture reads.
func newRows(kind *record.Kind, table Table, columns []int, secret []byte, state *State) *rows {
	captured := capturedFields(kind, table)
	if columns == nil {
		columns = readFields(table, captured)
	}
	r := &rows{kind: kind, table: table, columns: columns}
	for _, i := range table.Key {
		r.key = append(r.key, r.column(i))
	}
	for _, i := range columns {
		if slices.Contains(captured, i) || slices.Contains(table.Key, i) {
			r.record = append(r.record, r.column(i))
		}
	}
	if table.Stamp >= 0 {
		stamp := r.column(table.Stamp)
		r.stamp = &stamp
	}

	r.scheme = r.newScheme(captured, state)
	for _, name := range r.scheme.Kept {
		i, _ := kind.Column(name) // exists
		r.kept = append(r.kept, r.column(i))
	}
	r.prepareHashers(captured, secret, state)
	return r
}

// capturedFields returns the captured fields of a kind.
func capturedFields(kind *record.Kind, table Table) []int {
	var captured []int
	for _, i := range table.Fields {
		name := kind.Fields[i].Name
		if len(kind.CaptureFields) > 0 && !containsName(kind.CaptureFields, name) {
			continue
		}
		if !containsName(kind.Ignore, name) {
			captured = append(captured, i)
		}
	}
	return captured
}

// containsName reports whether a list has the name of a field, in any letter case.
func containsName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// readFields returns the fields that capture reads: the key, the captured ones and the stamp.
func readFields(table Table, captured []int) []int {
	fields := slices.Concat(table.Key, captured)
	if table.Stamp >= 0 {
		fields = append(fields, table.Stamp)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// column returns the column of a field of the kind.
func (r *rows) column(field int) column {
	f := r.kind.Fields[field]
	prefix := []byte{','}
	prefix = appendText(prefix, f.Name)
	prefix = append(prefix, ':')
	return column{Field: f, index: slices.Index(r.columns, field), prefix: prefix}
}

// newScheme returns the scheme of the fields that are hashed and kept.
func (r *rows) newScheme(captured []int, state *State) Scheme {
	compared := slices.Clone(state.Compared)
	isWide := func(name string) bool { return slices.Contains(r.table.Wide, name) }
	compared = slices.DeleteFunc(compared, isWide)
	scheme := schemeOf(r.kind, captured, compared)
	if r.stamp != nil {
		scheme.Stamp = r.stamp.Name
	}
	return scheme
}

// prepareHashers makes a hasher for each scheme of a state. The present scheme keeps its number
// if it is that of the state, and else gets a new one.
func (r *rows) prepareHashers(captured []int, secret []byte, state *State) {
	columnOf := func(field string) int {
		i := slices.Index(r.scheme.Fields, field)
		if i < 0 {
			return -1
		}
		return slices.Index(r.columns, captured[i])
	}
	r.older = make(map[int64]*hasher)
	number := int64(1)
	for n, scheme := range state.Schemes {
		r.older[n] = newHasher(secret, n, scheme, columnOf)
		number = max(number, n+1)
	}
	scheme, ok := state.Schemes[state.Scheme]
	if ok && scheme.equal(r.scheme) {
		number = state.Scheme
	}
	r.current = newHasher(secret, number, r.scheme, columnOf)
	r.older[number] = r.current
}

func (r *rows) types() []record.Type {
	var types []record.Type
	for _, c := range r.key {
		types = append(types, c.Type)
	}
	return types
}

// hasTextKey reports whether keys may differ in letter case only.
func (r *rows) hasTextKey() bool {
	return slices.ContainsFunc(r.key, func(c column) bool { return formOf(c.Type) == texts })
}

// keyOf returns the values of a row's key, which are valid as long as the row.
func (r *rows) keyOf(cells []row.Cell) []row.Cell {
	key := make([]row.Cell, len(r.key))
	for i, c := range r.key {
		key[i] = cells[c.index]
	}
	return key
}

// entry returns the entry of a row, without its number.
func (r *rows) entry(key []byte, cells []row.Cell) Entry {
	e := Entry{Key: key, Scheme: r.current.number}
	e.Hash, e.Fields = r.current.of(cells)
	if r.stamp != nil {
		e.Stamp = stampOf(cells[r.stamp.index], r.stamp.Type)
	}
	if len(r.kept) > 0 {
		e.Kept = appendObject(nil, r.kept, cells)
	}
	return e
}

// unchanged reports whether the entry of a row would be the same. It is fast.
func (r *rows) unchanged(old *Entry, cells []row.Cell) bool {
	if old.Scheme != r.current.number {
		return false
	}
	if len(r.kept) > 0 && !bytes.Equal(old.Kept, appendObject(nil, r.kept, cells)) {
		return false
	}
	if r.stamp != nil && !bytes.Equal(old.Stamp, stampOf(cells[r.stamp.index], r.stamp.Type)) {
		return false
	}
	return r.current.total(cells) == old.Hash
}

// difference is the result of a comparison with an entry.
type difference struct {
	same    bool
	changed []string // nil if unknown
}

// compare compares a row, and the entry made of it, with the entry of the shadow. An entry
// of an unknown scheme counts as the same: it is replaced without an event.
func (r *rows) compare(old, e *Entry, cells []row.Cell) difference {
	h := r.older[old.Scheme]
	if h == nil {
		return difference{same: true}
	}
	total, fields := e.Hash, e.Fields
	if h != r.current {
		total, fields = h.of(cells)
	}
	same, changed := h.compare(old, total, fields)
	return difference{same: same, changed: changed}
}

// hasStampOf reports whether an entry has the scheme and the stamp of a row, so that the row cannot
// have changed since.
func (r *rows) hasStampOf(e *Entry, cells []row.Cell) bool {
	if e == nil || e.Scheme != r.current.number {
		return false
	}
	stamp := stampOf(cells[r.stamp.index], r.stamp.Type)
	return stamp != nil && bytes.Equal(e.Stamp, stamp)
}

// onlyStamp reports whether nothing but the stamp has changed.
func (r *rows) onlyStamp(d difference) bool {
	return r.stamp != nil && len(d.changed) == 1 && d.changed[0] == r.stamp.Name
}

// stampOf returns the value of a stamp, in a form with its order; nil for null.
func stampOf(cell row.Cell, t record.Type) []byte {
	if cell.Null {
		return nil
	}
	if t.Integer() {
		return binary.BigEndian.AppendUint64(nil, uint64(cell.Int))
	}
	return append([]byte{}, cell.Data...)
}

// stampCell is the inverse of stampOf.
func stampCell(stamp []byte, t record.Type) row.Cell {
	if t.Integer() {
		return row.Cell{Int: int64(binary.BigEndian.Uint64(stamp))}
	}
	return row.Cell{Data: stamp}
}

// appendObject appends a JSON object of the values that are not null.
func appendObject(dst []byte, columns []column, cells []row.Cell) []byte {
	start := len(dst)
	for _, c := range columns {
		cell := cells[c.index]
		if cell.Null {
			continue
		}
		dst = append(dst, c.prefix...)
		dst = encode.AppendJSON(dst, c.Type, cell)
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

// body has the parts of the body of a change.
type body struct {
	id         int64
	op         Op
	keyText    string
	key        []row.Cell
	cells      []row.Cell // nil for a deleted row
	changed    []string
	before     []byte // an object; nil if no values are kept
	capturedAt time.Time
}

// appendBody appends the JSON of a body.
func (r *rows) appendBody(dst []byte, b body) []byte {
	dst = append(dst, `{"ChangeID":`...)
	dst = strconv.AppendInt(dst, b.id, 10)
	dst = append(dst, `,"Kind":`...)
	dst = appendText(dst, r.kind.Name)
	dst = append(dst, `,"Op":`...)
	dst = appendText(dst, string(b.op))
	dst = append(dst, `,"Key":`...)
	dst = appendText(dst, b.keyText)
	dst = append(dst, `,"KeyFields":`...)
	dst = r.appendKey(dst, b)
	if b.cells != nil {
		dst = append(dst, `,"Record":`...)
		dst = appendObject(dst, r.record, b.cells)
	}
	if b.op == Updated {
		dst = append(dst, `,"Changed":`...)
		dst = appendTexts(dst, b.changed)
	}
	if b.before != nil && b.op != Created {
		dst = append(dst, `,"Before":`...)
		dst = append(dst, b.before...)
	}
	dst = append(dst, `,"CapturedAt":"`...)
	dst = b.capturedAt.UTC().AppendFormat(dst, wire.DateLayout)
	return append(dst, `Z"}`...)
}

// appendKey appends the object of a key's fields. The cells of a row have the scale of decimals,
// which the encoding of a key lacks.
func (r *rows) appendKey(dst []byte, b body) []byte {
	if b.cells != nil {
		return appendObject(dst, r.key, b.cells)
	}
	columns := slices.Clone(r.key)
	for i := range columns {
		columns[i].index = i
	}
	return appendObject(dst, columns, b.key)
}

// appendText appends a JSON string.
func appendText(dst []byte, s string) []byte {
	return encode.AppendJSON(dst, record.Text, row.Cell{Data: []byte(s)})
}

// appendTexts appends a JSON array of strings.
func appendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, s)
	}
	return append(dst, ']')
}

// widen returns rows of key and stamp as rows of all columns.
func (r *rows) widen(list [][]row.Cell) [][]row.Cell {
	wide := make([][]row.Cell, len(list))
	for i, cells := range list {
		wide[i] = make([]row.Cell, len(r.columns))
		for j, c := range r.key {
			wide[i][c.index] = cells[j]
		}
		wide[i][r.stamp.index] = cells[len(r.key)]
	}
	return wide
}
