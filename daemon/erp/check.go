package erp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
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
	columnTypes() compatibilities
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
	findings = compare(kind, table, columns, records.columnTypes())
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
