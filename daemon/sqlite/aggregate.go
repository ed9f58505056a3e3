package sqlite

import (
	"unsafe"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/tsql"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// sumStep adds a value to the sum, which SQLite allocates and clears before the first row.
func sumStep(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	value := *(*uintptr)(pointer(arguments))
	var buffer [64]byte
	cell, _ := readValue(tls, value, record.Decimal, buffer[:0])
	if cell.Null {
		return
	}
	sum := aggregate(tls, ctx, int32(unsafe.Sizeof(tsql.Sum{})))
	if sum == nil {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	if err := sum.Add(cell.Data); err != nil {
		resultError(tls, ctx, err)
	}
}

func sumFinal(tls *libc.TLS, ctx uintptr) {
	if sum := aggregate(tls, ctx, 0); sum != nil && sum.Count() > 0 {
		resultText(tls, ctx, sum.AppendSum(nil))
	}
}

func avgFinal(tls *libc.TLS, ctx uintptr) {
	sum := aggregate(tls, ctx, 0)
	if sum == nil || sum.Count() == 0 {
		return
	}
	mean, err := sum.AppendAvg(nil)
	if err != nil {
		resultError(tls, ctx, err)
		return
	}
	resultText(tls, ctx, mean)
}

// aggregate returns the sum of the current aggregation. With size 0 it returns nil if
// there is none.
func aggregate(tls *libc.TLS, ctx uintptr, size int32) *tsql.Sum {
	return (*tsql.Sum)(pointer(sqlite3.Xsqlite3_aggregate_context(tls, ctx, size)))
}

func resultText(tls *libc.TLS, ctx uintptr, text []byte) {
	data := copyIn(tls, string(text))
	if data == 0 {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	sqlite3.Xsqlite3_result_text64(tls, ctx, data, uint64(len(text)), function(sqlite3.Xsqlite3_free),
		sqlite3.SQLITE_UTF8)
}

func resultError(tls *libc.TLS, ctx uintptr, err error) {
	message := copyIn(tls, err.Error())
	if message == 0 {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	sqlite3.Xsqlite3_result_error(tls, ctx, message, -1) // copies the message
	sqlite3.Xsqlite3_free(tls, message)
}
