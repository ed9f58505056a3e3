package erp

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// Report is the result of Check.
type Report struct {
	Kinds    int // compared kinds
	Bills    int // compared bill tables
	Absent   int // kinds and bill tables that are not compared: they are not seen, and need not exist
	Findings []Finding
	ERP      *Version // nil if no version source is configured
}

// Failed reports whether a finding prevents the service from doing all of its work.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Warning })
}

// Grants returns the statements that grant the missing rights, without duplicates.
func (r Report) Grants() []string {
	var statements []string
	for _, f := range r.Findings {
		if f.Grant != "" && !slices.Contains(statements, f.Grant) {
			statements = append(statements, f.Grant)
		}
	}
	return statements
}

// Check compares the record kinds and the bill tables with the tables and views of
// the database. It changes nothing. p is the presence of the tables on a server, as far as it
// is known.
func (r *Records) Check(ctx context.Context, p Presence) (Report, error) {
	var report Report
	for _, kind := range cmp.Or(r.config.Kinds, r.config.Registry).Kinds() {
		isCompared, err := r.checkTable(ctx, &report, kind, p, r.checkKindWithAdvice)
		if err != nil {
			return report, err
		}
		if isCompared {
			report.Kinds++
		}
	}

	version, err := r.version(ctx)
	if err != nil {
		return report, err
	}
	report.ERP = version
	for _, table := range BillTables().Kinds() {
		isCompared, err := r.checkTable(ctx, &report, table, p, r.checkBillTable)
		if err != nil {
			return report, err
		}
		if isCompared {
			report.Bills++
		}
	}

	for _, check := range []func(context.Context, *Records) ([]Finding, error){checkBillRights, checkOutbox} {
		findings, err := check(ctx, r)
		report.Findings = append(report.Findings, findings...)
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// checkTable adds the findings of check about a table, or that the table is not seen. isCompared is
// false for a table that is absent and need not exist.
func (r *Records) checkTable(
	ctx context.Context, report *Report, table *record.Kind, p Presence,
	check func(context.Context, *record.Kind) ([]Finding, error),
) (isCompared bool, err error) {
	unseen, err := r.unseen(ctx, table, p)
	if err != nil {
		return false, err
	}
	if unseen != nil {
		report.Findings = append(report.Findings, *unseen)
		isAbsent := unseen.Warning
		if isAbsent {
			report.Absent++
		}
		return !isAbsent, nil
	}
	findings, err := check(ctx, table)
	if err != nil {
		return false, err
	}
	report.Findings = append(report.Findings, findings...)
	return true, nil
}

// checkKindWithAdvice is checkKind, with advice about missing columns.
func (r *Records) checkKindWithAdvice(ctx context.Context, kind *record.Kind) ([]Finding, error) {
	findings, err := r.checkKind(ctx, kind)
	if err != nil {
		return nil, err
	}
	if _, isBuiltin := record.Builtin().Lookup(kind.Name); !isBuiltin {
		proposeColumns(kind, findings)
		return findings, nil
	}
	view := "whd_" + kind.Name
	table := r.config.fileTable(kind)
	if s := r.Server(); s != nil {
		view = mssql.Table{Schema: r.config.Schema, Name: view}.Quoted()
		table = s.Table(kind).Name.Quoted()
	}
	proposeView(view, table, findings)
	return findings, nil
}

const (
	absentTable = "not served, since it is not seen; " +
		"if it exists, grant SELECT on it or set its name in erp.sources"
	missingTable = "it was served and is no longer seen; " +
		"if it exists, grant SELECT on it or set its name in erp.sources; " +
		"if it is gone for good, run whd kinds accept"
)

// unseen returns the finding that a table is missing or absent, nil if it is neither.
func (r *Records) unseen(ctx context.Context, kind *record.Kind, p Presence) (*Finding, error) {
	isMissing := slices.Contains(p.Missing, kind.Name)
	if !isMissing && !slices.Contains(p.Absent, kind.Name) {
		return nil, nil
	}
	f := &Finding{
		Kind:    kind.Name,
		Table:   r.Server().Table(kind).Name.String(),
		Problem: absentTable,
		Warning: !isMissing,
	}
	if isMissing {
		f.Problem = missingTable
	}
	grant, err := r.grant(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("checking the permissions on %s: %w", f.Table, executor.Classify(err))
	}
	f.Grant = grant
	return f, nil
}

// Presence looks for tables on the ERP's server.
func (r *Records) Presence(ctx context.Context, tracked []Tracked, served Served) (Presence, error) {
	server, ok := r.backend.(*serverRecords)
	if !ok || len(tracked) == 0 {
		return Presence{}, nil
	}
	seen := make(map[string]bool)
	pools := make(map[*mssql.Server][]*record.Kind)
	for _, t := range tracked {
		pool := server.poolFor(t.Kind)
		pools[pool] = append(pools[pool], t.Kind)
	}
	for pool, kinds := range pools {
		err := server.findTables(ctx, pool, kinds, seen)
		if err != nil {
			return Presence{}, executor.Classify(err)
		}
	}
	return presenceOf(tracked, served, func(name string) bool { return seen[name] }), nil
}

// SeesTables reports whether the login sees any table or view on the ERP's server, except in
// a schema.
func (r *Records) SeesTables(ctx context.Context, except string) (bool, error) {
	server := r.Server()
	if server == nil {
		return true, nil
	}
	var n int
	const query = "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA <> @Schema"
	err := server.Pool.DB().QueryRowContext(ctx, query, sql.Named("Schema", except)).Scan(&n)
	return n > 0, executor.Classify(err)
}

// checkKind compares a kind with its table or view, then reads from the existing columns
// to find missing permissions, names that differ in letter case only and views of
// dropped tables.
func (r *Records) checkKind(ctx context.Context, kind *record.Kind) ([]Finding, error) {
	table, columns, err := r.describe(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("describing %s: %w", table, executor.Classify(err))
	}
	findings := compare(kind, table, columns, r.typeCompatibility())
	if len(columns) == 0 {
		findings[0].Grant, err = r.grant(ctx, kind)
		return findings, executor.Classify(err)
	}
	isMissing := func(name string) bool {
		return !slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	}
	names := slices.DeleteFunc(kind.ColumnNames(), isMissing)
	if len(names) == 0 {
		return findings, nil
	}
	problem, err := r.probe(ctx, kind, names)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", table, executor.Classify(err))
	}
	if problem != "" {
		grant, err := r.grant(ctx, kind)
		if err != nil {
			return nil, executor.Classify(err)
		}
		findings = append(findings, Finding{Kind: kind.Name, Table: table, Problem: problem, Grant: grant})
	}
	if (Report{Findings: findings}).Failed() {
		return findings, nil
	}

	problem, err = executor.KeyProblem(ctx, r, kind)
	if err != nil && ctx.Err() == nil {
		problem = "the declared key was not checked: " + fault.From(err).Message
		err = nil
	}
	if problem != "" {
		findings = append(findings, Finding{Kind: kind.Name, Table: table, Problem: problem, Warning: true})
	}
	return findings, err
}

// neededRights returns the rights on a kind's table that the service uses.
func neededRights(kind *record.Kind) []string {
	if kind == outboxKind {
		return []string{"SELECT", "DELETE", "UPDATE (RefusedReason)"}
	}
	if kind.Name == ValuesTable {
		return []string{"SELECT", "INSERT", "UPDATE"}
	}
	return []string{"SELECT"}
}

// version returns the version of the ERP, or nil if no source for it is configured.
func (r *Records) version(ctx context.Context) (*Version, error) {
	source := r.config.VersionSource
	if source == "" {
		return nil, nil
	}
	texts, problem, err := r.columnValues(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, executor.Classify(err))
	}
	v := &Version{Source: source, Problem: problem}
	if problem == "" {
		v.evaluate(texts)
	}
	return v, nil
}
