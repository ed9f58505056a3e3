package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// minuteRow has the additions of a batch to a row of WH_DeliveryMinute.
type minuteRow struct {
	stats.Key
	stats.Traffic
	daemon int64
	took   stats.Took
	failed *attempt // the last failed one; nil for none
}

// failedValue returns a value of the last failed attempt, nil if there is none.
func failedValue(value func(a *attempt) any) func(*minuteRow) any {
	return func(row *minuteRow) any {
		if row.failed == nil {
			return nil
		}
		return value(row.failed)
	}
}

// Columns of WH_DeliveryMinute.
var (
	minuteKeyColumns = columns[*minuteRow]{
		{"Minute", integer, func(row *minuteRow) any { return row.Minute }},
		{"SubscriptionID", number, func(row *minuteRow) any { return row.Subscription }},
		{"DaemonID", number, func(row *minuteRow) any { return row.daemon }},
	}
	publishedColumns = columns[*minuteRow]{
		{"Events", integer, func(row *minuteRow) any { return row.Events }},
		{"Messages", integer, func(row *minuteRow) any { return row.Messages }},
	}
	attemptedColumns = append(columns[*minuteRow]{
		{"Delivered", integer, func(row *minuteRow) any { return row.Delivered }},
		{"Failed", integer, func(row *minuteRow) any { return row.Failed }},
		{"GivenUp", integer, func(row *minuteRow) any { return row.GivenUp }},
	}, newTookColumns()...)
	failedColumns = columns[*minuteRow]{
		{"FailedDateTime", dateTime, failedValue(func(a *attempt) any { return a.ended() })},
		{"HTTPCode", integer, failedValue(func(a *attempt) any { return when(a.Code != 0, int64(a.Code)) })},
		{"FailedMessage", "nvarchar(256)", failedValue(func(a *attempt) any { return sanitize(a.Reason(), maxReason) })},
	}
	sumColumns    = slices.Concat(publishedColumns, attemptedColumns)
	minuteColumns = slices.Concat(minuteKeyColumns, sumColumns, failedColumns)

	lastFailedColumns = slices.Concat(minuteKeyColumns, failedColumns)
)

func newTookColumns() columns[*minuteRow] {
	var list columns[*minuteRow]
	for i := range stats.TookBuckets {
		list = append(list, column[*minuteRow]{
			name:  fmt.Sprint("Took", i+1),
			typ:   integer,
			value: func(row *minuteRow) any { return row.took[i] },
		})
	}
	return list
}

// publishedMinute returns the minute that the events of a batch are counted in.
func publishedMinute(b *delivery.Batch) int64 { return stats.MinuteOf(b.Events[0].AddedAt) }

// minuteRows are the rows that a batch adds to.
type minuteRows struct {
	daemon int64
	rows   []*minuteRow
	byKey  map[stats.Key]*minuteRow
}

func newMinuteRows(b *delivery.Batch) minuteRows {
	return minuteRows{daemon: b.Home, byKey: make(map[stats.Key]*minuteRow)}
}

func (m *minuteRows) row(key stats.Key) *minuteRow {
	row := m.byKey[key]
	if row == nil {
		row = &minuteRow{Key: key, daemon: m.daemon}
		m.byKey[key] = row
		m.rows = append(m.rows, row)
	}
	return row
}

// published adds events or messages.
func (m *minuteRows) published(minute int64, t stats.Traffic) {
	if t != (stats.Traffic{}) {
		m.row(stats.Key{Minute: minute, Subscription: stats.Published}).Add(t)
	}
}

// attempted adds an attempt.
func (m *minuteRows) attempted(a *attempt) {
	for _, i := range incrementsOf(a) {
		row := m.row(i.Key)
		row.Add(i.Traffic)
		row.took[i.Bucket]++
		if i.IsFailed {
			row.failed = a
		}
	}
}

// incrementsOf returns the increments of an attempt.
func incrementsOf(a *attempt) []stats.Increment {
	increments := []stats.Increment{stats.OfAttempt(&a.AttemptResult)}
	delay, ok := stats.OfDelay(&a.AttemptResult)
	if ok {
		increments = append(increments, delay)
	}
	return increments
}

