package mssql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseTable(t *testing.T) {
	for _, c := range []struct {
		text   string
		quoted string // "" if text is not a name
	}{
		{"SO_Totals", "[dbo].[SO_Totals]"},
		{"v_Totals", "[dbo].[v_Totals]"},
		{"erp.v_Totals", "[erp].[v_Totals]"},
		{"other.erp.T", "[other].[erp].[T]"},
		{"server.other.erp.T", "[server].[other].[erp].[T]"},
		{"[my base].dbo.[a.b]", "[my base].[dbo].[a.b]"},
		{"[a]]b]", "[dbo].[a]]b]"},
		{" dbo . T ", "[dbo].[T]"},
		{"x; DROP TABLE y", "[dbo].[x; DROP TABLE y]"},
		{"", ""},
		{".", ""},
		{"a.", ""},
		{".a", ""},
		{"a..b", ""},
		{"a.b.c.d.e", ""},
		{"[a", ""},
		{"[a]b", ""},
		{"a]", ""},
		{"[]", ""},
		{"[a].", ""},
	} {
		table, ok := ParseTable(c.text, "dbo")
		got := ""
		if ok {
			got = table.Quoted()
		}
		if got != c.quoted {
			t.Errorf("parsing %q: got %q, want %q", c.text, got, c.quoted)
		}
	}
}

// FuzzParseTable checks that every accepted text becomes a quoted name that is parsed as the
// same name.
func FuzzParseTable(f *testing.F) {
	for _, seed := range []string{"a", "a.b", "[a]]b].[c.d]", "a..b", "]", "[", "a.[", "[a]b", "é.日"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, ok := ParseTable(text, "dbo")
		if !ok {
			return
		}
		if parsed, ok := ParseTable(table.Quoted(), ""); !ok || parsed != table {
			t.Fatalf("%q becomes %s, parsed as %v", text, table.Quoted(), parsed)
		}
	})
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		column Column
		text   string
		want   bool
	}{
		{Column{Type: "varchar", CodePage: latin1}, "abc", true},
		{Column{Type: "varchar", CodePage: latin1, ParameterCodePage: latin1}, "Grüße", true},
		{Column{Type: "varchar", CodePage: latin1, ParameterCodePage: latin1}, "\u0080", false},
		{Column{Type: "varchar", CodePage: latin1, ParameterCodePage: latin1}, "€“œ”", true},
		{Column{Type: "varchar", CodePage: latin1, ParameterCodePage: 1250}, "abc", true},
		// The parameter would contain other letters.
		{Column{Type: "varchar", CodePage: latin1, ParameterCodePage: 1250}, "Grüße", false},
		{Column{Type: "char"}, "abc", true},
		{Column{Type: "char"}, "é", false},
		{Column{Type: "varchar", CodePage: utf8CP, ParameterCodePage: utf8CP}, "日", true},
		{Column{Type: "varchar", CodePage: utf8CP, ParameterCodePage: latin1}, "日", false},
		{Column{Type: "varchar", CodePage: utf8CP, ParameterCodePage: latin1}, "é", false},
		{Column{Type: "nvarchar"}, "abc", false},
		{Column{}, "abc", false},
	} {
		if got := c.column.Holds(c.text); got != c.want {
			t.Errorf("%+v holds %q: got %v, want %v", c.column, c.text, got, c.want)
		}
	}
}

func TestComparesAsSorted(t *testing.T) {
	polish := Column{
		Type:              "varchar",
		Collation:         "SQL_Latin1_General_CP1250_CI_AS",
		CodePage:          1250,
		ParameterCodePage: latin1,
	}
	latin := Column{
		Type:              "char",
		Collation:         "SQL_Latin1_General_CP1_CI_AS",
		CodePage:          latin1,
		ParameterCodePage: latin1,
	}
	wide := polish
	wide.Type = "nvarchar"
	windows := polish
	windows.Collation = "Polish_CI_AS"
	for _, c := range []struct {
		column Column
		text   string
		want   bool
	}{
		{polish, "ą", false},
		{polish, "a", true},
		{latin, "“€”", true},
		{wide, "ą", true},
		{windows, "ą", true},
	} {
		if got := c.column.ComparesAsSorted(c.text); got != c.want {
			t.Errorf("%s %s compares %q as sorted: got %v, want %v",
				c.column.Type, c.column.Collation, c.text, got, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{
			"sqlserver://h",
			"sqlserver://h?app+name=whd&encrypt=true&guid+conversion=false&log=0" +
				"&packet+size=32767&timezone=UTC",
		},
		{
			"sqlserver://u:p%40@h:1434/i?Database=d&Encrypt=disable&App+Name=mine&LOG=63",
			"sqlserver://u:p%40@h:1434/i?app+name=mine&database=d&encrypt=disable" +
				"&guid+conversion=false&log=0&packet+size=32767&timezone=UTC",
		},
	} {
		if got, entra, err := completeDSN(c.dsn); got != c.want || entra || err != nil {
			t.Errorf("completing %s: got %s, entra %v (%v), want %s without entra",
				c.dsn, got, entra, err, c.want)
		}
	}
	const dsn = "sqlserver://h?fedauth=ActiveDirectoryDefault"
	if _, entra, err := completeDSN(dsn); !entra || err != nil {
		t.Errorf("completing %s: got entra %v (%v), want true", dsn, entra, err)
	}
}

// TestOpenKeepsSecrets checks that no error contains a part of a connection string.
func TestOpenKeepsSecrets(t *testing.T) {
	for _, dsn := range []string{
		"Server=h;Password=hunter2",
		"sqlserver://u:hunter2@",
		"sqlserver://u:hunter2%zz@h",
		"postgres://u:hunter2@h",
		"sqlserver://h?password=hunter2;%zz",
		"sqlserver://h?encrypt=hunter2",
		"sqlserver://h:hunter2",
		"sqlserver://h?packet+size=hunter2",
		"sqlserver://h?fedauth=hunter2",
		"sqlserver://h?app+name=a&App+Name=b&password=hunter2",
		"sqlserver://h?database=a&database=b&password=hunter2",
	} {
		_, err := Open(Config{DSN: dsn})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("opening %s: got error %v, want one without the password", dsn, err)
		}
	}
}

// TestQuotedParses checks that a quoted name is parsed as the same name.
func TestQuotedParses(t *testing.T) {
	part := rapid.StringOfN(rapid.RuneFrom([]rune("ab].[ é'")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		want := Table{Schema: part.Draw(t, "schema"), Name: part.Draw(t, "name")}
		if got, ok := ParseTable(want.Quoted(), "other"); !ok || got != want {
			t.Fatalf("%s: parsed as %v", want.Quoted(), got)
		}
	})
}
