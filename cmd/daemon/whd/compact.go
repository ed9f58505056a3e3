package whd

import (
	"errors"
	"fmt"
	"path/filepath"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
)

// compacting is the command compact.
type compacting struct{ backups }

func (p compacting) commands() []*urfave.Command {
	return []*urfave.Command{{
		Name: "compact", Usage: "shrink the files of the embedded store to what they hold; stop the daemon first",
		Action: p.compact, Flags: p.settingFlags(storing...),
	}}
}

// compact rewrites the files of the embedded store, which no daemon may use
// meanwhile, and prints their sizes before and after.
func (p compacting) compact(c *urfave.Context) (err error) {
	conf, files, err := p.embeddedOnly(c)
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
		before, after, err := appdb.Compact(c.Context, filepath.Join(conf.DataDir, f.Name))
		if err != nil {
			return err
		}
		if before > 0 {
			fmt.Fprintf(p.Stdout, "%s: %.1f MB -> %.1f MB\n", f.Name, float64(before)/1e6, float64(after)/1e6)
		}
	}
	return nil
}
