package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
)

// compact rewrites the files of the embedded store, which no daemon may use
// meanwhile, and prints their sizes before and after.
func compact(ctx context.Context, c *call) (err error) {
	conf, files, err := c.embeddedOnly()
	if err != nil {
		return err
	}
	lock, err := datadir.Own(conf.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if datadir.CutShort(conf.DataDir) {
		return fmt.Errorf("a restore into %s was cut short; run whd restore --force again first", conf.DataDir)
	}
	for _, f := range files {
		path := filepath.Join(conf.DataDir, f.Name)
		before, after, err := appdb.Compact(ctx, path)
		if err != nil {
			return err
		}
		if before > 0 {
			fmt.Fprintf(c.Stdout, "%s: %.1f MB -> %.1f MB\n", f.Name, float64(before)/1e6, float64(after)/1e6)
		}
	}
	return nil
}
