package erp_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// TestTotalCache: a total of a server is remembered only as long as the setting allows, and
// aggregates never are.
func TestTotalCache(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(50))`)
	var maxAge time.Duration
	limits := func() executor.Limits { return executor.Limits{TotalAge: maxAge} }
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}, Limits: limits})
	// A row is inserted before each request.
	for i, c := range []struct {
		maxAge         time.Duration
		wantTotal      int64
		wantRemembered bool
	}{
		{0, 1, false},
		{time.Hour, 2, false},
		{time.Hour, 2, true},
		{0, 4, false},
		{time.Hour, 2, true},
		{time.Nanosecond, 6, false},
	} {
		mssqltest.Exec(t, dsn, `INSERT INTO DB_Class VALUES (N'a')`)
		maxAge = c.maxAge
		r, err := selects(t.Context(), t, s, "DB_Class", "Take", "0", "Include", "Total, COUNT(*)")
		if err != nil {
			t.Fatal(err)
		}
		tail, err := r.Tail(0)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		remembered := false
		count := ""
		for _, m := range tail.Meta {
			if m.Name == "TotalAge" {
				remembered = true
			} else {
				count = m.Value
			}
		}
		if tail.Total != c.wantTotal || remembered != c.wantRemembered {
			t.Errorf("request %d: got total %d, remembered: %v, want %d, %v",
				i, tail.Total, remembered, c.wantTotal, c.wantRemembered)
		}
		if want := strconv.Itoa(i + 1); count != want {
			t.Errorf("request %d: got COUNT(*) %s, want %s", i, count, want)
		}
	}
}
