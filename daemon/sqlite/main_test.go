package sqlite

import (
	"testing"

	"go.uber.org/goleak"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestMain enables SQLite's memory statistics, which is only possible before its first use,
// and fails if goroutines outlive the tests.
func TestMain(m *testing.M) {
	tls := libc.NewTLS()
	list := tls.Alloc(8)
	rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(list, int32(1)))
	if rc != sqlite3.SQLITE_OK {
		panic("sqlite3_config refuses to count memory")
	}
	tls.Free(8)
	tls.Close()
	goleak.VerifyTestMain(m)
}

func memoryUsed(c *Conn) int64 { return sqlite3.Xsqlite3_memory_used(c.tls) }
