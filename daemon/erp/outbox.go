package erp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
)

// Outbox is a table in the ERP's database into which programs of the ERP insert events
// within their own transactions. Lists are passed as parameters, since OPENJSON is
// missing in databases with a low compatibility level.
type Outbox struct {
	pool   *mssql.Server // not shared with readers, which may wait for slow clients
	table  mssql.Table
	prefix string // of each statement
}

// OutboxRow is an event in the outbox.
type OutboxRow struct {
	ID       int64
	GUID     string
	Name     string
	Body     []byte
	TooLarge bool // the body, which may be missing then
}

// Limits of statements.
const (
	outboxBytes   = 1 << 20 // of bodies, after which no further row is read
	outboxPerByte = 2       // max. bytes on the server for one byte of UTF-8
	outboxList    = 1000    // rows of one statement; there may be 2,100 parameters
)

// DefaultOutbox is the name of the outbox that outbox.sql and whd migrate create.
const DefaultOutbox = "whd.WH_Outbox"

// parseOutbox parses the name of an outbox in the ERP's database.
func parseOutbox(text, schema string) (mssql.Table, error) {
	table, ok := mssql.ParseTable(text, schema)
	if !ok || table.Server != "" || table.Database != "" {
		return table, fmt.Errorf("%q is not the name of a table in the ERP's database, such as %s", text, DefaultOutbox)
	}
	return table, nil
}

// CheckOutbox returns an error unless text is the name of a table in the ERP's database.
func CheckOutbox(text string) error {
	_, err := parseOutbox(text, DefaultSchema)
	return err
}

func newOutbox(c Config) (*Outbox, error) {
	if c.Outbox == "" {
		return nil, nil
	}
	table, err := parseOutbox(c.Outbox, c.Schema)
	if err != nil {
		return nil, err
	}
	pool, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: 1})
	if err != nil {
		return nil, err
	}
	return &Outbox{pool, table, mssql.LockTimeout(c.LockTimeout)}, nil
}

// Source identifies the table in the service's own database.
func (o *Outbox) Source() string { return strings.ToLower(o.table.String()) }

// outboxCondition selects the rows to publish. It skips rows that open transactions have
// locked. READPAST alone is rejected where readers use row versions.
const outboxCondition = ` WITH (READPAST, READCOMMITTEDLOCK) WHERE RefusedReason IS NULL`

// Read returns events, the oldest first: up to limit, fewer if their bodies are large. It
// leaves out the rows except. Bodies longer than maxBody are not returned.
func (o *Outbox) Read(ctx context.Context, limit, maxBody int, except []string) (all []OutboxRow, err error) {
	for range executor.MaxAttempts {
		if all, err = o.read(ctx, limit, maxBody, except); err == nil && len(all) > 0 {
			all, err = o.inOrder(ctx, all, except)
		}
		if err != nil || len(all) > 0 {
			break
		}
	}
	return all, o.fault(err, "reading")
}

// read reads rows in order. The CAST of the body is for Babelfish, which returns a CASE
// expression as varchar.
func (o *Outbox) read(ctx context.Context, limit, maxBody int, except []string) (all []OutboxRow, err error) {
	b := &outboxStatement{}
	b.text = `SELECT OutboxID, CAST(EventGUID AS nvarchar(36)), EventName, CAST(CASE WHEN DATALENGTH(Body) <= ` + b.add(mssql.Long(int64(outboxPerByte*maxBody))) +
		` THEN Body END AS nvarchar(max)) FROM ` + o.table.Quoted() + outboxCondition + b.except(except) +
		` ORDER BY OutboxID OFFSET 0 ROWS FETCH NEXT ` + b.add(mssql.Long(int64(limit))) + ` ROWS ONLY`
	err = o.run(ctx, b, func(rows *sql.Rows) error {
		size := 0
		for all = nil; size < outboxBytes && rows.Next(); {
			var r OutboxRow
			if err := rows.Scan(&r.ID, &r.GUID, &r.Name, &r.Body); err != nil {
				return err
			}
			r.GUID = strings.ToLower(r.GUID)
			r.TooLarge = r.Body == nil || len(r.Body) > maxBody
			size += len(r.Body)
			all = append(all, r)
		}
		return nil
	})
	return all, err
}

// inOrder returns the rows before the first one that they overtook: if a transaction
// commits while the rows are read, its later rows may be read without the earlier ones.
func (o *Outbox) inOrder(ctx context.Context, all []OutboxRow, except []string) ([]OutboxRow, error) {
	b := &outboxStatement{}
	var read []mssql.Param
	for _, r := range all {
		read = append(read, mssql.Long(r.ID))
	}
	b.text = `SELECT MIN(OutboxID) FROM ` + o.table.Quoted() + outboxCondition + b.except(except) +
		` AND OutboxID < ` + b.add(mssql.Long(all[len(all)-1].ID)) + ` AND OutboxID NOT IN ` + b.list(read)
	var first sql.NullInt64
	err := o.run(ctx, b, func(rows *sql.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&first); err != nil {
				return err
			}
		}
		return nil
	})
	if i := slices.IndexFunc(all, func(r OutboxRow) bool { return first.Valid && r.ID > first.Int64 }); i >= 0 {
		all = all[:i]
	}
	return all, err
}