// fileMinute adds a row to that of its minute.
var fileMinute = newStatement(minuteColumns, `INSERT INTO WH_DeliveryMinute (`+minuteColumns.names()+`)
VALUES (`+minuteColumns.parameters()+`)
ON CONFLICT (`+minuteKeyColumns.names()+`) DO UPDATE SET
	`+sumColumns.additions("", "excluded")+`,
	`+failedColumns.list(func(c column[*minuteRow]) string {
	return c.name + ` = CASE WHEN excluded.FailedDateTime IS NULL THEN ` + c.name + ` ELSE excluded.` + c.name + ` END`
}))

// additions returns the SET list that adds the values of another row.
func (c columns[T]) additions(target, other string) string {
	return c.list(func(col column[T]) string {
		return col.name + ` = ` + target + col.name + ` + ` + other + `.` + col.name
	})
}

// assignments returns the SET list that takes the values of another row.
func (c columns[T]) assignments(other string) string {
	return c.list(func(col column[T]) string { return col.name + ` = ` + other + `.` + col.name })
}

// countedRow is an increment of an attempt, for SQL Server: the statement adds it if the attempt
// is not stored yet.
type countedRow struct {
	*attempt
	stats.Increment
}

var countedColumns = columns[countedRow]{
	{"MessageID", number, func(c countedRow) any { return c.Message.ID }},
	{"Attempt", integer, func(c countedRow) any { return int64(c.After.Attempts) }},
	{"Minute", integer, func(c countedRow) any { return c.Minute }},
	{"SubscriptionID", number, func(c countedRow) any { return c.Subscription }},
	{"Delivered", integer, func(c countedRow) any { return c.Delivered }},
	{"Failed", integer, func(c countedRow) any { return c.Failed }},
	{"GivenUp", integer, func(c countedRow) any { return c.GivenUp }},
	{"Took", integer, func(c countedRow) any { return int64(c.Bucket + 1) }},
}

func countedRows(attempts []*attempt) []countedRow {
	rows := make([]countedRow, 0, 2*len(attempts))
	for _, a := range attempts {
		for _, i := range incrementsOf(a) {
			rows = append(rows, countedRow{a, i})
		}
	}
	return rows
}

// noneYet are the values of a row that was not counted in yet.
var noneYet = sumColumns.list(func(column[*minuteRow]) string { return "0" })

var (
	// Rows of other daemons have another DaemonID, so that none waits for another.
	serverPublished = `IF NOT EXISTS (SELECT 1 FROM whd.WH_DeliveryMinute
	WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home)
	INSERT INTO whd.WH_DeliveryMinute (` + minuteKeyColumns.names() + `, ` + sumColumns.names() + `)
	VALUES (@PublishedMinute, 0, @Home, ` + noneYet + `);
UPDATE whd.WH_DeliveryMinute SET Events = Events + @NewEvents, Messages = Messages + @NewMessages
WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home;
`
	// The attempts that are about to be stored: their messages have been updated.
	serverCounted = `INSERT INTO whd.WH_DeliveryMinute (` + minuteKeyColumns.names() + `, ` + sumColumns.names() + `)
SELECT DISTINCT n.Minute, n.SubscriptionID, @Home, ` + noneYet + `
FROM ` + countedColumns.open("Counted", "Minute", "SubscriptionID") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_DeliveryMinute o
	WHERE o.Minute = n.Minute AND o.SubscriptionID = n.SubscriptionID AND o.DaemonID = @Home);
UPDATE d SET ` + attemptedColumns.additions("d.", "c") + `
FROM whd.WH_DeliveryMinute d WITH (FORCESEEK)
JOIN (SELECT n.Minute, n.SubscriptionID, ` + attemptedColumns.list(serverSum) + `
	FROM ` + countedColumns.open("Counted") + ` n
	JOIN whd.SY_WebhookMessage m ON m.ID = n.MessageID AND m.Attempts = n.Attempt
	WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r
		WHERE r.MessageID = n.MessageID AND r.Attempt = n.Attempt)
	GROUP BY n.Minute, n.SubscriptionID) c ON c.Minute = d.Minute AND c.SubscriptionID = d.SubscriptionID
