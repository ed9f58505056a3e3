package daemon

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/storage"
)

// StoreConfig returns the store's configuration. connections applies to the files; for
// the records on a server the setting erp.max_connections applies.
func StoreConfig(c config.Config, kinds *record.Registry, connections int) storage.Config {
	s := storage.Config{
		Dir:         c.DataDir,
		ERP:         erp.Config{Schema: c.ERP.Schema, Sources: c.ERP.Sources, VersionSource: c.ERP.Version},
		Registry:    kinds,
		Connections: connections,
		New:         c.Start.NewStore,
		Limits:      func() executor.Limits { return executor.Limits{Row: c.Query.Timeout, Count: c.Query.CountTimeout} },
	}
	if c.ERP.DSN.OnServer() {
		s.ERP.DSN, s.ERP.ReadDSN = string(c.ERP.DSN), string(c.ERP.ReadDSN)
		s.ERP.Connections, s.ERP.LockTimeout = c.ERP.MaxConnections, c.ERP.LockTimeout
	}
	if c.Store.OnServer() {
		s.DSN, s.Schema, s.LockTimeout, s.Migrate = string(c.Store), c.Server.Schema, c.Server.LockTimeout, c.Server.Migrate
	}
	return s
}
