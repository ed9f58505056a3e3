package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// table is a table of the .NET service with the columns that are read. The first one
// is its key; all that end in RecID contain GUIDs.
type table struct {
	name    string
	columns []string
	order   []string // columns by which the rows are ordered
}

var (
	subscriberTable = table{
		name:    "SY_WebhookSubscriber",
		columns: []string{"RecID", "Name", "IsEnabled"},
		order:   []string{"ItemNo", "RecID"},
	}
	subscriptionTable = table{
		name:    "SY_WebhookSubscription",
		columns: []string{"RecID", "SY_WebhookSubscriber_RecID", "EventName", "URL"},
		order:   []string{"ItemNo", "RecID"},
	}
	headerTable = table{
		name:    "SY_WebhookSubscriptionRequestHeader",
		columns: []string{"RecID", "SY_WebhookSubscription_RecID", "Name", "Value"},
		order:   []string{"RecID"},
	}
	messageTable = table{
		name: "SY_WebhookMessage",
		columns: []string{
			"RecID", "SY_WebhookSubscription_RecID", "Status", "Retries", "AddedDateTime", "Body",
		},
		order: []string{"AddedDateTime"},
	}
)

// source reads the .NET service's tables in one transaction.
type source struct {
	tx         *sql.Tx
	schema     string
	consistent bool // all reads see the same state
}

// openSource checks that the tables and columns exist and starts the transaction. It has
// snapshot isolation if the database allows it, so that it neither waits for the existing
// service nor blocks it.
func openSource(ctx context.Context, server *mssql.Server, schema string) (*source, error) {
	if err := checkTables(ctx, server, schema); err != nil {
		return nil, err
	}
	const allowsSnapshot = `SELECT CAST(CASE WHEN snapshot_isolation_state = 1 THEN 1 ELSE 0 END AS bit)
FROM sys.databases WHERE name = DB_NAME()`
	s := &source{schema: schema}
	// Without permission to read the state, the reads are not consistent.
	_ = server.DB().QueryRowContext(ctx, allowsSnapshot).Scan(&s.consistent)
	var options sql.TxOptions
	if s.consistent {
		options.Isolation = sql.LevelSnapshot
	}
	tx, err := server.DB().BeginTx(ctx, &options)
	if err != nil {
		return nil, err
	}
	s.tx = tx
	return s, nil
}

