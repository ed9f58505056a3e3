package delivery

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
)

// requestLists measures how long lists of the request log take while it grows. The log has a user
// for each second request, an error for each hundredth, and a rare user for the first one of each
// step.
func requestLists(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	h := startDaemon(b, "--requestlog-enabled=false") // as its own requests would follow the last row
	last := lastListSize()
	flat := listsOfRequests()
	rare := &listRequest{title: "newest 10 requests of a rare user", metric: "requests-rare", path: "/Logs?UserAuthId=rare&Take=10&Include=NoTotal"}
	rare.send(b, h) // creates the log
	rows := 0
	for size := 1000; size <= last; size *= 10 {
		h.insertRequests(b, rows+1, size)
		rows = size
		for _, list := range append(flat, rare) {
			if list.isDeep {
				list.seekDeep(b, h, size)
			}
			list.measure(b, h)
		}
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	s.addLists(b, flat, last)
	b.Logf("%s: %.2f ms", rare.title, rare.times)
	s.table.addProbe(b, rare.line(fmt.Sprintf("%d requests", last), "ms", rare.times[len(rare.times)-1]))
}

// listsOfRequests returns the lists of D20 of requests.
func listsOfRequests() []*listRequest {
	const form = "2006-01-02T15:04:05.000"
	start := historyStart.UTC()
	until := start.Add(500 * time.Millisecond).Format(form)
	list := func(title, metric, path string) *listRequest {
		return &listRequest{title: title, metric: "requests-" + metric, path: path}
	}
	lists := []*listRequest{
		list("newest 10 requests", "newest", "/Logs?Take=10"),
		list("newest 10 requests with Total", "total", "/Logs?Take=10&Include=Total"),
		list("newest 10 requests by time", "time", "/Logs?OrderByDesc=DateTime&Take=10"),
		list("oldest 10 requests by time", "oldest", "/Logs?OrderBy=DateTime&Take=10"),
		list("newest 10 requests of the first 500 ms", "start", "/Logs?DateTimeLessThan="+until+"&Take=10"),
		list("newest 10 requests after the first 500 ms", "since", "/Logs?DateTimeGreaterThan="+until+"&Take=10"),
		list("newest 10 requests of the first day", "day", "/Logs/"+start.Format(time.DateOnly)+"?Take=10"),
		list("newest 10 requests of a day long ago", "past", "/Logs/2020-01-01?Take=10"),
		list("newest 10 failed requests", "errors", "/Logs?ViewErrors=true&Take=10"),
		list("newest 10 requests of a user", "user", "/Logs?UserAuthId=ann&Take=10"),
		list("newest 10 requests of a path", "path", "/Logs?PathInfoStartsWith=/json/reply/S&Take=10"),
	}
	byCursor := list("10 requests by cursor behind nine tenths", "cursor", "/Logs?Include=NoTotal")
	byCursor.isDeep = true
	byTime := list("10 requests by time, by cursor behind nine tenths", "time-cursor", "/Logs?OrderBy=DateTime&Include=NoTotal")
	byTime.isDeep = true
	return append(lists, byCursor, byTime)
}

// insertRequests inserts requests with the numbers from first to last, one in each millisecond.
func (h *benchDaemon) insertRequests(b *testing.B, first, last int) {
	b.Helper()
	conn, err := sqlite.Open(filepath.Join(h.dir, "requestlog.db"), sqlite.Options{
		BusyTimeout: testTimeout,
		Pragmas:     []string{"synchronous = OFF", "cache_size = -64000"},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	err = conn.Exec(fmt.Sprintf(`INSERT INTO WH_RequestLog (DateTime, StatusCode, StatusDescription, HttpMethod, AbsoluteUri,
	PathInfo, RequestDto, UserAuthId, IpAddress, Headers, Items, RequestDuration)
WITH RECURSIVE numbers(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
SELECT strftime('%%Y-%%m-%%dT%%H:%%M:%%f0000', (%d + n) / 1000.0, 'unixepoch'), CASE WHEN n %% 100 = 0 THEN 404 ELSE 200 END,
	'OK', 'GET', printf('http://127.0.0.1:5433/json/reply/SO_TotalsQuery?InvoiceNo=%%d&Take=1', n), '/json/reply/SO_TotalsQuery',
	printf('{"InvoiceNo":"%%d","Take":"1"}', n),
	CASE WHEN n = %[4]d THEN 'rare' WHEN n %% 2 = 0 THEN 'ann' END, '127.0.0.1',
	'{"Accept":"application/json","User-Agent":"Go-http-client/1.1","Accept-Encoding":"gzip"}',
	printf('{"RequestId":"%%032x"}', n), 1000 + n %% 1000
FROM numbers; PRAGMA wal_checkpoint(TRUNCATE)`, first, last, historyStart.UnixMilli(), first))
	if err != nil {
		b.Fatal(err)
	}
}
