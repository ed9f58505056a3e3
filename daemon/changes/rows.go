package changes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
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
	record  []column // of bodies
	kept    []column
	stamp   *column // nil if there is none
	scheme  Scheme
	current *hasher
	older   map[int64]*hasher
}

// column is a column of the rows that are read.
type column struct {
	record.Field
	at     int
	prefix []byte // comma, name and colon
}

// newRows prepares the columns of a kind. columns are the fields of the rows; nil for those
// that capture reads. Of the schemes of a state, number is that of the present fields; it
// is a new one if none has them.
func newRows(kind *record.Kind, table Table, columns []int, secret []byte, state *State) *rows {
	r := &rows{kind: kind, table: table, columns: columns, older: make(map[int64]*hasher)}
	named := func(list []string, i int) bool {
		return slices.ContainsFunc(list, func(name string) bool { return strings.EqualFold(name, kind.Fields[i].Name) })
	}
	var captured []int
	for _, i := range table.Fields {
		if (len(kind.CaptureFields) == 0 || named(kind.CaptureFields, i)) && !named(kind.Ignore, i) {
			captured = append(captured, i)
		}
	}
	if columns == nil {
		r.columns = slices.Concat(table.Key, captured)
		if table.Stamp >= 0 {
			r.columns = append(r.columns, table.Stamp)
		}
		slices.Sort(r.columns)
		r.columns = slices.Compact(r.columns)
	}
	columnOf := func(i int) column {
		prefix := append(encode.AppendJSON([]byte{','}, record.Text, row.Cell{Data: []byte(kind.Fields[i].Name)}), ':')
		return column{kind.Fields[i], slices.Index(r.columns, i), prefix}
	}
	for _, i := range table.Key {
		r.key = append(r.key, columnOf(i))
	}
	for _, i := range r.columns {
		if slices.Contains(captured, i) || slices.Contains(table.Key, i) {
			r.record = append(r.record, columnOf(i))
		}
	}
	if table.Stamp >= 0 {
		stamp := columnOf(table.Stamp)
		r.stamp = &stamp
	}
	compared := slices.DeleteFunc(slices.Clone(state.Compared), func(name string) bool { return slices.Contains(table.Wide, name) })
	r.scheme = schemeOf(kind, captured, compared)
	if r.stamp != nil {
		r.scheme.Stamp = r.stamp.Name
	}
	for _, name := range r.scheme.Kept {
		i, _ := kind.Column(name) // exists
		r.kept = append(r.kept, columnOf(i))
	}
	at := func(field string) int {
		if i := slices.Index(r.scheme.Fields, field); i >= 0 {
			return slices.Index(r.columns, captured[i])
		}
		return -1
	}
	number := int64(1)
	for n, s := range state.Schemes {
		r.older[n] = newHasher(secret, n, s, at)
		number = max(number, n+1)
	}
	if s, known := state.Schemes[state.Scheme]; known && s.equal(r.scheme) {
		number = state.Scheme
	}
	r.current = newHasher(secret, number, r.scheme, at)
	r.older[number] = r.current
	return r
}

func (r *rows) types() (types []record.Type) {
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
		key[i] = cells[c.at]
	}
	return key
}

// entry returns the entry of a row, without its number.
func (r *rows) entry(key []byte, cells []row.Cell) Entry {
	e := Entry{Key: key, Scheme: r.current.number}
	e.Hash, e.Fields = r.current.of(cells)
	if r.stamp != nil {
		e.Stamp = stampOf(cells[r.stamp.at], r.stamp.Type)
	}
	if len(r.kept) > 0 {
		e.Kept = appendObject(nil, r.kept, cells)
	}
	return e
}

// unchanged reports whether the entry of a row would be the same. It is fast.
func (r *rows) unchanged(old *Entry, cells []row.Cell) bool {
	if old.Scheme != r.current.number || len(r.kept) > 0 && !bytes.Equal(old.Kept, appendObject(nil, r.kept, cells)) {
		return false
	}
	if r.stamp != nil && !bytes.Equal(old.Stamp, stampOf(cells[r.stamp.at], r.stamp.Type)) {
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
func (r *rows) compare(old, e *Entry, cells []row.Cell) (d difference) {
	h := r.older[old.Scheme]
	switch {
	case h == nil:
		d.same = true
	case h == r.current:
		d.same, d.changed = h.compare(old, e.Hash, e.Fields)
	default:
		total, fields := h.of(cells)
		d.same, d.changed = h.compare(old, total, fields)
	}
	return d
}

// onlyStamp reports whether nothing but the stamp has changed.
func (r *rows) onlyStamp(d difference) bool {
	return r.stamp != nil && len(d.changed) == 1 && d.changed[0] == r.stamp.Name
}

// stampOf returns the value of a stamp, in a form with its order; nil for null.
func stampOf(cell row.Cell, t record.Type) []byte {
	switch {
	case cell.Null:
		return nil
	case t.Integer():
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
		if cell := cells[c.at]; !cell.Null {
			dst = encode.AppendJSON(append(dst, c.prefix...), c.Type, cell)
		}
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

// body returns the body of a change. cells is nil for a deleted row.
func (r *rows) body(id int64, op Op, text string, key, cells []row.Cell, d difference, before []byte, at time.Time) []byte {
	quote := func(dst []byte, s string) []byte {
		return encode.AppendJSON(dst, record.Text, row.Cell{Data: []byte(s)})
	}
	keyColumns, keyCells := r.key, cells // with the scale of decimals, which the encoding of a key lacks
	if cells == nil {
		keyColumns, keyCells = slices.Clone(r.key), key
		for i := range keyColumns {
			keyColumns[i].at = i
		}
	}
	dst := strconv.AppendInt([]byte(`{"ChangeID":`), id, 10)
	dst = quote(append(dst, `,"Kind":`...), r.kind.Name)
	dst = quote(append(dst, `,"Op":`...), string(op))
	dst = quote(append(dst, `,"Key":`...), text)
	dst = appendObject(append(dst, `,"KeyFields":`...), keyColumns, keyCells)
	if cells != nil {
		dst = appendObject(append(dst, `,"Record":`...), r.record, cells)
	}
	if op == Updated {
		names, err := json.Marshal(append([]string{}, d.changed...))
		if err != nil {
			panic(err) // strings can always be encoded
		}
		dst = append(append(dst, `,"Changed":`...), names...)
	}
	if before != nil && op != Created {
		dst = append(append(dst, `,"Before":`...), before...)
	}
	dst = append(append(dst, `,"CapturedAt":"`...), at.UTC().Format(wire.DateLayout)...)
	return append(dst, `Z"}`...)
}

// widen returns rows of key and stamp as rows of all columns.
func (r *rows) widen(list [][]row.Cell) [][]row.Cell {
	wide := make([][]row.Cell, len(list))
	for i, cells := range list {
		wide[i] = make([]row.Cell, len(r.columns))
		for j, c := range r.key {
			wide[i][c.at] = cells[j]
		}
		wide[i][r.stamp.at] = cells[len(r.key)]
	}
	return wide
}
