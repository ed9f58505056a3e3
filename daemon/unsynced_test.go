package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
)

// TestUnsyncedStore checks that the daemon ends after its store could not be synced.
func TestUnsyncedStore(t *testing.T) {
	c, err := config.Read(nil, []string{"WHD_DATA_DIR=" + t.TempDir(), "WHD_LISTEN=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), c, io.Discard, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Stop(context.Background()) // fails, since it writes
	d.store.AppDB.Fail(errors.New("input/output error"))
	err = <-d.listeners.failed
	if !errors.Is(err, appdb.ErrUnsynced) ||
		!strings.Contains(err.Error(), "whd.db could not be written to the disk") {
		t.Errorf("the daemon ends with: %v", err)
	}
}
