package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/bill"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkBills finds what the tables of bills lack, and then what keeps the
// service from writing values.
func (s *Store) checkBills(ctx context.Context) ([]Finding, error) {
	tables, err := s.checkBillTables(ctx)
	if err != nil {
		return tables, err
	}
	rights, err := s.checkBillRights(ctx)
	return append(tables, rights...), err
}

func (s *Store) checkBillTables(ctx context.Context) (all []Finding, err error) {
	records := s.records.(described)
	for _, table := range bill.Tables().Kinds() {
		_, _, findings, err := examine(ctx, records, table)
		if err != nil {
			return all, err
		}
		for i, f := range findings {
			findings[i].Warning = f.Warning || f.Field != "" && !bill.Needs(table.Name, f.Field)
		}
		all = append(all, findings...)
	}
	return all, nil
}

func (s *Store) checkBillRights(ctx context.Context) ([]Finding, error) {
	table, _ := bill.Tables().Lookup(bill.Values)
	name, columns, _, err := examine(ctx, s.records.(described), table)
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	problem, err := s.records.(billBook).mayWrite(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("looking at the rights on %s: %w", name, executor.Classify(err))
	case problem == "":
		return nil, nil
	}
	return []Finding{{Kind: table.Name, Table: name, Problem: problem}}, nil
}

// aboutTables reports whether an error is about a table or a column that is not
// there or may not be used.
func aboutTables(err error) bool {
	if e, is := errors.AsType[*sqlite.Error](err); is {
		return e.NoTable() || e.NoColumn() || strings.Contains(e.Message, "because it is a view")
	}
	e, is := errors.AsType[*mssql.Error](err)
	return is && (e.NoTable() || e.NoColumn() || e.Forbidden())
}

// blame names the table that is to blame for a failure that the asker can do
// nothing about.
func (b *Bills) blame(ctx context.Context, err error) error {
	if err == nil || !aboutTables(err) || fault.Of(err).Kind != fault.Internal {
		return executor.Classify(err)
	}
	findings, _ := b.store.checkBillTables(ctx) // where it fails too, the error itself has to do
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Warning })
	if len(findings) == 0 {
		findings, _ = b.store.checkBillRights(ctx)
	}
	if len(findings) == 0 {
		return executor.Classify(err)
	}
	whole := slices.IndexFunc(findings, func(f Finding) bool { return f.Field == "" })
	return executor.Unavailable(err, "bills cannot be used: "+findings[max(whole, 0)].String()+"; whd check tells more")
}

// String is the finding in words.
func (f Finding) String() string {
	if f.Field != "" {
		return f.Table + ", column " + f.Field + ": " + f.Problem
	}
	return f.Table + ": " + f.Problem
}
