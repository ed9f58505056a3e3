package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/storage"
)

// embeddedOnly refuses to do what a server does by its own means.
func (c *call) embeddedOnly() (config.Config, []backup.File, error) {
	conf, _, err := c.config()
	if err != nil {
		return conf, nil, err
	}
	if conf.Store != config.Embedded {
		return conf, nil, config.Usagef("whd %s is for the embedded store; what is on a server, the tables of the schema %s included, is backed up and restored there with its database", c.command.name, conf.Server.Schema)
	}
	files, err := storage.Files()
	var members []backup.File
	for _, f := range files {
		members = append(members, backup.File{Name: f.Name, Newest: f.Newest, Needed: f.Needed})
	}
	return conf, members, err
}

// backUp puts the embedded store into a file, whether daemons work with it or not.
func backUp(ctx context.Context, c *call) error {
	conf, files, err := c.embeddedOnly()
	if err != nil {
		return err
	}
	m, err := backup.Write(ctx, backup.Source{Dir: conf.DataDir, Files: files, Program: "whd " + Version()}, c.args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s has %s of %s\n", c.args[0], m.Names(), conf.DataDir)
	return err
}

func restoreOptions() []config.Option {
	return []config.Option{{Name: "force", Help: "set the store that is there aside, in a directory beside it"}}
}

// restore brings the store back that a backup has.
func restore(ctx context.Context, c *call) error {
	conf, files, err := c.embeddedOnly()
	if err != nil {
		return err
	}
	target := backup.Target{Dir: conf.DataDir, Files: files, Beside: []string{adminPasswordFile, demoKeyFile}, Force: c.own["force"] == "true"}
	r, err := backup.Restore(ctx, target, c.args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s has %s as of %s\n", conf.DataDir, r.Names(), r.At.Format(time.RFC3339))
	if r.Aside != "" {
		fmt.Fprintf(c.Stdout, "what was there is in %s\n", r.Aside)
	}
	return nil
}
