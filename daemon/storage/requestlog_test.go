package storage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/requestlog"
)

// TestRequestLogInTheWay: a log that cannot be opened keeps nobody from the
// rest, and is opened once it can be.
func TestRequestLogInTheWay(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "requestlog.db")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
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
