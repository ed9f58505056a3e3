package sqlite

import (
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// pointer makes a pointer of an address in SQLite's memory, which the garbage
// collector neither moves nor frees.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// memory is n bytes of SQLite's memory, without a copy.
func memory(address uintptr, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(address)), n)
}

// function is a Go function as SQLite stores and calls it. It must be declared
// at package level: a closure could be collected while SQLite still has it. A
// func value is a pointer to a word that holds the code's address, and such a
// pointer is what the translated C code takes for a function pointer.
func function[F any](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}

// copyIn copies s into memory that SQLite's allocator owns, with a zero behind
// it. It returns 0 if there is no memory left.
func copyIn(tls *libc.TLS, s string) uintptr {
	p := sqlite3.Xsqlite3_malloc64(tls, uint64(len(s))+1)
	if p != 0 {
		room := unsafe.Slice((*byte)(pointer(p)), len(s)+1)
		room[copy(room, s)] = 0
	}
	return p
}

// cstring is copyIn for names and statements, in which a zero byte would hide
// what follows.
func (c *Conn) cstring(s string) (uintptr, error) {
	if c.tls == nil {
		return 0, misuse("the connection is closed")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return 0, misuse("a zero byte in a name or a statement")
	}
	p := copyIn(c.tls, s)
	if p == 0 {
		return 0, c.fail(sqlite3.SQLITE_NOMEM)
	}
	return p, nil
}

func (c *Conn) free(p uintptr) { sqlite3.Xsqlite3_free(c.tls, p) }
