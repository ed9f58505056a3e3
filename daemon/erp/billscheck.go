package erp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkBillTables compares the bill tables with their definitions.
func checkBillTables(ctx context.Context, r *Records) ([]Finding, error) {
	var findings []Finding
	for _, table := range BillTables().Kinds() {
		ofTable, err := r.checkBillTable(ctx, table)
		if err != nil {
			return findings, err
		}
		findings = append(findings, ofTable...)
	}
	return findings, nil
}

// checkBillTable compares a bill table with its definition.
func (r *Records) checkBillTable(ctx context.Context, table *record.Kind) ([]Finding, error) {
	findings, err := r.checkKind(ctx, table)
	if err != nil {
		return nil, err
	}
	for i, f := range findings {
		isUnused := f.Field != "" && !needsColumn(table.Name, f.Field)
		findings[i].Warning = f.Warning || isUnused
	}
	return findings, nil
}

// checkBillRights checks the permission to write values.
func checkBillRights(ctx context.Context, r *Records) ([]Finding, error) {
	table, _ := BillTables().Lookup(ValuesTable)
	name, columns, err := r.describe(ctx, table)
	if err != nil {
		return nil, fmt.Errorf("describing %s: %w", name, executor.Classify(err))
	}
	if len(columns) == 0 {
		return nil, nil
	}
	f, err := r.writeProblem(ctx)
	if err != nil {
		return nil, fmt.Errorf("checking the permissions on %s: %w", name, executor.Classify(err))
	}
	if f == nil {
		return nil, nil
	}
	f.Kind = table.Name
	f.Table = name
	return []Finding{*f}, nil
}

// isTableError reports whether an error concerns a missing or inaccessible table or
// column.
func isTableError(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.NoTable() || e.NoColumn() || strings.Contains(e.Message, "because it is a view")
	}
	e, ok := errors.AsType[*mssql.Error](err)
	return ok && (e.NoTable() || e.NoColumn() || e.Forbidden())
}

// explain replaces an error that clients cannot fix by one that names the table at fault.
func (b *Bills) explain(ctx context.Context, err error) error {
	if err == nil || !isTableError(err) {
		return executor.Classify(err)
	}
	kind := fault.From(err).Kind
	if kind != fault.Internal && kind != fault.Forbidden {
		return executor.Classify(err)
	}

	findings, _ := checkBillTables(ctx, b.records) // on failure, the original error is returned
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Warning })
	if len(findings) == 0 {
		findings, _ = checkBillRights(ctx, b.records)
	}
	if len(findings) == 0 {
		return executor.Classify(err)
	}
	if findings[0].Warning {
		return fault.Wrap(err, fault.Forbidden, "%s; an administrator of the database can grant it", findings[0])
	}
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Field == "" })
	return executor.Unavailable(err,
		"bills cannot be used: "+findings[max(i, 0)].String()+"; run whd check for details")
}
