package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// fileRemover removes messages from the file, and returns the space to the file system. It
// uses the connection of the batches: changes of another connection would invalidate its
// cache, and another connection would checkpoint on its own.
type fileRemover struct{ *fileWriter }

// minRemoved is how many messages one transaction deletes even if another writer
// waits: at least this many and half of the step, so that removal keeps up with any
// load.
const minRemoved = 10

// remove deletes messages with their attempts, and events without other messages. It
// ends early if another writer waits, and returns the remaining messages. Removed.Took
// is how long the file was locked.
func (f fileRemover) remove(ctx context.Context, messages []deletion) ([]deletion, delivery.Removed, error) {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	var left []deletion
	var r delivery.Removed
	err := f.locked(ctx, func() error {
		started := time.Now()
		err := f.withoutSync(func() error {
			return f.transact(ctx, func() error {
				var err error
				left, r.Rows, err = f.removeEach(messages)
				return err
			})
		})
		r.Took = time.Since(started)
		return err
	})
	if err != nil {
		return messages, delivery.Removed{}, err
	}
	return left, r, nil
}

// withoutSync runs a transaction that need not be durable when it ends. If it
// is lost, it will be repeated. It becomes durable with the next synced
// transaction.
func (f fileRemover) withoutSync(work func() error) error {
	if err := f.conn.Exec("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	err := work()
	if f.conn == nil {
		return err
	}
	if syncErr := f.conn.Exec("PRAGMA synchronous = FULL"); syncErr != nil {
		f.conn.Close()
		f.conn = nil
		return errors.Join(err, syncErr)
	}
	return err
}

// removeEach deletes messages one by one, until another writer waits. It returns the remaining
// messages and the number of those it has deleted.
func (f fileRemover) removeEach(messages []deletion) ([]deletion, int, error) {
	n := 0
	for i, m := range messages {
		if i >= max(minRemoved, len(messages)/2) && f.db.WriteLock.Wanted() {
			return messages[i:], n, nil
		}
		err := f.conn.Query(`DELETE FROM SY_WebhookMessage WHERE ID = ?1 AND Status = ?2 AND Attempts = ?3`, nil,
			m.id, m.status, m.attempts)
		if err != nil {
			return nil, n, err
		}
		if f.conn.Changes() == 0 {
			continue
		}
		n++
		err = f.conn.Query(`DELETE FROM SY_WebhookMessageResponse WHERE MessageID = ?1`, nil, m.id)
		if err != nil {
			return nil, n, err
		}
		err = f.conn.Query(`DELETE FROM WH_Event WHERE EventID = ?1 AND NOT EXISTS (SELECT 1 FROM SY_WebhookMessage m WHERE m.EventID = ?1)
	AND NOT EXISTS (SELECT 1 FROM WH_RecordChange c WHERE c.EventID = ?1)`, nil, m.event)
		if err != nil {
			return nil, n, err
		}
	}
	return nil, n, nil
}

const shrinkPages = 200 // pages returned at a time

// shrink returns free pages to the file system. This requires a file that was
// created or compacted with auto_vacuum.
func (f fileRemover) shrink(ctx context.Context) (delivery.Removed, error) {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	var r delivery.Removed
	err := f.locked(ctx, func() error {
		started := time.Now()
		size, err := appdb.SizeOf(f.conn)
		if err != nil || size.FreePages < size.Pages/appdb.MaxFreeShare+shrinkPages {
			return err
		}
		err = f.withoutSync(func() error {
			var err error
			r.More, err = appdb.Shrink(f.conn, size, shrinkPages)
			return err
		})
		r.Took = time.Since(started)
		return err
	})
	return r, err
}
