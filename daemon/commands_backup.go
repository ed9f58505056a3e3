package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/store"
)

// embeddedOnly refuses to do what a server does by its own means.
func (c *call) embeddedOnly() (Config, []backup.File, error) {
	config, _, err := c.config()
	if err != nil {
		return config, nil, err
	}
	if config.Store != embedded {
		return config, nil, usage("whd %s is for the embedded store; what is on a server, the tables of the schema %s included, is backed up and restored there with its database", c.command.name, config.Server.Schema)
	}
	files, err := store.Files()
	var members []backup.File
	for _, f := range files {
		members = append(members, backup.File{Name: f.Name, Newest: f.Newest, Needed: f.Needed})
	}
	return config, members, err
}

// backUp puts the embedded store into a file, whether daemons work with it or not.
func backUp(ctx context.Context, c *call) error {
	config, files, err := c.embeddedOnly()
	if err != nil {
		return err
	}
	m, err := backup.Write(ctx, backup.Source{Dir: config.DataDir, Files: files, Program: "whd " + Version()}, c.args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s has %s of %s\n", c.args[0], m.Names(), config.DataDir)
	return err
}

func restoreOptions() []option {
	return []option{{name: "force", help: "set the store that is there aside, in a directory beside it"}}
}

// restore brings the store back that a backup has.
func restore(ctx context.Context, c *call) error {
	config, files, err := c.embeddedOnly()
	if err != nil {
		return err
	}
	target := backup.Target{Dir: config.DataDir, Files: files, Beside: []string{adminPasswordFile, demoKeyFile}, Force: c.own["force"] == "true"}
	r, err := backup.Restore(ctx, target, c.args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s has %s as of %s\n", config.DataDir, r.Names(), r.At.Format(time.RFC3339))
	if r.Aside != "" {
		fmt.Fprintf(c.Stdout, "what was there is in %s\n", r.Aside)
	}
	return nil
}
