package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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

// described is a backend that can say what record kinds are read from.
type described interface {
	// describe gives the name for people of a kind's table or view, and its
	// columns, none where there is no such table.
	describe(ctx context.Context, kind *record.Kind) (table string, columns []Column, err error)
	fits() typeFits
}

var (
	_ described = (*sqliteRecords)(nil)
	_ described = (*mssqlRecords)(nil)
)

// Check compares the record kinds with the live tables and views that they are
// read from. It changes nothing.
func (s *Store) Check(ctx context.Context) (Report, error) {
	own, err := s.Migration(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Own: own}
	records := s.records.(described)
	for _, kind := range s.config.Registry.Kinds() {
		table, columns, err := records.describe(ctx, kind)
		if err != nil {
			return r, fmt.Errorf("looking at %s: %w", table, classify(err))
		}
		r.Kinds++
		r.Findings = append(r.Findings, compare(kind, table, columns, records.fits())...)
	}
	return r, nil
}

func (b *sqliteRecords) fits() typeFits { return fileFits }

func (b *sqliteRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	quoted := b.tables[kind.Name]
	table := strings.ReplaceAll(quoted[1:len(quoted)-1], `""`, `"`)
	conn, err := b.pool.Get(ctx)
	if err != nil {
		return table, nil, err
	}
	defer b.pool.Put(conn)
	stmt, err := conn.Prepare("SELECT name, type FROM pragma_table_info(?1)")
	if err != nil {
		return table, nil, err
	}
	defer stmt.Reset()
	stmt.BindText(1, table)
	var columns []Column
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return table, columns, err
		}
		declared := stmt.Text(1)
		columns = append(columns, Column{Name: stmt.Text(0), Type: affinity(declared), Declared: cmp.Or(declared, "without a type")})
	}
}

func (b *mssqlRecords) fits() typeFits { return serverFits }

func (b *mssqlRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.tables[kind.Name].name
	live, err := b.listed(ctx, table)
	if err != nil {
		return table.String(), nil, err
	}
	if len(live) == 0 {
		live, err = b.answered(ctx, table)
	}
	return table.String(), live, err
}

// listed are the columns that the catalogue lists.
func (b *mssqlRecords) listed(ctx context.Context, table mssql.Table) ([]Column, error) {
	conn, err := b.server.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	live, err := conn.Catalogue(ctx, table)
	var columns []Column
	for _, c := range live {
		columns = append(columns, Column{Name: c.Name, Type: c.Type, Declared: c.Declared()})
	}
	return columns, err
}

// answered are the columns that a query answers, for synonyms, which the
// catalogue does not list.
func (b *mssqlRecords) answered(ctx context.Context, table mssql.Table) ([]Column, error) {
	rows, err := b.server.DB().QueryContext(ctx, "SELECT TOP 0 * FROM "+table.Quoted())
	if refused, is := errors.AsType[*mssql.Error](err); is && (refused.NoTable() || refused.Forbidden()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	var columns []Column
	for _, t := range types {
		name := strings.ToLower(t.DatabaseTypeName())
		columns = append(columns, Column{Name: t.Name(), Type: name, Declared: name})
	}
	return columns, errors.Join(err, rows.Err())
}
