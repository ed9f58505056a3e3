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

// TestTextsOfAnyCollation checks that the statement restores texts exactly, for every
// collation of the database. A subquery with columns of the collation takes the place of a
// database with it.
func TestTextsOfAnyCollation(t *testing.T) {
	server, err := mssql.Open(mssql.Config{DSN: mssqltest.Database(t), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	// The characters that logRows escapes, and some that a collation takes for them.
	texts := []string{`"\^`, "＾１", "＾２", "^\u03011", "^\u200b0", "^①"}
	var entry requestlog.Entry
	copy(entry.Texts[:], texts)
	rows := sql.Named("Rows", string(logRows([]requestlog.Entry{entry})))

	collations := []string{"Latin1_General_CI_AI", "Latin1_General_CI_AS", "Japanese_CI_AS"}
	for _, collation := range collations {
		got := make([]sql.NullString, len(entry.Texts))
		pointers := make([]any, len(got))
		for i := range got {
			pointers[i] = &got[i]
		}
		row := server.DB().QueryRow(selectTexts(t, collation), rows)
		if err := row.Scan(pointers...); err != nil {
			t.Fatalf("reading the texts with the collation %s: %v", collation, err)
		}
		for i, want := range texts {
			if got[i].String != want {
				t.Errorf("collation %s, text %d: got %+q, want %+q",
					collation, i, got[i].String, want)
			}
		}
	}
}

// selectTexts returns a query for the texts that insertRows would insert in a database with
// a collation.
func selectTexts(t *testing.T, collation string) string {
	t.Helper()
	_, selection, hasSelection := strings.Cut(insertRows, "\nSELECT c0, c1, c2, c3, ")
	texts, source, hasSource := strings.Cut(selection, "\nFROM ")
	source, hasOrder := strings.CutSuffix(source, " ORDER BY n")
	if !hasSelection || !hasSource || !hasOrder {
		t.Fatalf("unexpected statement %s", insertRows)
	}

	columns := make([]string, requestlog.Texts)
	for i := range columns {
		columns[i] = fmt.Sprintf("t%d COLLATE %s AS t%[1]d", i, collation)
	}
	return "SELECT " + texts +
		" FROM (SELECT " + strings.Join(columns, ", ") + " FROM " + source + ") AS q"
}
