package erp_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// TestTypesSQLServer: in every format, a server's reply is byte-identical to that of an
// embedded file with the same rows, and every value is found by a filter.
func TestTypesSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	makeTyped(t, dsn)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}, Registry: typedRegistry(t)})
	babelfish := isBabelfish(t, dsn)
	rows := typedRows(shownBySQLServer)
	if babelfish {
		rows = typedRows(shownByBabelfish)
	}
	embedded := openTyped(t, rows)
	eachReply(func(name string, f encode.Format, nulls bool) {
		got := replyOf(t, s, f, nulls)
		want := replyOf(t, embedded, f, nulls)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the reply of the server (%d bytes) differs from that of the embedded file (%d bytes)",
				name, len(got), len(want))
		}
		checkReply(t, name, f, got, rows)
	})
	if babelfish {
		leaveOutRounded(rows)
	}
	checkFinds(t, s, rows)
	checkOrdered(t, s, rows)
	checkLateTime(t, s)
	for _, store := range []*storage.Store{s, embedded} {
		checkAggregates(t, store)
	}
}

// checkLateTime filters a time of day by a duration of a day, which is refused.
func checkLateTime(t *testing.T, s *storage.Store) {
	t.Helper()
	members := []query.Member{{Name: "Clock", Texts: []string{"P1D"}}}
	request, err := query.Parse(typedKind(t), members, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(request, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Select(t.Context(), plan); !fault.Is(err, fault.Invalid) {
		t.Errorf("a day as a time of day: got error %v, want an invalid request", err)
	}
}

// checkAggregates compares aggregates of the rows with a Small32 from -2 to 1.
func checkAggregates(t *testing.T, s *storage.Store) {
	t.Helper()
	result := answer(t, s, typedKind(t),
		query.Member{Name: query.Include, Texts: []string{"SUM(Small32),MAX(Clock)"}},
		query.Member{Name: "Small32Between", Texts: []string{"-2", "1"}, List: true},
	)
	defer result.Close()
	tail, err := result.Tail(0)
	if err != nil {
		t.Fatal(err)
	}
	const want = "[{SUM(Small32) -1.3999999} {MAX(Clock) PT23H59M59.999999S}]"
	if got := fmt.Sprint(tail.Meta); got != want {
		t.Errorf("got aggregates %s, want %s", got, want)
	}
}

// leaveOutRounded sets to null the datetimes that are read with another value than was
// stored: Babelfish rounds on reading and compares unrounded values; SQL Server rounds
// on writing.
func leaveOutRounded(rows [][]any) {
	for i, c := range typedColumns {
		for n, v := range c.values {
			if c.server == "datetime" && v.stored != v.babelfish {
				rows[n][i+1] = nil
			}
		}
	}
}

func isBabelfish(t *testing.T, dsn string) bool {
	t.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var version string
	if err := server.DB().QueryRowContext(t.Context(), "SELECT @@VERSION").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(version, "Babelfish")
}

// makeTyped creates the table on a server and inserts the rows. The values are parameters
// that the server casts to the column type.
func makeTyped(t *testing.T, dsn string) {
	t.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	columns := []string{"No int NOT NULL"}
	values := []string{"@p1"}
	for i, c := range typedColumns {
		columns = append(columns, mssql.Quote(c.name)+" "+c.server+" NULL")
		value := fmt.Sprintf("@p%d", i+2)
		if c.of != record.Text && c.of != record.Bytes {
			value = "CAST(" + value + " AS " + c.server + ")"
		}
		values = append(values, value)
	}
	create := "CREATE TABLE Typed (" + strings.Join(columns, ", ") + ")"
	if _, err := server.DB().ExecContext(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	insert := "INSERT INTO Typed VALUES (" + strings.Join(values, ", ") + ")"
	for _, row := range typedRows(stored) {
		if _, err := server.DB().ExecContext(t.Context(), insert, typedArgs(row)...); err != nil {
			t.Fatalf("row %d: %v", row[0], err)
		}
	}
}

// typedArgs returns the values of a row as arguments for the driver.
func typedArgs(values []any) []any {
	args := slices.Clone(values)
	for i, c := range typedColumns {
		switch v := values[i+1]; {
		case v == nil && c.of == record.Bytes:
			args[i+1] = []byte(nil)
		case v == nil:
			args[i+1] = sql.NullString{}
		case c.of == record.TimeSpan:
			args[i+1] = time.Time{}.Add(time.Duration(v.(int64)) * 100).Format("15:04:05.0000000")
		case c.server == "datetime":
			args[i+1] = v.(string)[:len("2006-01-02T15:04:05.000")] // the cast takes no more digits
		case c.server == "smalldatetime":
			args[i+1] = v.(string)[:len("2006-01-02T15:04:05")]
		}
	}
	return args
}