WHERE d.DaemonID = @Home;
`
	serverFailed = `UPDATE d SET ` + failedColumns.assignments("n") + `
FROM whd.WH_DeliveryMinute d WITH (FORCESEEK)
JOIN ` + lastFailedColumns.open("LastFailed") + ` n
	ON n.Minute = d.Minute AND n.SubscriptionID = d.SubscriptionID
WHERE d.DaemonID = @Home AND d.Failed + d.GivenUp > 0;
`
)

// serverSum returns the sum of a column over the counted rows n.
func serverSum(c column[*minuteRow]) string {
	if bucket, ok := strings.CutPrefix(c.name, "Took"); ok {
		return `SUM(CASE n.Took WHEN ` + bucket + ` THEN 1 ELSE 0 END) AS ` + c.name
	}
	return `SUM(n.` + c.name + `) AS ` + c.name
}

// failedOf returns the rows with a failed attempt.
func failedOf(b *delivery.Batch, attempts []*attempt) []*minuteRow {
	counted := newMinuteRows(b)
	for _, a := range attempts {
		counted.attempted(a)
	}
	return slices.DeleteFunc(counted.rows, func(row *minuteRow) bool { return row.failed == nil })
}

// countedSince is the number of the first minute that was counted.
const countedSince = `CountedSince`

// inPeriod selects the minutes of a period.
const inPeriod = ` FROM whd.WH_DeliveryMinute WHERE Minute BETWEEN @First AND @Last`

func periodArgs(first, last int64) []any {
	return []any{sql.Named("First", first), sql.Named("Last", last)}
}

// sums returns the SELECT list of the sums of columns.
func (c columns[T]) sums() string {
	return c.list(func(col column[T]) string { return `SUM(` + col.name + `)` })
}

// minuteSums is the SELECT list that minuteFields reads.
var minuteSums = `Minute, ` + sumColumns[:len(sumColumns)-stats.TookBuckets].sums()

func minuteFields(m *stats.Minute) []any {
	return []any{&m.Minute, &m.Events, &m.Messages, &m.Delivered, &m.Failed, &m.GivenUp}
}

// Minutes returns the traffic of each minute of a period that has any.
func (e *Engine) Minutes(ctx context.Context, first, last int64) ([]stats.Minute, error) {
	minutes, err := appdb.QueryAll(ctx, e.db, scanInto(minuteFields),
		`SELECT `+minuteSums+inPeriod+` GROUP BY Minute`, periodArgs(first, last)...)
	return minutes, e.fault(err, "reading the traffic by minute")
}

// subscriptionCount is the traffic of a subscription in a period.
type subscriptionCount struct {
	subscription int64
	stats.Count
}

func subscriptionCountFields(c *subscriptionCount) []any {
	fields := []any{&c.subscription, &c.Delivered, &c.Failed, &c.GivenUp}
	for i := range c.Took {
		fields = append(fields, &c.Took[i])
	}
	return fields
}

// counts returns the counts of a period, grouped by an expression.
func (e *Engine) counts(ctx context.Context, first, last int64, by string) ([]subscriptionCount, error) {
	if first > last {
		return nil, nil
	}
	return appdb.QueryAll(ctx, e.db, scanInto(subscriptionCountFields),
		`SELECT `+by+`, `+attemptedColumns.sums()+inPeriod+` GROUP BY `+by, periodArgs(first, last)...)
}

// Activity reads the minutes before those that are counted for each subscription only as a whole.
func (e *Engine) Activity(ctx context.Context, p stats.Period) (stats.Activity, error) {
	const doing = "reading the statistics"
	activity := stats.Activity{Subscriptions: make(map[int64]*stats.Count)}
	since, err := e.queryInt(ctx, doing, `SELECT Next FROM whd.WH_Number WHERE Name = @Name`,
		sql.Named("Name", countedSince))
	if err != nil {
		return activity, err
	}
	earliest := p.Last - int64(stats.Kept/time.Minute)
	activity.Since = stats.StartOf(min(p.Last, max(since, earliest)))
	activity.Minutes, err = e.Minutes(ctx, p.First, p.Last)
	if err != nil {
		return activity, err
	}

	current, err := e.counts(ctx, p.QueueFirst, p.Last, `SubscriptionID`)
	if err != nil {
		return activity, e.fault(err, doing)
	}
	for _, c := range current {
		activity.Subscriptions[c.subscription] = &c.Count
	}
	earlier, err := e.counts(ctx, p.First, p.QueueFirst-1, `CASE SubscriptionID WHEN 0 THEN 0 ELSE 1 END`)
	if err != nil {
		return activity, e.fault(err, doing)
	}
	for _, c := range slices.Concat(current, earlier) {
		if c.subscription == stats.Published {
			activity.Delays.Add(&c.Took)
		} else {
			activity.Attempts.Add(&c.Took)
		}
	}
	activity.Steps, err = e.steps(ctx, p)
	if err != nil {
		return activity, e.fault(err, doing)
	}
	return activity, e.fault(e.addFailures(ctx, &activity, p), doing)
}

func stepFields(s *stats.Step) []any { return []any{&s.Subscription, &s.Step, &s.Attempts} }

// stepOf is the number of the step of a minute.
var stepOf = `Minute / ` + strconv.Itoa(stats.StepMinutes)

// steps returns the attempts of each subscription by step.
func (e *Engine) steps(ctx context.Context, p stats.Period) ([]stats.Step, error) {
	return appdb.QueryAll(ctx, e.db, scanInto(stepFields),
		`SELECT SubscriptionID, `+stepOf+`, SUM(Delivered + Failed + GivenUp)`+inPeriod+`
	AND SubscriptionID <> 0 GROUP BY SubscriptionID, `+stepOf, periodArgs(p.QueueFirst, p.Last)...)
}

// failure is the last failed attempt of a subscription.
type failure struct {
	subscription int64
	at           time.Time
	code         sql.NullInt64
	message      string
}

func failureFields(f *failure) []any {
	return []any{&f.subscription, (*appdb.Time)(&f.at), &f.code, &f.message}
}

// addFailures adds the last failed attempts of the subscriptions.
func (e *Engine) addFailures(ctx context.Context, to *stats.Activity, p stats.Period) error {
	failures, err := appdb.QueryAll(ctx, e.db, scanInto(failureFields),
		`SELECT f.SubscriptionID, f.FailedDateTime, f.HTTPCode, f.FailedMessage FROM whd.WH_DeliveryMinute f
