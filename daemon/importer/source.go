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

// table is a table of the existing service with the columns that are read. The first one
// is its key; all that end in RecID contain GUIDs.
type table struct {
	name    string
	columns []string
	order   string
}

var (
	subscriberTable   = table{"SY_WebhookSubscriber", []string{"RecID", "Name", "IsEnabled"}, "ItemNo, RecID"}
	subscriptionTable = table{"SY_WebhookSubscription", []string{
		"RecID", "SY_WebhookSubscriber_RecID", "EventName", "URL",
	}, "ItemNo, RecID"}
	headerTable = table{"SY_WebhookSubscriptionRequestHeader", []string{
		"RecID", "SY_WebhookSubscription_RecID", "Name", "Value",
	}, "RecID"}
	messageTable = table{"SY_WebhookMessage", []string{
		"RecID", "SY_WebhookSubscription_RecID", "Status", "Retries", "AddedDateTime",
		"Body",
	}, "AddedDateTime"}
)

// source reads the existing service's tables in one transaction.
type source struct {
	tx         *sql.Tx
	schema     string
	consistent bool // all reads see the same state
}

// openSource checks that the tables and columns exist and starts the transaction. It has
// snapshot isolation if the database allows it, so that it neither waits for the existing
// service nor blocks it.
func openSource(ctx context.Context, server *mssql.Server, schema string) (*source, error) {
	conn, err := server.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var missing []error
	for _, t := range []table{subscriberTable, subscriptionTable, headerTable, messageTable} {
		found, err := conn.Catalogue(ctx, mssql.Table{Schema: schema, Name: t.name})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = append(missing,
				fmt.Errorf("the table %s.%s is missing, or the login may not read it", schema, t.name))
			continue
		}
		for _, name := range slices.Compact(append(t.columns, strings.Split(t.order, ", ")[0])) {
			if !slices.ContainsFunc(found, func(c mssql.Column) bool { return strings.EqualFold(c.Name, name) }) {
				missing = append(missing, fmt.Errorf("the table %s.%s has no column %s", schema, t.name, name))
			}
		}
	}
	if missing != nil {
		return nil, errors.Join(missing...)
	}
	s, o := &source{schema: schema}, sql.TxOptions{}
	_ = server.DB().QueryRowContext(ctx, `SELECT CAST(CASE WHEN snapshot_isolation_state = 1 THEN 1 ELSE 0 END AS bit) FROM sys.databases WHERE name = DB_NAME()`).Scan(&s.consistent) // false if the login may not read it
	if s.consistent {
		o.Isolation = sql.LevelSnapshot
	}
	s.tx, err = server.DB().BeginTx(ctx, &o)
	return s, err
}

// from returns the FROM clause of a table.
func (s *source) from(t table) string { return ` FROM ` + mssql.Quote(s.schema) + `.` + t.name }

// read passes each row of a statement to scan until that returns false.
func (s *source) read(ctx context.Context, scan func(*sql.Rows) (bool, error), statement string, args ...any) error {
	rows, err := s.tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if continues, err := scan(rows); err != nil || !continues {
			return err
		}
	}
	return rows.Err()
}

// rows returns the rows of a table as texts, empty for NULL. GUIDs have the form of this
// service, bits are 0 or 1.
func (s *source) rows(ctx context.Context, t table) (all [][]string, err error) {
	var list []string
	for _, c := range t.columns {
		list = append(list, `COALESCE(CONVERT(nvarchar(max), `+c+`), N'')`)
	}
	err = s.read(ctx, func(rows *sql.Rows) (bool, error) {
		row, into := make([]string, len(list)), make([]any, len(list))
		for i := range row {
			into[i] = &row[i]
		}
		err := rows.Scan(into...)
		for i := range row {
			if err == nil && strings.HasSuffix(t.columns[i], "RecID") {
				row[i], err = parseGuid(row[i], t)
			}
		}
		all = append(all, row)
		return true, err
	}, `SELECT `+strings.Join(list, ", ")+s.from(t)+` ORDER BY `+t.order)
	return all, err
}

func parseGuid(text string, t table) (string, error) {
	id, err := wire.ParseGuid(text)
	if err != nil {
		err = fmt.Errorf("the table %s has a row with the RecID %q: it %w", t.name, text, err)
	}
	return id, err
}

// finished returns the number of messages that are delivered or have failed for good.
func (s *source) finished(ctx context.Context) (n int64, err error) {
	err = s.tx.QueryRowContext(ctx, `SELECT COUNT_BIG(*)`+s.from(messageTable)+` WHERE Status NOT IN (0, 2)`).Scan(&n)
	return n, err
}

// message is an unfinished message of the existing service.
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

// bytesPerByte is the maximum size on the server of one byte of UTF-8.
const bytesPerByte = 2

// page returns unfinished messages that follow a key, oldest first. The server makes the
// key, a text: a date that is read and sent back may be rounded.
func (s *source) page(ctx context.Context, after string) (all []message, err error) {
	size := 0
	err = s.read(ctx, func(rows *sql.Rows) (bool, error) {
		var m message
		err := rows.Scan(&m.key, &m.added, &m.id, &m.subscription, &m.status, &m.retries, &m.body, &m.tooLarge)
		for _, id := range []*string{&m.id, &m.subscription} {
			if err == nil {
				*id, err = parseGuid(*id, messageTable)
			}
		}
		m.tooLarge = m.tooLarge || len(m.body) > delivery.MaxBodySize
		all, size = append(all, m), size+len(m.body)
		return size < pageBytes, err
	}, `SELECT TOP (@Rows) m.Added + CONVERT(nvarchar(36), RecID), m.Added, CONVERT(nvarchar(36), RecID), CONVERT(nvarchar(36), SY_WebhookSubscription_RecID), CAST(Status AS int), CAST(COALESCE(Retries, 0) AS int),
	CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body ELSE N'' END AS nvarchar(max)), CAST(CASE WHEN DATALENGTH(Body) > @Most THEN 1 ELSE 0 END AS bit)
FROM (SELECT *, COALESCE(CONVERT(nvarchar(33), AddedDateTime, 121), N'') AS Added`+s.from(messageTable)+
		` WHERE Status IN (0, 2)) m
WHERE m.Added + CONVERT(nvarchar(36), RecID) > @After ORDER BY 1`, sql.Named("Rows", pageRows),
		sql.Named("After", after), sql.Named("Most", bytesPerByte*delivery.MaxBodySize))
	return all, err
}
