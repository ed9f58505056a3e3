package delivery

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Messages of the measurement of lists. They belong to one subscriber.
const (
	listSubscriptions = 10
	listFailed        = 100 // of any number of messages
	listOfKey         = 20  // with the same key
	listOfRareEvent   = 10  // of any number of messages

	eventBlock = 128 // IDs, as blockSize of package sqlstore
)

// listsVariable is the number of messages of the last step, a power of ten from
// 1,000,000.
const listsVariable = "DELIVERYBENCH_MESSAGES"

// lists measures how long lists of messages take while the history grows from 1,000
// messages, and the exponent of that growth: 0 if the length of the history does not
// matter, 1 if each list reads all of it.
func lists(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	last := lastListSize()
	s.addLists(b, measureLists(b, startDaemon(b), last, listRequests), last)
}

// addLists adds the time of each list at the last size, and the growth of its times.
func (s *suite) addLists(b *testing.B, lists []*listRequest, last int) {
	for _, list := range lists {
		b.Logf("%s: %.2f ms", list.title, list.times)
		longest := list.times[len(list.times)-1]
		s.table.addSamples(b, list.line(fmt.Sprintf("%d messages", last), "ms", longest), limits{limit: cmp.Or(list.limit, 5), goal: 1})
		s.table.addSamples(b, list.line("growth", "exponent", exponent(list.times)), limits{limit: 0.1, goal: 0.05})
	}
}

// line returns a line of the table with a value of the list.
func (l *listRequest) line(title, unit string, value float64) samples {
	return samples{
		title:  l.title + ", " + title,
		metric: l.metric + "-" + unit,
		unit:   unit,
		digits: 2,
		values: []float64{value},
	}
}

// listsOnServer measures the same with a store on SQL Server, by the wall clock. The server
// has no numbers of messages: a total without a status reads the history.
func listsOnServer(s *suite, b *testing.B) { s.measureOnServer(b, listRequests) }

// measureOnServer measures lists with a store on SQL Server. The floor is the duration of a
// statement that reads no table.
func (s *suite) measureOnServer(b *testing.B, listsOf func(subscriber string) []*listRequest) {
	b.Helper()
	if os.Getenv(mssqltest.Variable) == "" {
		s.table.Skip(b, mssqltest.Variable+" is not set")
		return
	}
	dsn := mssqltest.Database(b)
	last := lastListSize()
	h := &benchDaemon{
		dir:    b.TempDir(),
		args:   append(settings(), "--store", dsn, "--migrate"),
		server: dsn,
	}
	h = h.open(b)
	measured := measureLists(b, h, last, listsOf)
	floor := samples{title: "a statement without a table", metric: "floor-ms", unit: "ms", digits: 2}
	floor.values = []float64{statementTime(b, dsn)}
	s.table.addProbe(b, floor)
	for _, list := range measured {
		b.Logf("%s: %.2f ms", list.title, list.times)
		s.table.addProbe(b, samples{
			title:  fmt.Sprintf("%s, %d messages, exponent %.2f", list.title, last, exponent(list.times)),
			metric: list.metric + "-ms",
			unit:   "ms",
			digits: 2,
			values: list.times[len(list.times)-1:],
		})
	}
}

// statementTime returns the median duration of a statement that reads no table, in ms.
func statementTime(b *testing.B, dsn string) float64 {
	b.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	var times []float64
	for range 200 {
		start := time.Now()
		var n int
		if err := server.DB().QueryRow("SELECT @p1", 1).Scan(&n); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start).Seconds()*1000)
	}
	return benchtest.Median(times)
}

// lastListSize returns the number of messages of the last step.
func lastListSize() int {
	last, err := strconv.Atoi(os.Getenv(listsVariable))
	if err != nil {
		return 1_000_000
	}
	return last
}

