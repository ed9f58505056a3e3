package storage

import (
	"context"
	"sync/atomic"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/query"
)

// cursors loads the cursors of the service when they are first used.
type cursors struct {
	db     *appdb.DB
	loaded atomic.Pointer[query.Cursors] // nil until first used
}

// load returns the cursors. Their secret is read once.
func (c *cursors) load(ctx context.Context) (*query.Cursors, error) {
	if loaded := c.loaded.Load(); loaded != nil {
		return loaded, nil
	}
	secret, err := appdb.Secret(ctx, c.db, "Cursor")
	if err != nil {
		return nil, err
	}
	loaded := query.NewCursors(secret)
	c.loaded.Store(loaded)
	return loaded, nil
}
