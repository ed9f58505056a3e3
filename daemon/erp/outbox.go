package erp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// Outbox is a table in the ERP's database into which programs of the ERP insert events
// within their own transactions. Lists are passed as parameters, since OPENJSON is
// missing in databases with a low compatibility level.
type Outbox struct {
	db     *sql.DB
	table  mssql.Table
	prefix string // text before each statement
}

// OutboxRow is an event in the outbox.
type OutboxRow struct {
	ID       int64
	GUID     string
	Name     string
	Body     []byte
	TooLarge bool // the body is too large, and may be missing
}

// OutboxLimits are the limits of one read.
type OutboxLimits struct {
	Rows  int
	Bytes int // size of the bodies after which no further row is read
	Body  int // bytes of a body; a longer one is not returned
}

// outboxList is the maximum number of rows of a statement, which may have 2,100 parameters.
const outboxList = 1000

// DefaultOutbox is the name of the outbox that outbox.sql and whd migrate create.
const DefaultOutbox = "whd.WH_Outbox"

// outboxGUID is the requirement on the column EventGUID, which identifies the rows.
const outboxGUID = "the column must be NOT NULL and have a unique index, as outbox.sql creates it"

// outboxKind describes the outbox like a record kind, so that the same code checks it. It
// cannot be queried.
var outboxKind = &record.Kind{Name: "outbox", Fields: []record.Field{
	{Name: "OutboxID", Type: record.Long},
	{Name: "EventGUID", Type: record.Guid},
	{Name: "EventName", Type: record.Text},
	{Name: "Body", Type: record.Text},
	{Name: "RefusedReason", Type: record.Text},
}}

// CheckOutbox returns an error unless text is the name of a table in the ERP's database.
func CheckOutbox(text string) error {
	if t, ok := mssql.ParseTable(text, DefaultSchema); !ok || t.Server+t.Database != "" {
		return fmt.Errorf("%q is not the name of a table in the ERP's database, such as %s", text, DefaultOutbox)
	}
	return nil
}

// newOutbox returns the outbox, nil if none is configured.
func newOutbox(c Config, pool *mssql.Server) *Outbox {
	if pool == nil {
		return nil
	}
	return &Outbox{
		db:     pool.DB(),
		table:  c.serverTable(outboxKind),
		prefix: mssql.LockTimeout(c.LockTimeout),
	}
}

// Source identifies the table in the service's own database.
func (o *Outbox) Source() string { return strings.ToLower(o.table.String()) }

// outboxCondition selects the rows to publish, except those in a list, and rows without a
// GUID, for which read returns an error. It skips rows that open transactions have locked.
// READPAST alone is rejected where readers use row versions.
func outboxCondition(except string) string {
	return ` WITH (READPAST, READCOMMITTEDLOCK) WHERE RefusedReason IS NULL` +
		` AND (EventGUID IS NULL OR EventGUID NOT IN ` + except + `)`
}

// Read returns events, the oldest first. It leaves out the rows in except, which can have up to
// 1,000.
func (o *Outbox) Read(ctx context.Context, limits OutboxLimits, except []string) ([]OutboxRow, error) {
	except = append(slices.Clone(except), unusedID) // a list must not be empty
	for range executor.MaxAttempts {
		list, err := o.read(ctx, limits, except)
		if err != nil || len(list) == 0 {
			return nil, o.fault(err, "reading")
		}

		// All rows may have overtaken an earlier one, which the next attempt reads.
		list, err = o.inOrder(ctx, list, except)
		if err != nil || len(list) > 0 {
			return list, o.fault(err, "reading")
		}
	}
	return nil, nil
}

