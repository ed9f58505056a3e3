package erp_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

// TestTotalCache: a total of a server is remembered only as long as the setting allows, and
// aggregates never are.
func TestTotalCache(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(50))`)
	var maxAge time.Duration
	s := openServer(t, storage.Config{ERP: erp.Config{DSN: dsn}, Limits: func() executor.Limits { return executor.Limits{TotalAge: maxAge} }})
	for i, c := range []struct {
		maxAge time.Duration
		want   int64
		old    bool
	}{{0, 1, false}, {time.Hour, 2, false}, {time.Hour, 2, true}, {0, 4, false}, {time.Hour, 2, true}, {time.Nanosecond, 6, false}} {
		mssqltest.Exec(t, dsn, `INSERT INTO DB_Class VALUES (N'a')`)
		maxAge = c.maxAge
		r, err := selects(t.Context(), t, s, "DB_Class", "Take", "0", "Include", "Total, COUNT(*)")
		if err != nil {
			t.Fatal(err)
		}
		tail, err := r.Tail(0)
		r.Close()
		old, counted := false, ""
		for _, m := range tail.Meta {
			if m.Name == "TotalAge" {
				old = true
			} else {
				counted = m.Value
			}
		}
		if err != nil || tail.Total != c.want || old != c.old || counted != string(rune('1'+i)) {
			t.Errorf("%d: %+v %v, want %d, old: %v", i, tail, err, c.want, c.old)
		}
	}
}
