package sqlite

import "testing"

func TestCollation(t *testing.T) {
	c := open(t)
	exec(t, c, `CREATE TABLE "a ""table""" (
		Plain TEXT, NoCase TEXT COLLATE NOCASE, Trimmed TEXT COLLATE RTRIM, Text TEXT COLLATE TSQL,
		Digits TEXT_DECIMAL COLLATE DEC, Untyped COLLATE NOCASE)`)
	exec(t, c, `CREATE VIEW source AS
		SELECT NoCase AS column, upper(NoCase) AS Computed, Text COLLATE BINARY AS Exact, Text FROM "a ""table"""
		UNION ALL SELECT Plain, Plain, Plain, Plain FROM "a ""table"""`)
	for _, test := range []struct{ table, column, want string }{
		{`a "table"`, "Plain", "BINARY"},
		{`a "table"`, "NoCase", "NOCASE"},
		{`a "table"`, "Trimmed", "RTRIM"},
		{`a "table"`, "Text", "TSQL"},
		{`a "table"`, "Digits", "DEC"},
		{`a "table"`, "Untyped", "NOCASE"},
		{"source", "column", "NOCASE"},
		{"source", "Computed", "BINARY"},
		{"source", "Exact", "BINARY"},
		{"source", "Text", "TSQL"},
	} {
		got, err := c.Collation(test.table, test.column)
		if err != nil || got != test.want {
			t.Errorf("%s.%s: got %q (%v), want %s", test.table, test.column, got, err, test.want)
		}
	}
}
