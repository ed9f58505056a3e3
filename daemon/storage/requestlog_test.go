package storage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/requestlog"
)

// TestDamagedRequestLog checks that a request log that cannot be opened does not
// affect the rest of the store, and is opened once it can be.
func TestDamagedRequestLog(t *testing.T) {
	dir := t.TempDir()
	obstacle := filepath.Join(dir, "requestlog.db")
	if err := os.Mkdir(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready without the request log: %v", err)
	}
	entries := []requestlog.Entry{{Status: 200}}
	if err := s.RequestLog().Append(t.Context(), entries); !fault.Is(err, fault.Unavailable) {
		t.Errorf("writing to the damaged request log: got %v, want unavailable", err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if err := s.RequestLog().Append(t.Context(), entries); err != nil {
		t.Errorf("writing to the request log after its repair: %v", err)
	}
}
