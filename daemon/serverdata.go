package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/storecopy"
)

// serverDataInterval is the interval between checks for data of an earlier installation
// on the ERP's server, until that responds, and their time limit.
const serverDataInterval = 5 * time.Second

// checkServerData returns an error if the store in files is new, but the ERP's database
// contains the data of an earlier installation, which would be forgotten. If the server
// does not respond, it is checked again while the daemon serves.
func (d *Daemon) checkServerData(ctx context.Context) error {
	c := d.config
	if c.Store.OnServer() || !c.ERP.DSN.OnServer() {
		return nil
	}
	if c.Start.Fresh {
		return storecopy.Skip(ctx, d.store.AppDB)
	}
	isNew, err := storecopy.IsNew(ctx, d.store.AppDB)
	if err != nil || !isNew {
		return err
	}
	forgotten, err := d.findServerData(ctx)
	if err == nil || ctx.Err() != nil {
		return forgotten
	}
	d.log.Warn("cannot check whether the ERP's database contains data of an earlier installation of whd; the check is repeated",
		"err", err)
	d.repeat("check of the ERP's database", serverDataInterval, func(ctx context.Context) bool {
		forgotten, err := d.findServerData(ctx)
		if forgotten != nil {
			d.listeners.failed <- forgotten
		}
		return err == nil
	})
	return nil
}

// findServerData returns the error about forgotten data, nil if there is none, or an
// error of the server.
func (d *Daemon) findServerData(ctx context.Context) (forgotten, err error) {
	ctx, cancel := context.WithTimeout(ctx, serverDataInterval)
	defer cancel()
	c := d.config
	hasSubscribers, err := storecopy.HasSubscribers(ctx, string(c.ERP.DSN), c.Server.Schema)
	isUnreadable := errors.Is(err, storecopy.ErrUnreadable)
	if err != nil && !isUnreadable {
		return nil, err
	}
	if !hasSubscribers && !isUnreadable {
		return nil, nil
	}
	has := "has some"
	with := ","
	if isUnreadable {
		has = "may have some, which the service's login has no permission to read,"
		with = ", with a login that may read the schema,"
	}
	command := fmt.Sprintf("whd store copy --from %s --to %s", c.ERP.DSN, config.Embedded)
	if c.Server.Schema != appdb.DefaultSchema {
		command += " --schema " + c.Server.Schema
	}
	problem := fmt.Sprintf("the store in %s has no subscribers, but the ERP's database %s in the schema %s, "+
		"from an earlier installation: copy that data with %s%s "+
		"or start once with whd serve --fresh-store to leave it there",
		c.DataDir, has, c.Server.Schema, command, with)
	return &config.UsageError{Problems: []string{problem}}, nil
}

// demoFile is a file of the data directory of a service that was first started without the
// setting erp. It has had no other records than demo records since then.
const demoFile = "erp-is-demo"

// confirmDemo returns an error if the service is in use, but the setting erp was probably
// forgotten: its queries would return demo records. The setting was not forgotten if the service
// has had demo records since its first start.
func (d *Daemon) confirmDemo(ctx context.Context) error {
	path := filepath.Join(d.config.DataDir, demoFile)
	if d.config.ERP.DSN.OnServer() {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if !d.config.DemoByDefault() {
		return nil
	}
	subscribers, err := d.store.Webhooks.Admin.CountSubscribers(ctx)
	if err != nil {
		return err
	}
	isRegistered := d.config.Start.Service // as a service of the operating system
	if subscribers == 0 && !isRegistered {
		return datadir.Disk{}.Write(path, []byte("The setting erp was not set at the first start.\n"))
	}
	_, err = os.Stat(path)
	if err == nil && !isRegistered {
		d.log.Warn("the setting erp is not set; queries return demo records")
		return nil
	}
	return &config.UsageError{Problems: []string{
		"setting erp: it is not set, so queries would return demo records; " +
			"set it to the connection string of the ERP's database, or to demo if there is none",
	}}
}
