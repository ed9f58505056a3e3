package preflight

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// openable refuses to open an embedded store where that would change something:
// make what is missing, perhaps in a directory that is not meant, or bring tables
// up to date of which there is no backup yet.
func openable(ctx context.Context, c config.Config) error {
	if c.Store != config.Embedded || datadir.CutShort(c.DataDir) { // which opening it says
		return nil
	}
	files, err := storage.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.Needed {
			continue // a daemon makes it when it has something to write
		}
		path := filepath.Join(c.DataDir, f.Name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "there is no store in %s, since %s is missing; whd serve makes one, where there was one before with --new-store", c.DataDir, f.Name)
		}
		version, err := backup.Version(ctx, path)
		if err == nil && version < f.Newest { // else opening it says what is wrong
			return fault.New(fault.Unavailable, "%s has version %d of %d; make a backup, then run whd migrate or whd serve", path, version, f.Newest)
		}
	}
	return nil
}
