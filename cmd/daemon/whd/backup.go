package whd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/storage"
)

// backups has the commands on the files of the embedded store.
type backups struct{ *base }

func (p backups) commands() []*urfave.Command {
	settings := p.settingFlags(storeSettings...)
	force := &urfave.BoolFlag{Name: "force", Usage: "move an existing store to a subdirectory of the data directory"}
	return []*urfave.Command{
		{
			Name:      "backup",
			ArgsUsage: "FILE",
			Usage:     "back up the embedded store to one file; whd can keep running",
			Action:    p.backUp,
			Flags:     settings,
		},
		{
			Name:      "restore",
			ArgsUsage: "FILE",
			Usage:     "restore the embedded store from a backup file",
			Action:    p.restore,
			Flags:     append([]urfave.Flag{force}, settings...),
		},
		{
			Name:   "compact",
			Usage:  "shrink the files of the embedded store; stop whd first",
			Action: p.compact,
			Flags:  settings,
		},
	}
}

// embeddedOnly returns the settings and the files of the embedded store. It fails
// for a store on a database server, which has its own backup.
func (p backups) embeddedOnly(c *urfave.Context) (config.Config, []backup.File, error) {
	conf, err := p.config()
	if err != nil {
		return conf, nil, err
	}
	if conf.Store.OnServer() {
		return conf, nil, cli.Usagef("whd %s is for the embedded store only; "+
			"back up and restore a store on a server with the database server's tools, including the schema %s",
			c.Command.Name, conf.Server.Schema)
	}
	files, err := storage.Files()
	return conf, files, err
}

// backUp writes the embedded store to a file. Daemons can keep running.
func (p backups) backUp(c *urfave.Context) error {
	conf, files, err := p.embeddedOnly(c)
	if err != nil {
		return err
	}
	return p.backUpTo(c.Context, conf, files, c.Args().First())
}

// backUpTo writes a backup to a file.
func (p backups) backUpTo(
	ctx context.Context, conf config.Config, files []backup.File, target string,
) error {
	m, err := backup.Write(ctx, backup.Source{
		Dir:     conf.DataDir,
		Files:   files,
		Program: "whd " + cli.Version(),
	}, target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s contains %s from %s\n", target, m.Names(), conf.DataDir)
	return err
}

// restore replaces the embedded store with that of a backup.
func (p backups) restore(c *urfave.Context) error {
	conf, files, err := p.embeddedOnly(c)
	if err != nil {
		return err
	}
	return p.restoreFrom(c.Context, conf, files, c.Args().First(), c.Bool("force"))
}

// restoreFrom restores from a file. If isForced, it moves an existing store away.
func (p backups) restoreFrom(
	ctx context.Context, conf config.Config, files []backup.File, file string, isForced bool,
) error {
	target := backup.Target{
		Dir:        conf.DataDir,
		Files:      files,
		OtherFiles: append(daemon.SecretFiles(), storage.ShadowFiles()...),
		Force:      isForced,
	}
	r, err := backup.Restore(ctx, target, file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s contains %s as of %s\n", conf.DataDir, r.Names(), r.At.Format(time.RFC3339))
	if err != nil || r.ReplacedDir == "" {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "the previous files are in %s\n", r.ReplacedDir)
	return err
}

// compact rewrites the files of the embedded store and prints their sizes before
// and after. It locks the data directory, so no daemon may be running.
func (p backups) compact(c *urfave.Context) (err error) {
	conf, files, err := p.embeddedOnly(c)
	if err != nil {
		return err
	}
	lock, err := datadir.LockExclusive(conf.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()

	if err := datadir.CheckReplaced(conf.DataDir); err != nil {
		return err
	}
	if err := storage.CheckVersions(c.Context, conf.DataDir); err != nil {
		return err
	}

	compacted := 0
	for _, f := range files {
		before, after, err := appdb.Compact(c.Context, filepath.Join(conf.DataDir, f.Name))
		if err != nil {
			return err
		}
		if before == 0 {
			continue // the file is missing or empty
		}
		compacted++
		_, err = fmt.Fprintf(p.Stdout, "%s: %s -> %s\n", f.Name, display.Size(before), display.Size(after))
		if err != nil {
			return err
		}
	}
	if compacted == 0 {
		return fmt.Errorf("%s contains no store; set --data-dir to the directory of one", conf.DataDir)
	}
	return nil
}
