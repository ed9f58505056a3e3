// Package sqlstore stores subscribers, subscriptions, events and messages in the
// tables of package appdb: for the delivery engine, for daemons that share a store,
// and for administration.
package sqlstore

import (
	"errors"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store is the storage of webhooks.
type Store struct {
	Admin  *Admin  // for administration
	Engine *Engine // for the delivery engine
	Portal *Portal // for the pages of subscribers
}

var (
	_ admin.Store       = (*Admin)(nil)
	_ admin.PortalStore = (*Portal)(nil)
	_ delivery.Store    = (*Engine)(nil)
)

// Open returns the webhook storage in db. path is the path of db's file; it is not used on SQL
// Server.
func Open(db *appdb.DB, path string) (*Store, error) {
	t := tables{db}
	engine := &Engine{Peers: Peers{tables: t, partitions: partitions{t}}, expiry: expiry{t}}
	if db.IsServer() {
		s := &serverWriter{db}
		engine.writer = s
		engine.remover = s
		return &Store{Admin: &Admin{t}, Engine: engine, Portal: &Portal{t}}, nil
	}

	f := &fileWriter{
		db:   db,
		path: path,
		wal: checkpointer{
			path:    path,
			lock:    db.Lock,
			fail:    db.Fail,
			sync:    (*sqlite.Conn).Sync,
			drain:   db.Drain,
			running: make(chan struct{}, 1),
		},
	}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	engine.writer = f
	engine.remover = fileRemover{f}
	return &Store{Admin: &Admin{t}, Engine: engine, Portal: &Portal{t}}, nil
}