// measureLists measures lists of the daemon at each size. listsOf returns them for the path of
// the messages of a subscriber.
func measureLists(
	b *testing.B, h *benchDaemon, last int, listsOf func(subscriber string) []*listRequest,
) []*listRequest {
	b.Helper()
	for n := range listSubscriptions {
		h.subscribe(b, event(n), "http://127.0.0.1:9/")
	}
	if h.server == "" {
		h.insertMinutes(b)
	}
	requests := listsOf("/Webhooks/Subscribers/" + h.subscriber + "/Messages")
	const maxRows = 1_000_000 // to insert at a time
	rows := 0
	for size := 1000; size <= last; size *= 10 {
		for rows < size {
			until := min(size, rows+maxRows)
			h.insertDelivered(b, rows+1, until)
			rows = until
		}
		h.failSome(b, size)
		h.renameSome(b, size)
		for _, list := range requests {
			if list.isDeep {
				list.seekDeep(b, h, size)
			}
			list.measure(b, h)
		}
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	return requests
}

// listRequests returns the requests to measure. subscriber is the path of the messages of the
// subscriber.
func listRequests(subscriber string) []*listRequest {
	return []*listRequest{
		{
			title:  "newest 10 of a subscriber",
			metric: "subscriber",
			path:   subscriber + "?Take=10",
		},
		{
			title:  "newest 10 of all, with Total",
			metric: "all",
			path:   "/Webhooks/Messages?Take=10&Include=Total",
		},
		{
			title:  "newest 10 failed of a subscriber, with Total",
			metric: "failed",
			path:   subscriber + "?Status=3&Take=10&Include=Total",
		},
		{
			title:  "newest 10 failed of all, with Total",
			metric: "all-failed",
			path:   "/Webhooks/Messages?Status=3&Take=10&Include=Total",
		},
		{
			title:  "newest 10 retrying of a subscriber, with Total",
			metric: "retrying",
			path:   subscriber + "?Status=2&Take=10&Include=Total",
		},
		{
			title:  "newest 10 of a key, with Total",
			metric: "key",
			path:   "/Webhooks/Messages?Key=K7&Take=10&Include=Total",
		},
		{
			title:  "newest 10 of a key and a subscriber",
			metric: "subscriber-key",
			path:   subscriber + "?Key=K7&Take=10",
		},
		{
			title:  "page of 100 messages for browsers",
			metric: "page",
			path:   "/Pages/Messages",
			accept: "text/html",
			limit:  20,
		},
		{
			title:  "statistics of the last hour",
			metric: "stats",
			path:   "/Webhooks/Stats",
		},
		{
			title:  "dry run of a retry of failed ones",
			metric: "retry",
			method: http.MethodPost,
			path:   "/Webhooks/Messages/Retry?Status=3&DryRun=true",
		},
	}
}

// listRequest is a request for a list, with its CPU time at each step.
type listRequest struct {
	title, metric, method, path string
	times                       []float64 // ms
	isDeep                      bool      // the page is far from the first one
	accept                      string    // the Accept header; empty for JSON
	limit                       float64   // of the CPU time, in ms; 0 for the usual one
	firstPath                   string    // path of the first page, if isDeep
}

// measure adds the median CPU time of the daemon for one request, or with a server the
// median duration.
func (l *listRequest) measure(b *testing.B, h *benchDaemon) {
	b.Helper()
	l.send(b, h)
	var times []float64
	for range minRounds {
		requests := 0
		start := time.Now()
		used := benchtest.CPUUsed(b, h.PID(), func() {
			for time.Since(start) < 100*time.Millisecond {
				l.send(b, h)
				requests++
			}
		})
		if h.server != "" {
			used = time.Since(start)
		}
		times = append(times, used.Seconds()*1000/float64(requests))
	}
	l.times = append(l.times, benchtest.Median(times))
}

// send sends the request once.
func (l *listRequest) send(b *testing.B, h *benchDaemon) {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), l.method, h.URL+l.path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.manager)
	if l.accept != "" {
		r.Header.Set("Accept", l.accept)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s returned status %d, %s (%v), want 200", l.path, response.StatusCode, text, err)
	}
}

// exponent returns the slope of a straight line through the logarithms of times for
// sizes that are powers of ten.
func exponent(times []float64) float64 {
	var xy, xx float64
	middle := float64(len(times)-1) / 2
	for i, t := range times {
		xy += (float64(i) - middle) * math.Log10(t)
		xx += (float64(i) - middle) * (float64(i) - middle)
	}
	return xy / xx
}

// historyStart is when the first message was added, one in each millisecond. The last one of ten
// millions is not in the future.
var historyStart = time.Now().Add(-4 * time.Hour)

// insertDelivered inserts delivered messages with the numbers from first to last, evenly
// for all subscriptions.
func (h *benchDaemon) insertDelivered(b *testing.B, first, last int) {
	b.Helper()
	if h.server != "" {
		h.insertOnServer(b, first, last)
		return
	}
	// As those of the service, GUIDs start with the time, of which each message has its own.
	added := fmt.Sprintf(`(%d + n)`, historyStart.UnixMilli())
	now := `strftime('%Y-%m-%dT%H:%M:%f0000', ` + added + ` / 1000.0, 'unixepoch')`
	guid := `printf('%08x-%04x-7000-8000-%012x', ` + added + ` >> 16, ` + added + ` & 65535, n)`
	numbers := fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)`,
		first, last)
	events := `INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) ` + numbers + `
SELECT 1000 + n, ` + guid + `, '` + event(0) + `', ` + now + `, printf('%64d', n) FROM numbers`
	messages := `INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	AddedDateTime, LastSavedDateTime, HTTPCode, ResponseMessage, MadeByAdmin, EventKey) ` + numbers + `
