package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/requestlog"
)

// TestTextsOfAnyCollation: the statement restores texts exactly, for every collation of the
// database. A subquery with that collation takes the place of such a database.
func TestTextsOfAnyCollation(t *testing.T) {
	server, err := mssql.Open(mssql.Config{DSN: mssqltest.Database(t), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var entry requestlog.Entry
	texts := []string{`"\^`, "＾１", "＾２", "^\u03011", "^\u200b0", "^①"}
	copy(entry.Texts[:], texts)
	_, statement, _ := strings.Cut(insertRows, "\nSELECT c0, c1, c2, c3, ")
	values, from, ok := strings.Cut(statement, "\nFROM ")
	from, found := strings.CutSuffix(from, " ORDER BY n")
	if !ok || !found {
		t.Fatalf("unexpected statement %s", insertRows)
	}
	for _, collation := range []string{"Latin1_General_CI_AI", "Latin1_General_CI_AS", "Japanese_CI_AS"} {
		var inner []string
		got, into := make([]sql.NullString, len(entry.Texts)), make([]any, len(entry.Texts))
		for i := range entry.Texts {
			inner = append(inner, fmt.Sprintf("t%d COLLATE %s AS t%[1]d", i, collation))
			into[i] = &got[i]
		}
		query := "SELECT " + values + " FROM (SELECT " + strings.Join(inner, ", ") + " FROM " + from + ") AS q"
		if err := server.DB().QueryRow(query, sql.Named("Rows", string(logRows([]requestlog.Entry{entry})))).Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, want := range texts {
			if got[i].String != want {
				t.Errorf("%s: %+q, want %+q", collation, got[i].String, want)
			}
		}
	}
}
