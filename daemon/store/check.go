package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
)

// Report is what Check finds.
type Report struct {
	Own      Migration
	Kinds    int // that were compared
	Findings []Finding
}

// Failed reports whether something is missing, so that the service cannot do
// all of its work.
func (r Report) Failed() bool {
	for _, f := range r.Findings {
		if !f.Warning {
			return true
		}
	}
	return r.Own.After < r.Own.Latest
}

// catalogue describes the table or view of a record kind: its name for people,
// and its columns, none where there is no such table.
type catalogue func(context.Context, *record.Kind) (table string, columns []Column, err error)

// Check compares the record kinds with the live tables and views that they are
// read from.
func (s *Store) Check(ctx context.Context) (r Report, err error) {
	if r.Own, err = s.Migration(ctx); err != nil {
		return r, err
	}
	look, types := s.fileCatalogue, fileFits
	if s.config.DSN != "" {
		server, err := mssql.Open(mssql.Config{DSN: cmp.Or(s.config.ReadDSN, s.config.DSN), Connections: 1})
		if err != nil {
			return r, unreachable(err)
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		conn, err := server.Get(ctx)
		if err != nil {
			return r, unreachable(err)
		}
		defer conn.Close()
		look, types = s.serverCatalogue(conn), serverFits
	}
	return r, s.check(ctx, &r, look, types)
}

func (s *Store) check(ctx context.Context, r *Report, look catalogue, types typeFits) error {
	for _, kind := range s.config.Registry.Kinds() {
		table, columns, err := look(ctx, kind)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", table, classify(err))
		}
		r.Kinds++
		r.Findings = append(r.Findings, compare(kind, table, columns, types)...)
	}
	return nil
}

// sourceName is the name of a kind's table or view, as the settings write it.
func (s *Store) sourceName(kind *record.Kind) string {
	return cmp.Or(s.config.Sources[kind.Name], kind.Name)
}

func (s *Store) serverCatalogue(conn *mssql.Conn) catalogue {
	return func(ctx context.Context, kind *record.Kind) (string, []Column, error) {
		name := s.sourceName(kind)
		table, ok := mssql.ParseTable(name, s.config.ERPSchema)
		if !ok {
			return name, nil, nil
		}
		live, err := conn.Catalogue(ctx, table)
		columns := make([]Column, len(live))
		for i, c := range live {
			columns[i] = Column{Name: c.Name, Type: c.Type, Declared: c.Declared()}
		}
		return table.String(), columns, err
	}
}

func (s *Store) fileCatalogue(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	name := s.sourceName(kind)
	conn, err := s.pool.Get(ctx)
	if err != nil {
		return name, nil, err
	}
	defer s.pool.Put(conn)
	stmt, err := conn.Prepare("SELECT name, type FROM pragma_table_info(?1)")
	if err != nil {
		return name, nil, err
	}
	defer stmt.Reset()
	stmt.BindText(1, name)
	var columns []Column
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return name, columns, err
		}
		declared := stmt.Text(1)
		columns = append(columns, Column{Name: stmt.Text(0), Type: affinity(declared), Declared: cmp.Or(declared, "without a type")})
	}
}
