package rest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

const timesKind = `[Times]
key = ["ID"]
[Times.fields]
ID = "int"
Stamp = "DateTime"
Old = "DateTime?"
`

// oddNights are the nights in which the clocks of feedZone are changed.
var oddNights = []string{"2019-04-07", "2019-10-06"}

// timesRows returns the statements that fill the table with a row for each 10 minutes of the
// odd nights. Later rows have smaller keys, from 999 on.
func timesRows(stampType, oldType string) (statements []string, rows int) {
	statements = []string{
		"CREATE TABLE Times (ID int NOT NULL PRIMARY KEY, Stamp " + stampType + " NOT NULL, Old " + oldType + " NULL)",
		"CREATE INDEX Times_Stamp ON Times (Stamp)",
	}
	for _, night := range oddNights {
		for minute := 0; minute < 6*60; minute += 10 {
			rows++
			text := fmt.Sprintf("%sT%02d:%02d:00.000", night, minute/60, minute%60)
			// The types datetime2 have seven decimals, others three.
			stamp := text + strings.Repeat("0", 4*strings.Count(stampType, "2"))
			old := text + strings.Repeat("0", 4*strings.Count(oldType, "2"))
			statements = append(statements,
				fmt.Sprintf("INSERT INTO Times VALUES (%d, '%s', '%s')", 1000-rows, stamp, old))
		}
	}
	return statements, rows
}

// timesDaemon starts a daemon with the table, in a file or on a server, and returns a function
// that executes SQL there.
func timesDaemon(t *testing.T, server bool) (c client, rows int, exec func(statement string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kinds.toml")
	if err := os.WriteFile(file, []byte(timesKind), 0o600); err != nil {
		t.Fatal(err)
	}

	args := []string{"--erp-kinds", file, "--query-time-zone", feedZone, "--query-total-cache", "1h"}
	if server {
		dsn := mssqltest.Database(t)
		statements, rows := timesRows("datetime2", "datetime")
		mssqltest.Exec(t, dsn, statements...)
		c := asAdmin(t, daemontest.Start(t, append(args, "--erp", dsn)...))
		return c, rows, func(statement string) { mssqltest.Exec(t, dsn, statement) }
	}

	i := daemontest.Start(t, args...)
	conn, err := sqlite.Open(filepath.Join(i.Dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { conn.Close() })
	exec = func(statement string) {
		t.Helper()
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	statements, rows := timesRows("datetime2", "datetime2")
	for _, statement := range statements {
		exec(statement)
	}

	return asAdmin(t, i), rows, exec
}

// TestFeedPartitions reads the rows of the odd nights by partitions of several lengths, as the
// incremental refresh of Power BI does. Each row is in one partition, on one page: that of the
// instant at which it is shown. Those of the field with an index are in its order. Counts are
// not remembered.
func TestFeedPartitions(t *testing.T) {
	for name, server := range map[string]bool{"SQLite": false, "SQLServer": true} {
		t.Run(name, func(t *testing.T) {
			c, all, exec := timesDaemon(t, server)
			for _, field := range []string{"Stamp", "Old"} {
				for _, length := range []time.Duration{20 * time.Minute, 45 * time.Minute, 3 * time.Hour} {
					seen := make(map[string]bool)
					for _, night := range oddNights {
						from, err := time.ParseInLocation("2006-01-02", night, feedLocation)
						if err != nil {
							t.Fatal(err)
						}
						for end := from.Add(9 * time.Hour); from.Before(end); from = from.Add(length) {
							start, stop := from.UTC().Format(time.RFC3339), from.Add(length).UTC().Format(time.RFC3339)
							rows, _ := c.allFeed(fmt.Sprintf("Times?$filter=%[1]s ge %[2]s and %[1]s lt %[3]s", field, start, stop), "Prefer: odata.maxpagesize=5")
							last := from
							for _, row := range rows {
								id, shown := fmt.Sprint(row["ID"]), row[field].(string)
								at, err := time.Parse(time.RFC3339, shown)
								if seen[id] || err != nil || at.Before(from) || !at.Before(from.Add(length)) {
									t.Errorf("%s: row %s with %s from %s to %s, seen before: %t, %v",
										field, id, shown, start, stop, seen[id], err)
								}
								if field == "Stamp" && at.Before(last) {
									t.Errorf("row %s of %s follows %s: the index is not used", id, at, last)
								}
								seen[id], last = true, at
							}
						}
					}
					if len(seen) != all {
						t.Errorf("%s by %v: %d rows, want %d", field, length, len(seen), all)
					}
				}
			}

			// The key of a row is also that of a URL, and all rows of the hour that does not exist equal the change.
			if row := c.feed("Times(999)"); row.Context == "" {
				t.Errorf("the row with the key 999 is %+v, want a context", row)
			}
			if rows := c.feed("Times?$filter=Stamp eq 2019-10-05T16:00:00Z").Value; len(rows) != 7 { // 02:00 to 03:00
				t.Errorf("%d rows at the change", len(rows))
			}

			for n := range 3 {
				if got := c.do("GET /odata/Times/$count", "").want(t, 200).body; got != fmt.Sprint(all+n) {
					t.Errorf("%s rows, want %d", got, all+n)
				}
				if p := c.feed("Times?$count=true&$top=1"); *p.Count != int64(all+n) {
					t.Errorf("%d rows, want %d", *p.Count, all+n)
				}
				exec(fmt.Sprintf("INSERT INTO Times VALUES (%d, '2020-01-01T00:00:00.000', NULL)", all+n+1))
			}
		})
	}
}
