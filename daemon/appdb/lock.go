package appdb

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
)

// lockRows is the number of rows of WH_Lock, of which each locks some keys.
const lockRows = 64

// lockRow is the row of WH_Lock that locks a key.
func lockRow(key string) int64 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int64(h.Sum32() % lockRows)
}

// LockKey keeps the transactions of other daemons on the server from locking the
// key until tx ends: it changes a row of WH_Lock, which tx need not be one of our
// own connections for.
func (o *DB) LockKey(ctx context.Context, tx *sql.Tx, key string) error {
	text, args := mssql.Call(o.Text("UPDATE whd.WH_Lock SET Changes = Changes + 1 WHERE ID = @p1"), mssql.Long(lockRow(key)))
	n, err := Affected(tx.ExecContext(ctx, text, args...))
	e, refused := errors.AsType[*mssql.Error](err)
	if err == nil && n == 0 || refused && !e.Deadlock() && !e.LockTimeout() && !e.Away() {
		return executor.Unavailable(err, "the service's own table WH_Lock is missing or not whole; it needs whd migrate")
	}
	return err
}
