package sqlite

import (
	"unsafe"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/tsql"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The collations and functions of every connection, in addition to or instead of SQLite's.
const (
	collateText    = "TSQL"
	collateDecimal = "DEC"

	functionLike = "like"     // like(pattern, text) implements text LIKE pattern
	functionText = "dec_text" // dec_text(x) is the text of a number, without an exponent
	functionSum  = "dec_sum"  // aggregate dec_sum(x)
	functionAvg  = "dec_avg"  // aggregate dec_avg(x)

	// typed_value(x, type) is x if it can be read as a type, else null.
	functionTyped = "typed_value"
	// guid_value(x, form) is typed_value of a GUID, which may be a blob of a record.BlobForm.
	functionGuid = "guid_value"
	// typed_number(x) is a number, null for an empty text, and an error for others.
	functionNumber = "typed_number"
)

// register registers the collations and functions with the connection.
func (c *Conn) register() error {
	for name, compare := range map[string]uintptr{
		collateText:    function(compareText),
		collateDecimal: function(compareDecimal),
	} {
		if err := c.collation(name, compare); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name        string
		arguments   int32
		scalar      uintptr // 0 for an aggregate
		step, final uintptr // 0 for a scalar function
	}{
		{functionLike, 2, function(like), 0, 0},
		{functionText, 1, function(decimalText), 0, 0},
		{functionTyped, 2, function(typedValue), 0, 0},
		{functionGuid, 2, function(guidValue), 0, 0},
		{functionNumber, 1, function(typedNumber), 0, 0},
		{functionSum, 1, 0, function(sumStep), function(sumFinal)},
		{functionAvg, 1, 0, function(sumStep), function(avgFinal)},
	} {
		if err := c.function(f.name, f.arguments, f.scalar, f.step, f.final); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) collation(name string, compare uintptr) error {
	text, err := c.cstring(name)
	if err != nil {
		return err
	}
	defer c.free(text)
	return c.check(sqlite3.Xsqlite3_create_collation_v2(c.tls, c.db, text, sqlite3.SQLITE_UTF8, 0, compare, 0))
}

func (c *Conn) function(name string, arguments int32, scalar, step, final uintptr) error {
	text, err := c.cstring(name)
	if err != nil {
		return err
	}
	defer c.free(text)
	const kind = sqlite3.SQLITE_UTF8 | sqlite3.SQLITE_DETERMINISTIC | sqlite3.SQLITE_INNOCUOUS
	return c.check(sqlite3.Xsqlite3_create_function_v2(c.tls, c.db, text, arguments, kind, 0, scalar, step, final, 0))
}

func compareText(_ *libc.TLS, _ uintptr, n int32, a uintptr, m int32, b uintptr) int32 {
	return int32(tsql.CompareText(memory(a, int(n)), memory(b, int(m))))
}

func compareDecimal(_ *libc.TLS, _ uintptr, n int32, a uintptr, m int32, b uintptr) int32 {
	return int32(tsql.CompareDecimal(memory(a, int(n)), memory(b, int(m))))
}

// decimalText returns a number as decimal digits, and a text or a blob as it is.
func decimalText(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	v := *(*uintptr)(pointer(arguments))
	switch sqlite3.Xsqlite3_value_type(tls, v) {
	case sqlite3.SQLITE_INTEGER, sqlite3.SQLITE_FLOAT:
		var buffer [64]byte
		cell, _ := readValue(tls, v, record.Decimal, buffer[:0])
		resultText(tls, ctx, cell.Data)
	default:
		sqlite3.Xsqlite3_result_value(tls, ctx, v)
	}
}

// like replaces SQLite's own function. The compiled pattern is cached with the statement
// while its pattern argument is constant.
func like(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	pattern, text, ok := operands(tls, arguments)
	if !ok {
		return // the result is NULL by default
	}
	if sqlite3.Xsqlite3_value_type(tls, (*[2]uintptr)(pointer(arguments))[1]) == sqlite3.SQLITE_BLOB {
		sqlite3.Xsqlite3_result_int(tls, ctx, 0) // a blob is no text
		return
	}
	stored := sqlite3.Xsqlite3_get_auxdata(tls, ctx, 0)
	stop := interrupted(tls, ctx, text)
	if stored != 0 {
		compiled := loadPattern(stored)
		result(tls, ctx, compiled.MatchUntil(text, stop), stop)
		return
	}
	compiled := tsql.CompileLike(string(pattern))
	result(tls, ctx, compiled.MatchUntil(text, stop), stop)
	if keep := storePattern(tls, compiled); keep != 0 {
		sqlite3.Xsqlite3_set_auxdata(tls, ctx, 0, keep, function(sqlite3.Xsqlite3_free))
	}
}

// storePattern copies a pattern to SQLite's memory, since C data must not refer to Go
// memory: the number of words, followed by the words.
func storePattern(tls *libc.TLS, p *tsql.Pattern) uintptr {
	words := p.Words()
	stored := sqlite3.Xsqlite3_malloc64(tls, uint64(4*(len(words)+1)))
	if stored != 0 {
		dst := unsafe.Slice((*uint32)(pointer(stored)), len(words)+1)
		dst[0] = uint32(len(words))
		copy(dst[1:], words)
	}
	return stored
}

// loadPattern returns the pattern stored by storePattern.
func loadPattern(stored uintptr) tsql.Pattern {
	count := *(*uint32)(pointer(stored))
	return tsql.PatternOf(unsafe.Slice((*uint32)(pointer(stored)), count+1)[1:])
}

// operands returns the two arguments of a function in SQLite's memory; ok is false if one
// of them is NULL.
func operands(tls *libc.TLS, arguments uintptr) (a, b []byte, ok bool) {
	values := (*[2]uintptr)(pointer(arguments))
	for _, v := range values {
		if sqlite3.Xsqlite3_value_type(tls, v) == sqlite3.SQLITE_NULL {
			return nil, nil, false
		}
	}
	return valueText(tls, values[0]), valueText(tls, values[1]), true
}

// longText is the length from which a match checks whether the statement was interrupted.
// SQLite only checks between rows.
const longText = 64 << 10

// interrupted returns a function that reports whether the running statement was
// interrupted. It returns nil for texts that are matched quickly.
func interrupted(tls *libc.TLS, ctx uintptr, text []byte) func() bool {
	if len(text) < longText {
		return nil
	}
	db := sqlite3.Xsqlite3_context_db_handle(tls, ctx)
	return func() bool { return sqlite3.Xsqlite3_is_interrupted(tls, db) != 0 }
}

// result sets the result of a match, or the interrupt error if stop ended it.
func result(tls *libc.TLS, ctx uintptr, yes bool, stop func() bool) {
	if stop != nil && stop() {
		sqlite3.Xsqlite3_result_error_code(tls, ctx, sqlite3.SQLITE_INTERRUPT)
		return
	}
	sqlite3.Xsqlite3_result_int(tls, ctx, libc.Bool32(yes))
}
