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

// Check compares the record kinds and the tables of bills with the live tables and
// views. It changes nothing.
func (r *Records) Check(ctx context.Context) (found Report, err error) {
	for _, kind := range r.config.Registry.Kinds() {
		findings, err := r.examine(ctx, kind)
		if err != nil {
			return found, err
		}
		found.Kinds++
		found.Findings = append(found.Findings, findings...)
	}
	if found.ERP, err = r.version(ctx); err != nil {
		return found, err
	}
	found.Bills = len(BillTables().Kinds())
	for _, check := range []func(context.Context, *Records) ([]Finding, error){checkBillTables, checkBillRights} {
		findings, err := check(ctx, r)
		found.Findings = append(found.Findings, findings...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// examine compares a kind with its table or view, and reads from it what is
// there: that shows rights that are missing, names that differ in their letter
// case only, and views whose tables have gone.
func (r *Records) examine(ctx context.Context, kind *record.Kind) ([]Finding, error) {
	table, columns, err := r.describe(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", table, executor.Classify(err))
	}
	findings := compare(kind, table, columns, r.columnTypes())
	fields := slices.DeleteFunc(kind.FieldNames(), func(name string) bool {
		return !slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	})
	if len(fields) == 0 {
		return findings, nil
	}
	problem, err := r.attempt(ctx, kind, fields)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", table, executor.Classify(err))
	}
	if problem != "" {
		findings = append(findings, Finding{Kind: kind.Name, Table: table, Problem: problem})
	}
	return findings, nil
}

// version reads the version of the ERP, nil where it is not said what holds
// it.
func (r *Records) version(ctx context.Context) (*Version, error) {
	source := r.config.VersionSource
	if source == "" {
		return nil, nil
	}
	texts, problem, err := r.texts(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, executor.Classify(err))
	}
	h := &Version{Source: source, Problem: problem}
	if problem == "" {
		h.judge(texts)
	}
	return h, nil
}
