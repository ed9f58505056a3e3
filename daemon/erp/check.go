package erp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Report is what Check finds.
type Report struct {
	Kinds    int // that were compared
	Bills    int // tables of bills that were
	Findings []Finding
	ERP      *Version // nil where the settings do not say what holds it
}

// Failed reports whether something is missing, so that the service cannot do
// all of its work.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Warning })
}

// described is a backend that can say what record kinds are read from.
type described interface {
	// describe gives the name for people of a kind's table or view, and its
	// columns, none where there is no such table.
	describe(ctx context.Context, kind *record.Kind) (table string, columns []Column, err error)
	// attempt says why such fields of a kind cannot be read, if so.
	attempt(ctx context.Context, kind *record.Kind, fields []string) (problem string, err error)
	fits() typeFits
	// texts reads a column of the ERP's. A problem is one of what was asked for.
	texts(ctx context.Context, source string) (texts []string, problem string, err error)
}

// Check compares the record kinds with the live tables and views that they are
// read from. It changes nothing.
func (r *Records) Check(ctx context.Context) (found Report, err error) {
	for _, kind := range r.config.Registry.Kinds() {
		_, _, findings, err := examine(ctx, r, kind)
		if err != nil {
			return found, err
		}
		found.Kinds++
		found.Findings = append(found.Findings, findings...)
	}
	if found.ERP, err = r.version(ctx); err != nil {
		return found, err
	}
	bills, err := checkBills(ctx, r)
	found.Bills, found.Findings = len(BillTables().Kinds()), append(found.Findings, bills...)
	return found, err
}

// examine compares a kind with its table or view, and reads from it what is
// there: that shows rights that are missing, names that differ in their letter
// case only, and views that have lost what they stand on.
func examine(ctx context.Context, records described, kind *record.Kind) (table string, columns []Column, findings []Finding, err error) {
	if table, columns, err = records.describe(ctx, kind); err != nil {
		return table, nil, nil, fmt.Errorf("looking at %s: %w", table, executor.Classify(err))
	}
	findings = compare(kind, table, columns, records.fits())
	fields := present(kind, columns)
	if len(fields) == 0 {
		return table, columns, findings, nil
	}
	problem, err := records.attempt(ctx, kind, fields)
	if err != nil {
		return table, nil, nil, fmt.Errorf("reading %s: %w", table, executor.Classify(err))
	}
	if problem != "" {
		findings = append(findings, Finding{Kind: kind.Name, Table: table, Problem: problem})
	}
	return table, columns, findings, nil
}

// present are the fields of a kind that have a column.
func present(kind *record.Kind, columns []Column) (names []string) {
	for _, f := range kind.Fields {
		if slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, f.Name) }) {
			names = append(names, f.Name)
		}
	}
	return names
}

func (b *sqliteRecords) fits() typeFits { return fileFits }

// attempt finds nothing: the embedded store makes its tables itself, and nobody
// gives rights on them.
func (b *sqliteRecords) attempt(context.Context, *record.Kind, []string) (string, error) {
	return "", nil
}

func (b *sqliteRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.Name(kind.Name)
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return table, nil, err
	}
	defer b.Pool.Put(conn)
	var columns []Column
	err = conn.Query("SELECT name, type FROM pragma_table_info(?1)", func(s *sqlite.Stmt) error {
		declared := s.Text(1)
		columns = append(columns, Column{Name: s.Text(0), Type: affinity(declared), Declared: cmp.Or(declared, "without a type")})
		return nil
	}, table)
	return table, columns, err
}

func (b *mssqlRecords) fits() typeFits { return serverFits }

func (b *mssqlRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.Table(kind.Name).Name
	conn, err := b.home(kind).Get(ctx)
	if err != nil {
		return table.String(), nil, err
	}
	defer conn.Close()
	live, err := conn.Catalogue(ctx, table)
	var columns []Column
	for _, c := range live {
		columns = append(columns, Column{Name: c.Name, Type: c.Type, Declared: c.Declared(), Unordered: c.Unordered()})
	}
	return table.String(), columns, err
}

// home is the pool that a kind is read through.
func (b *mssqlRecords) home(kind *record.Kind) *mssql.Server {
	if _, is := BillTables().Lookup(kind.Name); is {
		return b.bills
	}
	return b.Pool
}

func (b *mssqlRecords) attempt(ctx context.Context, kind *record.Kind, fields []string) (string, error) {
	columns := make([]string, len(fields))
	for i, name := range fields {
		columns[i] = mssql.Quote(name)
	}
	rows, err := b.home(kind).DB().QueryContext(ctx, "SELECT TOP 0 "+strings.Join(columns, ", ")+" FROM "+b.Table(kind.Name).Name.Quoted())
	if err == nil {
		defer rows.Close()
		rows.Next()
		err = rows.Err()
	}
	if e, refused := errors.AsType[*mssql.Error](err); refused && e.NoColumn() {
		return "its columns do not have the names of the fields, to the letter: " + e.Message, nil
	}
	return refusal(err)
}

// refusal is why the server does not let something be read, unless that is only
// so at the moment.
func refusal(err error) (problem string, _ error) {
	switch e, refused := errors.AsType[*mssql.Error](err); {
	case !refused || e.Away() || e.Busy():
		return "", err
	case e.Forbidden():
		return "the service's login may not read it: " + e.Message, nil
	default:
		return "it cannot be read: " + e.Message, nil
	}
}