// read reads rows in order. The CAST of the body is for Babelfish, which returns a CASE
// expression as varchar.
func (o *Outbox) read(ctx context.Context, limits OutboxLimits, except []string) ([]OutboxRow, error) {
	var p outboxParams
	maxBytes := p.add(mssql.Long(int64(mssql.NvarcharSize(limits.Body))))
	exceptList := p.guids(except)
	maxRows := p.add(mssql.Long(int64(limits.Rows)))
	statement := `SELECT OutboxID, CAST(EventGUID AS nvarchar(36)), EventName, ` +
		`CAST(CASE WHEN DATALENGTH(Body) <= ` + maxBytes + ` THEN Body END AS nvarchar(max)) ` +
		`FROM ` + o.table.Quoted() + outboxCondition(exceptList) +
		` ORDER BY OutboxID OFFSET 0 ROWS FETCH NEXT ` + maxRows + ` ROWS ONLY`
	var list []OutboxRow
	err := o.run(ctx, statement, &p, func(rows *sql.Rows) error {
		list = nil // the statement may be repeated
		size := 0
		for size < limits.Bytes && rows.Next() {
			r, err := scanOutboxRow(rows, limits.Body)
			if err != nil {
				return err
			}
			size += len(r.Body)
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// scanOutboxRow reads a row of Outbox.read.
func scanOutboxRow(rows *sql.Rows, maxBody int) (OutboxRow, error) {
	var r OutboxRow
	var guid sql.NullString
	if err := rows.Scan(&r.ID, &guid, &r.Name, &r.Body); err != nil {
		return r, err
	}
	if !guid.Valid {
		return r, fault.New(fault.Unavailable, "a row has no EventGUID: %s", outboxGUID)
	}
	r.GUID = strings.ToLower(guid.String)
	r.TooLarge = r.Body == nil || len(r.Body) > maxBody
	return r, nil
}

// inOrder returns the rows before the first one that they overtook: if a transaction
// commits while the rows are read, its later rows may be read without the earlier ones.
func (o *Outbox) inOrder(ctx context.Context, list []OutboxRow, except []string) ([]OutboxRow, error) {
	var p outboxParams
	var ids []mssql.Param
	for _, r := range list {
		ids = append(ids, mssql.Long(r.ID))
	}
	exceptList := p.guids(except)
	lastID := p.add(mssql.Long(list[len(list)-1].ID))
	statement := `SELECT MIN(OutboxID) FROM ` + o.table.Quoted() + outboxCondition(exceptList) +
		` AND OutboxID < ` + lastID + ` AND OutboxID NOT IN ` + p.list(ids)
	var overtaken sql.NullInt64 // ID of the first row that was not read
	err := o.run(ctx, statement, &p, func(rows *sql.Rows) error {
		rows.Next()
		return rows.Scan(&overtaken)
	})
	if err != nil || !overtaken.Valid {
		return list, err
	}
	end := slices.IndexFunc(list, func(r OutboxRow) bool { return r.ID > overtaken.Int64 })
	if end < 0 {
		return list, nil
	}
	return list[:end], nil
}

// Delete deletes rows. Without FORCESEEK the server may scan a small table, and wait for
// rows that open transactions have inserted.
func (o *Outbox) Delete(ctx context.Context, guids []string) error {
	for part := range slices.Chunk(guids, outboxList) {
		var p outboxParams
		statement := `DELETE o FROM ` + o.table.Quoted() +
			` o WITH (FORCESEEK) WHERE o.EventGUID IN ` + p.guids(part)
		if err := o.run(ctx, statement, &p, nil); err != nil {
			return o.fault(err, "deleting published rows of")
		}
	}
	return nil
}

// Refuse records why a row is invalid. It is not read again.
func (o *Outbox) Refuse(ctx context.Context, guid, reason string) error {
	var p outboxParams
	reason = strings.ToValidUTF8(strings.ReplaceAll(reason, "\x00", "\uFFFD"), "\uFFFD")
	text := p.add(mssql.Text(mssql.Column{Type: "nvarchar"}, reason))
	statement := `UPDATE o SET RefusedReason = LEFT(` + text + `, 400) FROM ` + o.table.Quoted() +
		` o WITH (FORCESEEK) WHERE o.EventGUID IN ` + p.guids([]string{guid})
	return o.fault(o.run(ctx, statement, &p, nil), "rejecting a row of")
}

// run runs a statement, and again after transient failures: it may be repeated.
func (o *Outbox) run(ctx context.Context, text string, p *outboxParams, work func(*sql.Rows) error) error {
	text, args := mssql.Call(o.prefix+text, p.values...)
	return executor.Retry(ctx, executor.IsReadRetryable, func(ctx context.Context) error {
		if work == nil {
			_, err := o.db.ExecContext(ctx, text, args...)
			return err
		}
		rows, err := o.db.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return errors.Join(work(rows), rows.Err())
	})
}

func (o *Outbox) fault(err error, doing string) error {
	if err == nil {
		return nil
	}
	if isTableError(err) {
		err = executor.Unavailable(err,
			"the outbox "+o.table.String()+
				" is missing or incomplete, or the login has no permission; run whd check for details")
	}
	return fmt.Errorf("%s the outbox %s: %w", doing, o.table, executor.Classify(err))
}

// outboxParams are the parameters of a statement.
type outboxParams struct{ values []mssql.Param }

// add adds a parameter and returns its name.
func (p *outboxParams) add(value mssql.Param) string {
	p.values = append(p.values, value)
	return fmt.Sprintf("@p%d", len(p.values))
}

// list adds a list and returns its SQL. Its last element is repeated up to a power of two, so that
// there are few different statements.
func (p *outboxParams) list(values []mssql.Param) string {
	last := len(values) - 1
	names := make([]string, 1<<bits.Len(uint(last)))
	for i := range names {
		names[i] = p.add(values[min(i, last)])
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// guids adds a list of GUIDs and returns its SQL.
func (p *outboxParams) guids(guids []string) string {
	values := make([]mssql.Param, len(guids))
	for i, guid := range guids {
		values[i] = mssql.Guid(mssql.Column{Type: "uniqueidentifier"}, guid)
	}
	return p.list(values)
}

// checkOutbox compares the outbox with its definition, and checks the permissions to read,
// delete and refuse rows.
func checkOutbox(ctx context.Context, r *Records) ([]Finding, error) {
	if r.Outbox == nil {
		return nil, nil
	}
	findings, err := r.checkKind(ctx, outboxKind)
	for i := range findings {
		f := &findings[i]
		f.Problem = strings.Replace(f.Problem, "erp.sources", "erp.outbox", 1) +
			"; an administrator changes that with outbox.sql"
	}
	isTableMissing := len(findings) == 1 && findings[0].Field == ""
	if err != nil || isTableMissing {
		return findings, err
	}

	o := r.Outbox
	isUnsafe, err := o.hasUnsafeGUID(ctx)
	if err != nil {
		return findings, executor.Classify(err)
	}
	if isUnsafe {
		findings = append(findings, Finding{
			Kind:    outboxKind.Name,
			Table:   o.table.String(),
			Field:   "EventGUID",
			Problem: outboxGUID,
		})
	}
	missing, grant, err := mssql.MissingRights(ctx, o.db, o.table, neededRights(outboxKind)...)
	if len(missing) > 0 {
		findings = append(findings, Finding{
			Kind:    outboxKind.Name,
			Table:   o.table.String(),
			Problem: "the service's login has no permission to " + strings.Join(missing, ", "),
			Grant:   grant,
		})
	}
	return findings, executor.Classify(err)
}

// unsafeGUID counts the column EventGUID if it may be null, or has no unique index of its own.
const unsafeGUID = `SELECT COUNT(*) FROM sys.columns c
WHERE c.object_id = OBJECT_ID(@Table) AND c.name = N'EventGUID' AND (c.is_nullable = 1 OR NOT EXISTS (
	SELECT 1 FROM sys.indexes i
	JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
	WHERE i.object_id = c.object_id AND i.is_unique = 1 AND i.has_filter = 0
	GROUP BY i.index_id HAVING COUNT(*) = 1 AND MIN(k.column_id) = c.column_id))`

// hasUnsafeGUID reports whether the column EventGUID does not identify the rows.
func (o *Outbox) hasUnsafeGUID(ctx context.Context) (bool, error) {
	var n int
	err := o.db.QueryRowContext(ctx, unsafeGUID, sql.Named("Table", o.table.Quoted())).Scan(&n)
	return n > 0, err
}
