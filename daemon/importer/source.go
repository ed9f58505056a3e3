package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The existing service's tables.
const (
	subscriberTable   = "SY_WebhookSubscriber"
	subscriptionTable = "SY_WebhookSubscription"
	headerTable       = "SY_WebhookSubscriptionRequestHeader"
	messageTable      = "SY_WebhookMessage"
)

// required lists the columns that are read. RecIDs are GUIDs or texts.
var required = []struct {
	table   string
	columns []string
}{
	{subscriberTable, []string{"RecID", "Name", "IsEnabled", "ItemNo"}},
	{subscriptionTable, []string{"RecID", "SY_WebhookSubscriber_RecID", "EventName", "URL", "ItemNo"}},
	{headerTable, []string{"RecID", "SY_WebhookSubscription_RecID", "Name", "Value"}},
	{messageTable, []string{"RecID", "SY_WebhookSubscription_RecID", "Body", "Status", "Retries", "AddedDateTime"}},
}

// Columns that not all releases have.
const (
	dueColumn  = "RetryAfterDateTime" // of messages
	itemColumn = "ItemNo"             // of headers
)

// source reads the existing service's tables in one transaction.
type source struct {
	tx         *sql.Tx
	schema     string
	consistent bool            // all reads see the same state
	optional   map[string]bool // by table.column
}

// openSource checks that the tables and columns exist and starts the transaction. It has
// snapshot isolation if the database allows it, so that it neither waits for the existing
// service nor blocks it.
func openSource(ctx context.Context, server *mssql.Server, schema string) (*source, error) {
	s := &source{schema: schema, optional: make(map[string]bool)}
	conn, err := server.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var missing []error
	for _, r := range required {
		found, err := conn.Catalogue(ctx, mssql.Table{Schema: schema, Name: r.table})
		if err != nil {
			return nil, err
		}
		has := func(name string) bool {
			return slices.ContainsFunc(found, func(c mssql.Column) bool { return strings.EqualFold(c.Name, name) })
		}
		lacking := slices.DeleteFunc(slices.Clone(r.columns), has)
		switch {
		case len(found) == 0:
			missing = append(missing, fmt.Errorf("the table %s.%s is missing, or the login may not read it", schema, r.table))
		case len(lacking) > 0:
			missing = append(missing, fmt.Errorf("the table %s.%s has no column %s", schema, r.table, strings.Join(lacking, ", ")))
		}
		for _, name := range []string{dueColumn, itemColumn} {
			s.optional[r.table+"."+name] = has(name)
		}
	}
	if missing != nil {
		return nil, errors.Join(missing...)
	}
	o := sql.TxOptions{}
	_ = server.DB().QueryRowContext(ctx, `SELECT CAST(CASE WHEN snapshot_isolation_state = 1 THEN 1 ELSE 0 END AS bit) FROM sys.databases WHERE name = DB_NAME()`).Scan(&s.consistent) // if it cannot be read, the reads are separate
	if s.consistent {
		o.Isolation = sql.LevelSnapshot
	}
	s.tx, err = server.DB().BeginTx(ctx, &o)
	return s, err
}

