package storage

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestRestoreOfEarlierVersion restores a backup by a version that had no pages for subscribers: the
// table of their sessions is missing.
func TestRestoreOfEarlierVersion(t *testing.T) {
	source := t.TempDir()
	s, err := Open(t.Context(), Config{Dir: source, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(filepath.Join(source, appdb.FileName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec("DROP TABLE WH_PortalSession; INSERT INTO WH_Session" +
		" (SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime) VALUES ('a', 'b', 0, '2026', '2027')")
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}

	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	_, err = backup.Write(t.Context(), backup.Source{Dir: source, Files: files, Program: "whd test"}, file)
	if err != nil {
		t.Fatal(err)
	}
	restored := t.TempDir()
	_, err = backup.Restore(t.Context(), backup.Target{Dir: restored, Files: files}, file)
	if err != nil {
		t.Fatal(err)
	}
	conn, err = sqlite.Open(filepath.Join(restored, appdb.FileName), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sessions, _, err := conn.QueryInt("SELECT count(*) FROM WH_Session")
	if err != nil || sessions != 0 {
		t.Errorf("%d sessions were restored (%v), want none", sessions, err)
	}
}
