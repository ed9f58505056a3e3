package source

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
)

// file is a database in an embedded file. Its statements do not hide fields from
// the planner: they are of an order or have equal values of a key.
type file struct {
	*executor.File
	zone *time.Location
}

// Database implements database. The file has no rowversions, and neither a restored
// nor a moved file is another one.
func (s *file) Database(ctx context.Context) (d changes.Database, err error) {
	err = s.with(ctx, func(conn *sqlite.Conn) error {
		id, _, err := conn.QueryInt("PRAGMA application_id")
		d.Identity = fmt.Sprintf("file %08x", uint32(id))
		return err
	})
	now := time.Now().In(s.zone)
	d.Now = time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), time.UTC)
	return d, err
}

// facts implements database. Types in a file do not limit the size of values.
func (s *file) facts(ctx context.Context, kind *record.Kind) (f tableFacts, err error) {
	err = s.with(ctx, func(conn *sqlite.Conn) error {
		if err := conn.Query("BEGIN", nil); err != nil { // the pool rolls it back
			return err
		}
		columns, err := conn.Columns(s.Name(kind))
		if f.missing = len(columns) == 0; err != nil || f.missing {
			return err
		}
		f.content = hex.EncodeToString([]byte(conn.LogState()))
		if highest, found, err := conn.QueryInt("SELECT max(_rowid_) FROM " + s.Table(kind)); err == nil && found && highest > 0 {
			f.rows = highest
		} else if f.rows = -1; ctx.Err() != nil {
			return ctx.Err()
		}
		f.leading, err = executor.FileLeading(conn, s.Name(kind))
		return err
	})
	return f, err
}

// with calls work with a connection.
func (s *file) with(ctx context.Context, work func(*sqlite.Conn) error) error {
	conn, err := s.Pool.Get(ctx)
	if err != nil {
		return executor.Classify(err)
	}
	defer s.Pool.Put(conn)
	defer conn.InterruptOn(ctx)()
	return executor.Classify(work(conn))
}
