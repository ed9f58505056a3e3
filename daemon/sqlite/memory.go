package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// pointer converts an address in SQLite's memory, which the garbage collector neither
// moves nor frees.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// memory returns n bytes of SQLite's memory, without copying.
func memory(address uintptr, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(address)), n)
}

// function converts a Go function to the function pointer that SQLite stores and calls. It
// must be declared at package level: a closure could be collected while SQLite still
// refers to it. A func value is a pointer to a word with the code's address, which is
// what the translated C code uses as a function pointer.
func function[F any](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}

// copyIn copies s to memory of SQLite's allocator and adds a zero byte. It returns 0 if
// out of memory.
func copyIn(tls *libc.TLS, s string) uintptr {
	p := sqlite3.Xsqlite3_malloc64(tls, uint64(len(s))+1)
	if p != 0 {
		dst := unsafe.Slice((*byte)(pointer(p)), len(s)+1)
		dst[copy(dst, s)] = 0
	}
	return p
}
