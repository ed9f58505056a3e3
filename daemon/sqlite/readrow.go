package sqlite

import (
	"unsafe"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Null reports whether column i of the row, counted from 0, is NULL.
func (s *Stmt) Null(i int) bool {
	return sqlite3.Xsqlite3_column_type(s.c.tls, s.handle, int32(i)) == sqlite3.SQLITE_NULL
}

// Int returns column i as an integer, 0 if it is NULL.
func (s *Stmt) Int(i int) int64 {
	return sqlite3.Xsqlite3_column_int64(s.c.tls, s.handle, int32(i))
}

// Text returns a copy of column i as text, empty if it is NULL.
func (s *Stmt) Text(i int) string { return string(s.view(i)) }

// Bytes returns a copy of column i, nil if it is NULL or empty.
func (s *Stmt) Bytes(i int) []byte { return append([]byte(nil), s.view(i)...) }

// view returns column i in SQLite's memory, valid until the next Step or Reset.
func (s *Stmt) view(i int) []byte {
	return valueText(s.c.tls, sqlite3.Xsqlite3_column_value(s.c.tls, s.handle, int32(i)))
}

// ReadRow sets a cell for each type, starting with the row's first column. Data points to
// SQLite's memory and is valid until the next Step or Reset. Cells beyond the row's
// columns are null, as are all cells if there is no row.
//
// The values of a row are adjacent in SQLite's memory, in a structure that the Go
// translation exports. Reading that is much faster than calling SQLite's functions for
// each value; they are only called if the storage class of a value differs from its
// column's type.
func (s *Stmt) ReadRow(cells []row.Cell, types []record.Type) {
	tls := s.c.tls
	count := int(sqlite3.Xsqlite3_data_count(tls, s.handle))
	value := sqlite3.Xsqlite3_column_value(tls, s.handle, 0)
	cells, s.digits = cells[:len(types)], s.digits[:0]
	for i, t := range types {
		cell, mem := &cells[i], (*sqlite3.TMem)(pointer(value))
		switch {
		case i >= count || mem.Fflags&sqlite3.MEM_Null != 0:
			*cell = row.Cell{Null: true}
		case integerTypes>>t&1 == 1 && mem.Fflags&sqlite3.MEM_Int != 0 && inRange(t, memInt(mem)):
			*cell = row.Cell{Int: memInt(mem)}
		case textTypes>>t&1 == 1 && mem.Fflags&sqlite3.MEM_Str != 0 && mem.Fenc == sqlite3.SQLITE_UTF8 && mem.Fn > 0,
			t == record.Bytes && mem.Fflags&(sqlite3.MEM_Blob|sqlite3.MEM_Zero) == sqlite3.MEM_Blob:
			*cell = row.Cell{Data: memory(mem.Fz, int(mem.Fn))}
		case t == record.Double && mem.Fflags&sqlite3.MEM_Real != 0:
			start := len(s.digits)
			s.digits = wire.AppendDouble(s.digits, memReal(mem), 64)
			*cell = row.Cell{Data: s.digits[start:]}
		default:
			*cell, s.digits = readValue(tls, value, t, s.digits)
		}
		value += unsafe.Sizeof(*mem)
	}
}

// integerTypes has a bit for each type with values that are integers in a cell, textTypes for
// each one with values that are stored as text.
const (
	integerTypes = 1<<record.Int | 1<<record.Short | 1<<record.Byte | 1<<record.Long | 1<<record.Bool | 1<<record.TimeSpan
	textTypes    = anyTexts | 1<<record.Decimal | 1<<record.DateTime | 1<<record.Epoch | 1<<record.Guid
	anyTexts     = 1<<record.Text | 1<<record.Dictionary | 1<<record.Object // also the empty text
)

func memInt(mem *sqlite3.TMem) int64 { return *(*int64)(unsafe.Pointer(&mem.Fu)) }

func memReal(mem *sqlite3.TMem) float64 { return *(*float64)(unsafe.Pointer(&mem.Fu)) }

// bytesInPlace reports whether a value is stored as UTF-8 text, or as a blob without a
// zero-filled tail that is not stored.
func bytesInPlace(mem *sqlite3.TMem) bool {
	return mem.Fflags&sqlite3.MEM_Str != 0 && mem.Fenc == sqlite3.SQLITE_UTF8 ||
		mem.Fflags&(sqlite3.MEM_Blob|sqlite3.MEM_Zero) == sqlite3.MEM_Blob
}

// valueText returns a value's text or bytes in SQLite's memory, converted to text if it
// has another storage class.
func valueText(tls *libc.TLS, value uintptr) []byte {
	if mem := (*sqlite3.TMem)(pointer(value)); bytesInPlace(mem) {
		return memory(mem.Fz, int(mem.Fn))
	}
	data := sqlite3.Xsqlite3_value_text(tls, value)
	return memory(data, int(sqlite3.Xsqlite3_value_bytes(tls, value)))
}

func stringView(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