// read passes each row of a statement to scan until that returns false. {schema} is
// replaced by the schema.
func (s *source) read(ctx context.Context, scan func(*sql.Rows) (bool, error), statement string, args ...any) error {
	rows, err := s.tx.QueryContext(ctx, strings.ReplaceAll(statement, "{schema}", mssql.Quote(s.schema)), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := scan(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// readTexts returns the rows of a statement with n columns of texts.
func (s *source) readTexts(ctx context.Context, n int, statement string) (all [][]string, err error) {
	err = s.read(ctx, func(rows *sql.Rows) (bool, error) {
		row, into := make([]string, n), make([]any, n)
		for i := range row {
			into[i] = &row[i]
		}
		all = append(all, row)
		return true, rows.Scan(into...)
	}, statement)
	return all, err
}

const recID = `CONVERT(nvarchar(36), RecID)`

// subscribers returns the RecID, name and 0 or 1 for IsEnabled of all subscribers.
func (s *source) subscribers(ctx context.Context) ([][]string, error) {
	return s.readTexts(ctx, 3, `SELECT `+recID+`, COALESCE(Name, N''), CASE WHEN IsEnabled = 1 THEN N'1' ELSE N'0' END FROM {schema}.`+subscriberTable+` ORDER BY ItemNo, RecID`)
}

// subscriptions returns the RecID, that of the subscriber, event name and URL of all
// subscriptions.
func (s *source) subscriptions(ctx context.Context) ([][]string, error) {
	return s.readTexts(ctx, 4, `SELECT `+recID+`, CONVERT(nvarchar(36), SY_WebhookSubscriber_RecID), COALESCE(EventName, N''), COALESCE(URL, N'') FROM {schema}.`+subscriptionTable+` ORDER BY ItemNo, RecID`)
}

// headers returns the RecID, that of the subscription, name and value of all headers.
func (s *source) headers(ctx context.Context) ([][]string, error) {
	order := `RecID`
	if s.optional[headerTable+"."+itemColumn] {
		order = itemColumn + `, ` + order
	}
	return s.readTexts(ctx, 4, `SELECT `+recID+`, CONVERT(nvarchar(36), SY_WebhookSubscription_RecID), COALESCE(Name, N''), COALESCE(Value, N'') FROM {schema}.`+headerTable+` ORDER BY `+order)
}

// finished returns the number of messages that are delivered or have failed for good.
func (s *source) finished(ctx context.Context) (n int64, err error) {
	err = s.read(ctx, func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&n) }, `SELECT COUNT_BIG(*) FROM {schema}.`+messageTable+` WHERE Status NOT IN (0, 2)`)
	return n, err
}

// message is an unfinished message of the existing service.
type message struct {
	key              string // position in the order of pages: the date, then the RecID
	id, subscription string
	status, retries  int
	added, due       string // local times, empty if unknown
	body             sql.NullString
	size             int64 // on the server, in bytes
}

// Limits of a page of messages. The first one reached ends the page.
const (
	pageRows  = 200
	pageBytes = 1 << 20 // of bodies
)

// bytesPerByte is the maximum size on the server of one byte of UTF-8.
const bytesPerByte = 2

// page returns unfinished messages that follow a key, oldest first. The key is a text made
// by the server, since a date that is read and sent back may be rounded.
func (s *source) page(ctx context.Context, after string) (all []message, err error) {
	due := `N''`
	if s.optional[messageTable+"."+dueColumn] {
		due = `COALESCE(CONVERT(nvarchar(33), ` + dueColumn + `, 121), N'')`
	}
	size := 0
	err = s.read(ctx, func(rows *sql.Rows) (bool, error) {
		var m message
		err := rows.Scan(&m.key, &m.id, &m.subscription, &m.status, &m.retries, &m.added, &m.due, &m.body, &m.size)
		all, size = append(all, m), size+len(m.body.String)
		return size < pageBytes, err
	}, `SELECT TOP (@Rows) m.K, `+recID+`, COALESCE(CONVERT(nvarchar(36), SY_WebhookSubscription_RecID), N''), CAST(Status AS int), CAST(COALESCE(Retries, 0) AS int),
	COALESCE(CONVERT(nvarchar(33), AddedDateTime, 121), N''), `+due+`, CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body END AS nvarchar(max)), CAST(COALESCE(DATALENGTH(Body), 0) AS bigint)
FROM (SELECT *, COALESCE(CONVERT(nvarchar(33), AddedDateTime, 121), N'') + N' ' + `+recID+` AS K FROM {schema}.`+messageTable+` WHERE Status IN (0, 2)) m
WHERE m.K > @After ORDER BY m.K`, sql.Named("Rows", pageRows), sql.Named("After", after), sql.Named("Most", bytesPerByte*delivery.MaxBodySize))
	return all, err
}