JOIN (SELECT SubscriptionID, MAX(FailedDateTime) AS FailedDateTime`+inPeriod+`
	AND FailedDateTime IS NOT NULL GROUP BY SubscriptionID) l
	ON l.SubscriptionID = f.SubscriptionID AND l.FailedDateTime = f.FailedDateTime
WHERE f.Minute BETWEEN @First AND @Last`, periodArgs(p.QueueFirst, p.Last)...)
	for _, f := range failures {
		count := to.Subscriptions[f.subscription]
		if count == nil { // its first attempt was stored after the counts were read
			continue
		}
		count.Last = &wire.Failed{
			At:       wire.Timestamp(f.at),
			HTTPCode: int(f.code.Int64),
			Message:  f.message,
		}
	}
	return err
}

// RemoveMinutes removes whole minutes, the oldest first, until it has removed limit rows.
func (e *Engine) RemoveMinutes(ctx context.Context, before int64, limit int) (delivery.Removed, error) {
	started := time.Now()
	removed, err := e.db.Exec(ctx, `DELETE FROM whd.WH_DeliveryMinute WHERE Minute < @Before AND Minute <= (
	SELECT MAX(o.Minute) FROM (SELECT m.Minute FROM whd.WH_DeliveryMinute m ORDER BY m.Minute`+e.db.Limit+`) o)`,
		sql.Named("Before", before), sql.Named("Limit", limit))
	r := delivery.Removed{Rows: int(removed), Took: time.Since(started), More: int(removed) >= limit}
	return r, e.fault(err, "removing old statistics")
}