// checkTables returns an error with all tables and columns that are missing.
func checkTables(ctx context.Context, server *mssql.Server, schema string) error {
	conn, err := server.Get(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var missing []error
	for _, t := range []table{subscriberTable, subscriptionTable, headerTable, messageTable} {
		catalogue, err := conn.Catalogue(ctx, mssql.Table{Schema: schema, Name: t.name})
		if err != nil {
			return err
		}
		if len(catalogue) == 0 {
			missing = append(missing,
				fmt.Errorf("the table %s.%s is missing, or the login may not read it", schema, t.name))
			continue
		}
		for _, name := range t.required() {
			hasName := func(c mssql.Column) bool { return strings.EqualFold(c.Name, name) }
			if !slices.ContainsFunc(catalogue, hasName) {
				missing = append(missing, fmt.Errorf("the table %s.%s has no column %s", schema, t.name, name))
			}
		}
	}
	return errors.Join(missing...)
}

// required returns the columns that the table must have.
func (t table) required() []string {
	names := slices.Clone(t.columns)
	for _, name := range t.order {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// from returns the FROM clause of a table.
func (s *source) from(t table) string { return ` FROM ` + mssql.Quote(s.schema) + `.` + t.name }

// read passes each row of a statement to scan until that returns false.
func (s *source) read(
	ctx context.Context, scan func(*sql.Rows) (bool, error), statement string, args ...any,
) error {
	rows, err := s.tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if hasRoom, err := scan(rows); err != nil || !hasRoom {
			return err
		}
	}
	return rows.Err()
}

// rows returns the rows of a table as texts by column, empty for NULL. GUIDs have the form of
// this service, bits are 0 or 1.
func (s *source) rows(ctx context.Context, t table) ([]map[string]string, error) {
	texts := make([]string, len(t.columns))
	for i, column := range t.columns {
		texts[i] = `COALESCE(CONVERT(nvarchar(max), ` + column + `), N'')`
	}
	statement := `SELECT ` + strings.Join(texts, ", ") + s.from(t) +
		` ORDER BY ` + strings.Join(t.order, ", ")

	var list []map[string]string
	scan := func(rows *sql.Rows) (bool, error) {
		row, err := t.scan(rows)
		list = append(list, row)
		return true, err
	}
	err := s.read(ctx, scan, statement)
	return list, err
}

// scan returns the texts of a row by column.
func (t table) scan(rows *sql.Rows) (map[string]string, error) {
	texts := make([]string, len(t.columns))
	pointers := make([]any, len(texts))
	for i := range texts {
		pointers[i] = &texts[i]
	}
	if err := rows.Scan(pointers...); err != nil {
		return nil, err
	}
	row := make(map[string]string, len(texts))
	for i, column := range t.columns {
		text := texts[i]
		if strings.HasSuffix(column, "RecID") {
			guid, err := parseGuid(text, t)
			if err != nil {
				return nil, err
			}
			text = guid
		}
		row[column] = text
	}
	return row, nil
}

// parseGuid returns the GUID of a row in the form of this service.
func parseGuid(text string, t table) (string, error) {
	id, err := wire.ParseGuid(text)
	if err != nil {
		err = fmt.Errorf("the table %s has a row with the RecID %q: it %w", t.name, text, err)
	}
	return id, err
}

// finished returns the number of messages that are delivered or have failed for good.
func (s *source) finished(ctx context.Context) (n int64, err error) {
	statement := `SELECT COUNT_BIG(*)` + s.from(messageTable) + ` WHERE Status NOT IN (0, 2)`
	err = s.tx.QueryRowContext(ctx, statement).Scan(&n)
	return n, err
}

// message is an unfinished message of the .NET service.
type message struct {
	key              string // position in the order of pages
	added            string // local time, empty if unknown
	id, subscription string
	status, retries  int
	body             string
	tooLarge         bool // then body is empty
}

// Limits of a page of messages. The first one reached ends the page.
const (
	pageRows  = 200
	pageBytes = 1 << 20 // of bodies
)

// page returns unfinished messages that follow a key, oldest first. The server makes the
// key, a text: a date that is read and sent back may be rounded.
func (s *source) page(ctx context.Context, after string) (page []message, err error) {
	statement := `SELECT TOP (@Rows)
	m.Added + CONVERT(nvarchar(36), RecID),
	m.Added,
	CONVERT(nvarchar(36), RecID),
	CONVERT(nvarchar(36), SY_WebhookSubscription_RecID),
	CAST(Status AS int),
	CAST(COALESCE(Retries, 0) AS int),
	CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body ELSE N'' END AS nvarchar(max)),
	CAST(CASE WHEN DATALENGTH(Body) > @Most THEN 1 ELSE 0 END AS bit)
FROM (
	SELECT *, COALESCE(CONVERT(nvarchar(33), AddedDateTime, 121), N'') AS Added` + s.from(messageTable) + `
	WHERE Status IN (0, 2)
) m
WHERE m.Added + CONVERT(nvarchar(36), RecID) > @After ORDER BY 1`

	size := 0
	scan := func(rows *sql.Rows) (bool, error) {
		m, err := scanMessage(rows)
		page = append(page, m)
		size += len(m.body)
		return size < pageBytes, err
	}
	err = s.read(ctx, scan, statement,
		sql.Named("Rows", pageRows),
		sql.Named("After", after),
		sql.Named("Most", mssql.NvarcharSize(delivery.MaxEventBody)))
	return page, err
}

// scanMessage returns the message of a row.
func scanMessage(rows *sql.Rows) (m message, err error) {
	err = rows.Scan(&m.key, &m.added, &m.id, &m.subscription,
		&m.status, &m.retries, &m.body, &m.tooLarge)
	if err != nil {
		return m, err
	}
	m.tooLarge = m.tooLarge || len(m.body) > delivery.MaxEventBody
	m.id, err = parseGuid(m.id, messageTable)
	if err != nil {
		return m, err
	}
	m.subscription, err = parseGuid(m.subscription, messageTable)
	return m, err
}
