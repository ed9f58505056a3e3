package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func TestRequestLogSQLite(t *testing.T) {
	storetest.RequestLog(t, func(t *testing.T) *store.Store { return openSQLite(t, record.Builtin()) })
}

// TestRequestLogSQLServer makes the table anew for each test, so that ids begin
// with 1.
func TestRequestLogSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := openServer(t, store.Config{DSN: dsn, Schema: "own tables", Migrate: true})
	storetest.RequestLog(t, func(t *testing.T) *store.Store {
		mssqltest.Exec(t, dsn, "TRUNCATE TABLE [own tables].WH_RequestLog")
		return s
	})
}

// TestRequestLogColumns: what is written is what is read.
func TestRequestLogColumns(t *testing.T) {
	kind, _ := record.System().Lookup("RequestLog")
	names := []string{"Id", "DateTime", "StatusCode"}
	for i := range requestlog.Texts {
		names = append(names, requestlog.Column(i))
	}
	if names = append(names, "RequestDuration"); !slices.Equal(names, kind.FieldNames()) {
		t.Errorf("the columns are\n%s, the fields\n%s", names, kind.FieldNames())
	}
}

// TestRequestLogInTheWay: a log that cannot be opened keeps nobody from the
// rest, and is opened once it can be.
func TestRequestLogInTheWay(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "requestlog.db")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	entries := []requestlog.Entry{{Status: 200}}
	if err := s.RequestLog().Append(t.Context(), entries); !fault.Is(err, fault.Unavailable) {
		t.Errorf("written all the same: %v", err)
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := s.RequestLog().Append(t.Context(), entries); err != nil {
		t.Error(err)
	}
}