SELECT 1000 + n, ` + guid + `, 1000 + n, 1, s.ID, s.URL, 1, 1,
	` + now + `, ` + now + `, 200, 'OK', s.MadeByAdmin, printf('K%d', n / ` + strconv.Itoa(listOfKey) + `)
FROM numbers JOIN SY_WebhookSubscription s ON s.ItemNo = n % ` + strconv.Itoa(listSubscriptions) + ` + 1`
	counts := fmt.Sprintf(`INSERT INTO WH_MessageCount (SubscriptionID, Messages, Failed)
SELECT SubscriptionID, COUNT(*), 0 FROM SY_WebhookMessage WHERE ID BETWEEN 1000 + %d AND 1000 + %d GROUP BY SubscriptionID
ON CONFLICT (SubscriptionID) DO UPDATE SET Messages = Messages + excluded.Messages`, first, last)
	attempts := fmt.Sprintf(`INSERT INTO SY_WebhookMessageResponse
	(MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Duration, LastSavedDateTime)
SELECT ID, 1, RecID, 1, 0, 200, 'OK', 10000, LastSavedDateTime
FROM SY_WebhookMessage WHERE ID BETWEEN 1000 + %d AND 1000 + %d`, first, last)
	blocks := fmt.Sprintf(`INSERT OR IGNORE INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT '%s', ID / %d FROM SY_WebhookMessage WHERE ID BETWEEN 1000 + %d AND 1000 + %d`, event(0), eventBlock, first, last)
	periods := fmt.Sprintf(messageBlocks, "", first, last)
	h.change(b, events, messages, attempts, counts, blocks, periods,
		fmt.Sprintf(`UPDATE WH_Number SET Next = 1000 + %d WHERE Name IN ('CountedMessage', 'NamedMessage')`, last),
		`UPDATE WH_Number SET Next = 100000000 WHERE Name = 'ID'`)
}

// messageBlocks inserts the blocks of the messages with some numbers.
const messageBlocks = `INSERT INTO %[1]sWH_MessageBlock (FirstID, LastID, AddedSince, AddedUntil)
SELECT MIN(ID), MAX(ID), MIN(AddedDateTime), MAX(AddedDateTime)
FROM %[1]sSY_WebhookMessage WHERE ID BETWEEN 1000 + %[2]d AND 1000 + %[3]d GROUP BY ID / 4096`

// serverNumbers are the numbers from 0 to 999,999.
const serverNumbers = `WITH d AS (SELECT v.n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) v(n)),
numbers AS (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n
	FROM d a CROSS JOIN d b CROSS JOIN d c CROSS JOIN d CROSS JOIN d e CROSS JOIN d f)
`

// insertOnServer is insertDelivered on a server.
func (h *benchDaemon) insertOnServer(b *testing.B, first, last int) {
	b.Helper()
	// The last 12 digits of a uniqueidentifier are those of a number.
	digits := func(number string) string {
		return `LOWER(RIGHT(CAST(CAST(CAST(` + number + ` AS binary(16)) AS uniqueidentifier) AS nvarchar(36)), 12))`
	}
	const maxRows = 100_000 // to insert at a time
	for ; first <= last; first += maxRows {
		until := min(first+maxRows-1, last)
		number := fmt.Sprintf(`CAST(%d + n.n AS bigint)`, first)
		added := fmt.Sprintf(`(%d + %s)`, historyStart.UnixMilli(), number)
		now := fmt.Sprintf(`DATEADD(millisecond, %d + n.n, CAST('%s' AS datetime2(7)))`,
			first, historyStart.UTC().Format("2006-01-02T15:04:05.000"))
		guid := `STUFF(` + digits(added) + `, 9, 0, '-') + '-7000-8000-' + ` + digits(number)
		numbers := fmt.Sprintf(` FROM numbers n WHERE n.n <= %d`, until-first)
		events := serverNumbers + `INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT 1000 + ` + number + `, ` + guid + `, '` + event(0) + `', ` + now + `, REPLICATE('x', 64)` + numbers
		messages := fmt.Sprintf(`INSERT INTO whd.SY_WebhookMessage
	(ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, AddedDateTime, LastSavedDateTime,
	HTTPCode, ResponseMessage, MadeByAdmin, EventKey)
SELECT e.EventID, e.RecID, e.EventID, 1, s.ID, s.URL, 1, 1,
	e.AddedDateTime, e.AddedDateTime, 200, 'OK', s.MadeByAdmin, CONCAT('K', (e.EventID - 1000) / %d)
