package daemon

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/storage"
)

// StoreConfig returns the store's configuration. connections applies to the embedded
// store; for a server the setting store.max_connections applies.
func StoreConfig(c config.Config, kinds *record.Registry, connections int) storage.Config {
	s := storage.Config{
		Dir:           c.DataDir,
		Registry:      kinds,
		Sources:       c.ERP.Sources,
		VersionSource: c.ERP.Version,
		Connections:   connections,
		New:           c.Start.NewStore,
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
