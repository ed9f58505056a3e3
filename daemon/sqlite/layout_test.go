package sqlite

import (
	"testing"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// layoutOf is the version of SQLite with the memory layout that ReadRow expects. Before changing it,
// check sqlite3_column_value and struct sqlite3_value (vdbeapi.c, vdbeInt.h) of the new
// version.
const layoutOf = "3.53.4"

func TestLayoutOfValues(t *testing.T) {
	if sqlite3.SQLITE_VERSION != layoutOf {
		t.Errorf("SQLite is version %s, ReadRow expects the layout of %s", sqlite3.SQLITE_VERSION, layoutOf)
	}
	var mem sqlite3.TMem
	for field, offset := range map[string]struct{ got, want uintptr }{
		"u":     {unsafe.Offsetof(mem.Fu), 0},
		"z":     {unsafe.Offsetof(mem.Fz), 8},
		"n":     {unsafe.Offsetof(mem.Fn), 16},
		"flags": {unsafe.Offsetof(mem.Fflags), 20},
		"enc":   {unsafe.Offsetof(mem.Fenc), 22},
	} {
		if offset.got != offset.want {
			t.Errorf("field %s of a value is at %d, want %d", field, offset.got, offset.want)
		}
	}
	if size := unsafe.Sizeof(mem); size != 56 {
		t.Errorf("a value has %d bytes, want 56", size)
	}
	c := open(t)
	s := prepare(t, c, "SELECT 7, 'text', NULL, 2.5, x'00', 8")
	step(t, s, true)
	first := sqlite3.Xsqlite3_column_value(s.c.tls, s.handle, 0)
	for i := range int32(6) {
		got := sqlite3.Xsqlite3_column_value(s.c.tls, s.handle, i)
		if want := first + uintptr(i)*unsafe.Sizeof(mem); got != want {
			t.Errorf("value %d of a row is at %#x, want %#x, after the previous one", i, got, want)
		}
	}
	if flags := (*sqlite3.TMem)(pointer(first)).Fflags; flags&sqlite3.MEM_Int == 0 {
		t.Errorf("an integer has the flags %#x", flags)
	}
	s.Reset()
}