// Delete deletes rows. Without FORCESEEK the server may scan a small table, and wait for
// rows that open transactions have inserted.
func (o *Outbox) Delete(ctx context.Context, guids []string) error {
	for part := range slices.Chunk(guids, outboxList) {
		b := &outboxStatement{}
		b.text = `DELETE o FROM ` + o.table.Quoted() + ` o WITH (FORCESEEK) WHERE o.EventGUID IN ` + b.list(guidParams(part))
		if err := o.run(ctx, b, nil); err != nil {
			return o.fault(err, "deleting published rows of")
		}
	}
	return nil
}

// Refuse records why a row is invalid. It is not read again.
func (o *Outbox) Refuse(ctx context.Context, guid, reason string) error {
	b := &outboxStatement{}
	reason = strings.ToValidUTF8(strings.ReplaceAll(reason, "\x00", "\uFFFD"), "\uFFFD")
	b.text = `UPDATE o SET RefusedReason = LEFT(` + b.add(mssql.Text(mssql.Column{Type: "nvarchar"}, reason)) + `, 400) FROM ` +
		o.table.Quoted() + ` o WITH (FORCESEEK) WHERE o.EventGUID IN ` + b.list(guidParams([]string{guid}))
	return o.fault(o.run(ctx, b, nil), "rejecting a row of")
}

// run runs a statement, and again after transient failures: it may be repeated.
func (o *Outbox) run(ctx context.Context, b *outboxStatement, work func(*sql.Rows) error) error {
	text, args := mssql.Call(o.prefix+b.text, b.params...)
	return executor.Retry(ctx, executor.IsReadRetryable, func(ctx context.Context) error {
		if work == nil {
			_, err := o.pool.DB().ExecContext(ctx, text, args...)
			return err
		}
		rows, err := o.pool.DB().QueryContext(ctx, text, args...)
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
		err = executor.Unavailable(err, "the outbox "+o.table.String()+" is missing or incomplete, or the login has no permission; run whd check for details")
	}
	return fmt.Errorf("%s the outbox %s: %w", doing, o.table, executor.Classify(err))
}

// outboxStatement is a statement with its parameters.
type outboxStatement struct {
	text   string
	params []mssql.Param
}

func (b *outboxStatement) add(p mssql.Param) string {
	b.params = append(b.params, p)
	return fmt.Sprintf("@p%d", len(b.params))
}

// list adds a list of parameters. Its last one is repeated up to a power of two, so that
// there are few different statements.
func (b *outboxStatement) list(all []mssql.Param) string {
	var names []string
	for count := 1; len(names) < count; {
		names = append(names, b.add(all[min(len(names), len(all)-1)]))
		if len(names) == count && count < len(all) {
			count *= 2
		}
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func (b *outboxStatement) except(guids []string) string {
	if len(guids) == 0 {
		return ""
	}
	return ` AND EventGUID NOT IN ` + b.list(guidParams(guids))
}

func guidParams(guids []string) (all []mssql.Param) {
	for _, guid := range guids {
		all = append(all, mssql.Guid(mssql.Column{Type: "uniqueidentifier"}, guid))
	}
	return all
}

// outboxColumns are the columns of the outbox with the names of their types on SQL Server.
var outboxColumns = [][2]string{{"OutboxID", "bigint int"}, {"EventGUID", "uniqueidentifier"}, {"EventName", "nvarchar varchar"},
	{"Body", "nvarchar varchar"}, {"RefusedReason", "nvarchar varchar"}}

// check returns the columns and permissions that are missing for reading, deleting and
// refusing rows.
func (o *Outbox) check(ctx context.Context) (all []Finding, err error) {
	add := func(column, problem string) {
		all = append(all, Finding{Kind: "outbox", Table: o.table.String(), Field: column, Problem: problem})
	}
	conn, err := o.pool.Get(ctx)
	if err != nil {
		return nil, err
	}
	columns, err := conn.Catalogue(ctx, o.table)
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		add("", "there is no such table, or no permission on it; an administrator creates it and GRANTs the permissions with outbox.sql")
		return all, nil
	}
	for _, want := range outboxColumns {
		i := slices.IndexFunc(columns, func(c mssql.Column) bool { return strings.EqualFold(c.Name, want[0]) })
		switch {
		case i < 0:
			add(want[0], "there is no such column; an administrator adds it with outbox.sql")
		case !slices.Contains(strings.Fields(want[1]), columns[i].Type):
			add(want[0], "the column is "+columns[i].Declared()+", not "+strings.Fields(want[1])[0])
		}
	}
	missing, grant, err := mssql.MissingRights(ctx, o.pool.DB(), o.table, "SELECT", "DELETE", "UPDATE (RefusedReason)")
	if len(missing) > 0 {
		add("", "the service's login has no permission to "+strings.Join(missing, ", "))
		all[len(all)-1].Grant = grant
	}
	return all, err
}
