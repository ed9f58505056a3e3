package erp_test

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
)

// A check that cannot look at the tables of bills fails. It does not pass for one
// that has found nothing.
func TestCheckOfBillsFails(t *testing.T) {
	registry, err := record.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	r, err := erp.Open(erp.Config{Path: filepath.Join(t.TempDir(), "records.db"), Registry: registry, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Check(t.Context(), erp.Presence{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := r.Check(t.Context(), erp.Presence{}); err == nil {
		t.Errorf("got %+v of a file that is closed", found)
	}
}
