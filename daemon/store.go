package daemon

import (
	"context"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// StoreConfig returns the store's configuration. connections applies to the files; for
// the records on a server the setting erp.max_connections applies.
func StoreConfig(c config.Config, connections int) storage.Config {
	s := storage.Config{
		Dir: c.DataDir,
		ERP: erp.Config{
			Schema:        c.ERP.Schema,
			Sources:       c.ERP.Sources,
			VersionSource: c.ERP.Version,
			Kinds:         c.ERP.Kinds.Registry(),
		},
		Registry:    ownKinds(c),
		Connections: connections,
		New:         c.Start.NewStore,
		Tracked:     c.ERP.Tracked(),
		Limits: func() executor.Limits {
			return executor.Limits{Row: c.Query.Timeout, Count: c.Query.CountTimeout}
		},
	}
	if c.ERP.DSN.OnServer() {
		s.ERP.DSN = string(c.ERP.DSN)
		s.ERP.ReadDSN = string(c.ERP.ReadDSN)
		s.ERP.Connections = c.ERP.MaxConnections
		s.ERP.LockTimeout = c.ERP.LockTimeout
		if !ownOutbox(c) {
			s.ERP.Outbox = c.ERP.Outbox
		}
	}
	if c.Store.OnServer() {
		s.DSN = string(c.Store)
		s.Schema = c.Server.Schema
		s.LockTimeout = c.Server.LockTimeout
		s.Migrate = c.Server.Migrate
	}
	return s
}

// ownKinds returns the kinds with tables that the service creates in the file of records.
func ownKinds(c config.Config) *record.Registry {
	if c.Demo {
		return demo.Kinds()
	}
	return record.Builtin()
}

// ownOutbox reports whether the outbox is the table in the store, so that its rows are deleted in
// the transaction that stores their events. Without a setting for another table it always is. With
// one it depends on the database too, which two connection strings may name differently.
func ownOutbox(c config.Config) bool {
	if !c.Store.OnServer() {
		return false
	}
	if c.ERP.Outbox == "" {
		return true
	}
	table, _ := mssql.ParseTable(c.ERP.Outbox, c.ERP.Schema)
	if !strings.EqualFold(table.String(), c.Server.Schema+"."+appdb.OutboxTable) {
		return false
	}
	return c.Store == c.ERP.DSN || mssql.SameDatabase(string(c.Store), string(c.ERP.DSN))
}

// erpOutbox is the outbox in the ERP's database, for the delivery engine.
type erpOutbox struct{ *erp.Outbox }

// ReadOutbox reads up to limit events of the outbox, except those with the given IDs.
func (o erpOutbox) ReadOutbox(ctx context.Context, limit int, except []string) ([]delivery.OutboxEvent, error) {
	limits := erp.OutboxLimits{
		Rows:  limit,
		Bytes: delivery.OutboxBytes,
		Body:  delivery.MaxEventBody,
	}
	rows, err := o.Read(ctx, limits, except)
	events := make([]delivery.OutboxEvent, len(rows))
	for i, r := range rows {
		events[i] = delivery.OutboxEvent(r)
	}
	return events, err
}

// RefuseOutbox marks an event of the outbox as refused.
func (o erpOutbox) RefuseOutbox(ctx context.Context, e delivery.OutboxEvent, reason string) error {
	return o.Refuse(ctx, e.GUID, reason)
}
