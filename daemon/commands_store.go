package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/storage"
)

// storeConfig is what the settings say about the store. Connections are those
// of the embedded store; a server has its own setting.
func storeConfig(c config.Config, kinds *record.Registry, connections int) storage.Config {
	s := storage.Config{
		Dir:           c.DataDir,
		Registry:      kinds,
		Sources:       c.ERP.Sources,
		VersionSource: c.ERP.Version,
		Connections:   connections,
		New:           c.NewStore,
		Limits:        func() executor.Limits { return executor.Limits{Row: c.Query.Timeout, Count: c.Query.CountTimeout} },
	}
	if c.Store == config.Embedded {
		return s
	}
	s.DSN, s.ReadDSN = string(c.Store), string(c.Server.ReadDSN)
	s.Schema, s.ERPSchema = c.Server.Schema, c.ERP.Schema
	s.Connections, s.LockTimeout, s.Migrate = c.Server.MaxConnections, c.Server.LockTimeout, c.Server.Migrate
	return s
}

// asItIs changes nothing of how the settings open the store.
func asItIs(*storage.Config) {}

// withStore opens the store that the settings name, in a way that the command
// may adjust.
func (c *call) withStore(ctx context.Context, adjust func(*storage.Config), work func(*storage.Store) error) (err error) {
	conf, _, err := c.config()
	if err != nil {
		return err
	}
	return withStore(ctx, conf, func(how *storage.Config) {
		how.KeepSettings = c.keepSettings(conf)
		adjust(how)
	}, work)
}

func (c *call) keepSettings(conf config.Config) func([]appdb.StoredSetting) error {
	return func(all []appdb.StoredSetting) error {
		path, err := conf.KeepStored(all)
		if err == nil {
			fmt.Fprintf(c.Stderr, "whd: warning: %d settings that were stored in the database are no longer in force; move those that you want into the settings file from %s\n", len(all), path)
		}
		return err
	}
}

func withStore(ctx context.Context, c config.Config, adjust func(*storage.Config), work func(*storage.Store) error) (err error) {
	how := storeConfig(c, record.Builtin(), 1)
	adjust(&how)
	s, err := storage.Open(ctx, how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s)
}
