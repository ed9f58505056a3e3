package whd

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/storage"
)

// backups are the commands on the files of the embedded store.
type backups struct{ *base }

func (p backups) commands() []*urfave.Command {
	settings := p.settingFlags(storing...)
	force := &urfave.BoolFlag{Name: "force", Usage: "set the store that is there aside, in a directory beside it"}
	return []*urfave.Command{
		{Name: "backup", ArgsUsage: "FILE", Usage: "put the embedded store into one file, also while daemons work with it", Action: p.backUp, Flags: settings},
		{Name: "restore", ArgsUsage: "FILE", Usage: "bring back the embedded store that such a file has", Action: p.restore, Flags: append([]urfave.Flag{force}, settings...)},
		{Name: "compact", Usage: "shrink the files of the embedded store to what they hold; stop the daemon first", Action: p.compact, Flags: settings},
	}
}

// embeddedOnly refuses to do what a server does by its own means.
func (p backups) embeddedOnly(c *urfave.Context) (config.Config, []backup.File, error) {
	conf, err := p.config()
	if err != nil {
		return conf, nil, err
	}
	if conf.Store != config.Embedded {
		return conf, nil, cli.Usagef("whd %s is for the embedded store; what is on a server, the tables of the schema %s included, is backed up and restored there with its database", c.Command.Name, conf.Server.Schema)
	}
	files, err := storage.Files()
	return conf, files, err
}

// backUp puts the embedded store into a file, whether daemons work with it or not.
func (p backups) backUp(c *urfave.Context) error {
	conf, files, err := p.embeddedOnly(c)
	if err != nil {
		return err
	}
	target := c.Args().First()
	m, err := backup.Write(c.Context, backup.Source{Dir: conf.DataDir, Files: files, Program: "whd " + cli.Version()}, target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s has %s of %s\n", target, m.Names(), conf.DataDir)
	return err
}

// restore brings the store back that a backup has.
func (p backups) restore(c *urfave.Context) error {
	conf, files, err := p.embeddedOnly(c)
	if err != nil {
		return err
	}
	target := backup.Target{Dir: conf.DataDir, Files: files, OtherFiles: daemon.SecretFiles(), Force: c.Bool("force")}
	r, err := backup.Restore(c.Context, target, c.Args().First())
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s has %s as of %s\n", conf.DataDir, r.Names(), r.At.Format(time.RFC3339))
	if r.ReplacedDir != "" {
		fmt.Fprintf(p.Stdout, "what was there is in %s\n", r.ReplacedDir)
	}
	return nil
}

// compact rewrites the files of the embedded store, which no daemon may use
// meanwhile, and prints their sizes before and after.
func (p backups) compact(c *urfave.Context) (err error) {
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
