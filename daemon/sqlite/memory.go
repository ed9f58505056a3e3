package sqlite

import (
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
