package demo

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestActivity makes changes of the series on demo records: each one changes a row, and the
// tables do not grow.
func TestActivity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	records, err := erp.Open(erp.Config{Path: path, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.Load(t.Context(), record.Builtin().Kinds(), Rows); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true, BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	for n := range 400 {
		at = at.Add(7 * time.Second)
		s := Activity(n, at)
		if err := conn.Query(s.SQL, nil, s.Args...); err != nil {
			t.Fatal(err)
		}
		changed := conn.Changes()
		removes := n%4 == 3
		nothingToRemove := removes && n/4 < liveTakes && changed == 0
		if changed != 1 && !nothingToRemove {
			t.Errorf("%d: %d rows changed by %s, want 1", n, changed, s.SQL)
		}
	}
	got, _, err := conn.QueryInt("SELECT COUNT(*) FROM IN_KitStockTakeMain")
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(Count("IN_KitStockTakeMain") + liveTakes); got != want {
		t.Errorf("%d stock takes, want %d", got, want)
	}
}

// TestKindsFile checks the record kinds that make run uses.
func TestKindsFile(t *testing.T) {
	set := kinds.Load("kinds.toml")
	if len(set.Problems) > 0 || set.Served() != 2 {
		t.Errorf("%d kinds with the problems %v, want 2 without problems",
			set.Served(), set.Problems)
	}
}
