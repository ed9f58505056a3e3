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

// file is a database in an embedded file. Its statements do not hide fields from the planner, since
// all of them read in the order of a key or look up keys.
type file struct {
	*executor.File
	zone *time.Location
}

// Database returns the state of the file, which has no rowversions. Neither a restored
// nor a moved file is another one.
func (s *file) Database(ctx context.Context) (d changes.Database, err error) {
	err = s.with(ctx, func(conn *sqlite.Conn) error {
		id, _, err := conn.QueryInt("PRAGMA application_id")
		d.Identity = fmt.Sprintf("file %08x", uint32(id))
		return err
	})
	now := time.Now().In(s.zone)
	d.Now = time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(),
		now.Nanosecond(), time.UTC)
	return d, err
}

// facts returns the facts about a table. Types in a file do not limit the size of values.
func (s *file) facts(ctx context.Context, kind *record.Kind) (f tableFacts, err error) {
	err = s.with(ctx, func(conn *sqlite.Conn) error {
		if err := conn.Query("BEGIN", nil); err != nil { // the pool rolls it back
			return err
		}
		columns, err := conn.Columns(s.Name(kind))
		f.missing = len(columns) == 0
		if err != nil || f.missing {
			return err
		}
		f.content = hex.EncodeToString([]byte(conn.LogState()))

		// A view has no row IDs: the number of its rows is not known.
		f.rows = -1
		highest, found, err := conn.QueryInt("SELECT max(_rowid_) FROM " + s.Table(kind))
		if err == nil && found && highest > 0 {
			f.rows = highest
		} else if ctx.Err() != nil {
			return ctx.Err()
		}

		f.stored, err = conn.IsStored(s.Name(kind))
		if err != nil {
			return err
		}
		f.collations, err = s.collations(conn, kind, columns)
		if err != nil {
			return err
		}
		f.leading, err = executor.FileLeading(conn, s.Name(kind))
		return err
	})
	return f, err
}

// collations returns the collations of a kind's text fields. Columns that can convert texts to
// numbers are compared by the function typed_value, which has none.
func (s *file) collations(
	conn *sqlite.Conn, kind *record.Kind, columns []sqlite.Column,
) (map[string]string, error) {
	collations := make(map[string]string)
	for _, c := range columns {
		i, ok := kind.ByColumn(c.Name)
		if !ok || kind.Fields[i].Type.Stored() != record.Text {
			continue
		}
		name := "BINARY"
		switch sqlite.Affinity(c.Type) {
		case "text", "none", "blob":
			var err error
			name, err = conn.Collation(s.Name(kind), c.Name)
			if err != nil {
				return nil, err
			}
		}
		collations[kind.Fields[i].Name] = name
	}
	return collations, nil
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
