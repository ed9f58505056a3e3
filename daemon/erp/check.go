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
	Absent   int // kinds and bill tables that are not compared, since they are not seen and need not be
	Findings []Finding
	ERP      *Version // nil if no version source is configured
}

// Failed reports whether a finding prevents the service from doing all of its work.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Warning })
}

// Grants returns the statements that grant the missing rights, without duplicates.
func (r Report) Grants() (all []string) {
	for _, f := range r.Findings {
		if f.Grant != "" && !slices.Contains(all, f.Grant) {
			all = append(all, f.Grant)
		}
	}
	return all
}

// Check compares the record kinds and the bill tables with the tables and views of
// the database. It changes nothing. p is the presence of the tables on a server, as far as it
// is known.
func (r *Records) Check(ctx context.Context, p Presence) (found Report, err error) {
	for _, kind := range cmp.Or(r.config.Kinds, r.config.Registry).Kinds() {
		unseen, err := r.unseen(ctx, kind, p)
		if err != nil {
			return found, err
		}
		if found.addUnseen(unseen) {
			continue
		}
		found.Kinds++
		if unseen != nil {
			continue
		}
		findings, err := r.checkKind(ctx, kind)
		if err != nil {
			return found, err
		}
		view, table := "whd_"+kind.Name, r.config.fileTable(kind)
		if s := r.Server(); s != nil {
			view, table = mssql.Table{Schema: r.config.Schema, Name: view}.Quoted(), s.Table(kind).Name.Quoted()
		}
		if _, builtin := record.Builtin().Lookup(kind.Name); builtin {
			proposeView(view, table, findings)
		} else {
			proposeColumns(kind, findings)
		}
		found.Findings = append(found.Findings, findings...)
	}

	found.ERP, err = r.version(ctx)
	if err != nil {
		return found, err
	}
	for _, table := range BillTables().Kinds() {
		unseen, err := r.unseen(ctx, table, p)
		if err != nil {
			return found, err
		}
		if found.addUnseen(unseen) {
			continue
		}
		found.Bills++
		if unseen != nil {
			continue
		}
		findings, err := checkBillTable(ctx, r, table)
		if err != nil {
			return found, err
		}
		found.Findings = append(found.Findings, findings...)
	}

	for _, check := range []func(context.Context, *Records) ([]Finding, error){checkBillRights, checkOutbox} {
		findings, err := check(ctx, r)
		found.Findings = append(found.Findings, findings...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// addUnseen adds the finding that a table is not seen, if there is one, and reports whether the
// table is absent, so that it is not counted.
func (r *Report) addUnseen(unseen *Finding) (absent bool) {
	if unseen == nil {
		return false
	}
	r.Findings = append(r.Findings, *unseen)
	if unseen.Warning {
		r.Absent++
	}
	return unseen.Warning
}

const (
	absentTable  = "not served, since it is not seen; if it exists, grant SELECT on it or set its name in erp.sources"
	missingTable = "it was served and is no longer seen; if it exists, grant SELECT on it or set its name in erp.sources; " +
		"if it is gone for good, run whd kinds accept"
)

// unseen returns the finding that a table is missing or absent, nil if it is neither.
func (r *Records) unseen(ctx context.Context, kind *record.Kind, p Presence) (*Finding, error) {
	missing := slices.Contains(p.Missing, kind.Name)
	if !missing && !slices.Contains(p.Absent, kind.Name) {
		return nil, nil
	}
	f := &Finding{Kind: kind.Name, Table: r.Server().Table(kind).Name.String(), Problem: absentTable, Warning: !missing}
	if missing {
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
	names := slices.DeleteFunc(kind.ColumnNames(), func(name string) bool {
		return !slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	})
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
	h := &Version{Source: source, Problem: problem}
	if problem == "" {
		h.evaluate(texts)
	}
	return h, nil
}