FROM whd.WH_Event e JOIN whd.SY_WebhookSubscription s ON s.ItemNo = e.EventID %% %d + 1
WHERE e.EventID BETWEEN 1000 + %d AND 1000 + %d`, listOfKey, listSubscriptions, first, until)
		attempts := fmt.Sprintf(`INSERT INTO whd.SY_WebhookMessageResponse
	(MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Duration, LastSavedDateTime)
SELECT ID, 1, RecID, 1, 0, 200, 'OK', 10000, LastSavedDateTime
FROM whd.SY_WebhookMessage WHERE ID BETWEEN 1000 + %d AND 1000 + %d`, first, until)
		periods := fmt.Sprintf(messageBlocks, "whd.", first, until)
		mssqltest.Exec(b, h.server, events, messages, attempts, periods)
	}
	mssqltest.Exec(b, h.server, `UPDATE whd.WH_Number SET Next = 100000000 WHERE Name = 'ID'`)
}

// insertMinutes inserts counts of each minute of the last 48 hours, for all subscriptions.
func (h *benchDaemon) insertMinutes(b *testing.B) {
	b.Helper()
	const minutes = `WITH RECURSIVE minutes(n) AS (SELECT strftime('%s', 'now') / 60 - 2880
UNION ALL SELECT n + 1 FROM minutes WHERE n < strftime('%s', 'now') / 60)`
	h.change(b, `INSERT INTO WH_DeliveryMinute (Minute, SubscriptionID, DaemonID, Events, Messages, Delivered, Failed, GivenUp,
	Took1, Took2, Took3, Took4, Took5, Took6, Took7, Took8, Took9, Took10, Took11, Took12) `+minutes+`
SELECT n, s.ID, 1, 0, 0, 3000, 20, 1, 20, 500, 900, 500, 400, 300, 200, 100, 60, 30, 10, 1
FROM minutes CROSS JOIN SY_WebhookSubscription s
UNION ALL SELECT n, 0, 1, 30000, 30000, 0, 0, 0, 20, 500, 900, 500, 400, 300, 200, 100, 60, 30, 10, 1 FROM minutes`)
}

// failSome makes listFailed of the delivered messages failed ones, of any age.
func (h *benchDaemon) failSome(b *testing.B, messages int) {
	b.Helper()
	interval := messages / listFailed
	if h.server != "" {
		mssqltest.Exec(b, h.server,
			`UPDATE whd.SY_WebhookMessage SET Status = 1 WHERE Status = 3`,
			fmt.Sprintf(serverNumbers+`UPDATE whd.SY_WebhookMessage SET Status = 3
WHERE ID IN (SELECT 1001 + n.n * %d + n.n %% %d FROM numbers n WHERE n.n < %d)`,
				interval, listSubscriptions, listFailed))
		return
	}
	h.change(b,
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE Status = 3`,
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (SELECT 1001 + n * %d + n %% %d FROM numbers)`,
			listFailed-1, interval, listSubscriptions))
}

// renameSome makes listOfRareEvent of the messages those of another event.
func (h *benchDaemon) renameSome(b *testing.B, messages int) {
	b.Helper()
	interval := messages / listOfRareEvent
	if h.server != "" {
		mssqltest.Exec(b, h.server,
			fmt.Sprintf(`UPDATE whd.WH_Event SET EventName = '%s' WHERE EventName = '%s'`, event(0), event(1)),
			fmt.Sprintf(serverNumbers+`UPDATE whd.WH_Event SET EventName = '%s'
WHERE EventID IN (SELECT 1001 + n.n * %d FROM numbers n WHERE n.n < %d)`, event(1), interval, listOfRareEvent))
		return
	}
	h.change(b,
		fmt.Sprintf(`UPDATE WH_Event SET EventName = '%s' WHERE EventName = '%s'`, event(0), event(1)),
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
UPDATE WH_Event SET EventName = '%s' WHERE EventID IN (SELECT 1001 + n * %d FROM numbers)`,
			listOfRareEvent-1, event(1), interval),
		fmt.Sprintf(`DELETE FROM WH_EventBlock WHERE EventName = '%s'`, event(1)),
		fmt.Sprintf(`INSERT OR IGNORE INTO WH_EventBlock (EventName, Block)
SELECT EventName, EventID / %d FROM WH_Event WHERE EventName = '%s'`, eventBlock, event(1)))
}

// change runs statements on the tables.
func (h *benchDaemon) change(b *testing.B, statements ...string) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{Pragmas: []string{"synchronous = OFF", "cache_size = -64000"}})
	defer conn.Close()
	script := slices.Concat(
		[]string{"BEGIN IMMEDIATE"},
		statements,
		[]string{"COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"})
	for _, statement := range script {
		if err := conn.Exec(statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
}
