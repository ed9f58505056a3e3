package crashtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// table is a table of the ERP and its record kind. All tables have the same columns, but for
// the rowversion.
type table struct {
	name          string
	key           string // columns of the primary key
	stamp         string // the column that is the stamp of the kind; empty for none
	hasRowversion bool   // in the column Version
}

// stamped is the table with an indexed time stamp.
const stamped = "Stamped"

var tables = []table{
	{name: stamped, key: "No", stamp: "LastSavedDateTime"},
	{name: "Plain", key: "Branch, No"},
	{name: "Versioned", key: "No", stamp: "Version", hasRowversion: true},
}

// erp is the database of an ERP.
type erp struct {
	engine *engine
	place  string   // path of the file, or connection string
	tables []table  // those that the engine can have
	args   []string // of a daemon that captures the tables
}

// newERP creates a database with empty tables. A file is in dir, the daemon's data directory.
func newERP(t *testing.T, dir string, engine *engine) *erp {
	t.Helper()
	e := &erp{engine: engine, place: engine.create(t, dir)}
	for _, tb := range tables {
		if tb.hasRowversion && !engine.hasRowversion {
			continue
		}
		e.tables = append(e.tables, tb)
	}
	e.createTables(t)
	e.args = []string{
		"--erp", engine.erpOption(e.place),
		"--erp-kinds", write(t, filepath.Join(dir, "captured.toml"), e.kinds()),
		"--changes-sweep", "1s",
		"--changes-share", "1",
		"--webhooks-allow-targets", "127.0.0.0/8",
	}
	return e
}

// createTables creates the tables and the index of the time stamp.
func (e *erp) createTables(t *testing.T) {
	t.Helper()
	s := e.open(t)
	defer s.Close()
	for _, tb := range e.tables {
		columns := e.engine.columns
		if tb.hasRowversion {
			allowRowversion(s)
			columns += ", Version rowversion NOT NULL"
		}
		e.exec(t, s, fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s))", tb.name, columns, tb.key))
		if tb.name == stamped {
			e.exec(t, s, fmt.Sprintf("CREATE INDEX %sSaved ON %[1]s (%s)", tb.name, tb.stamp))
		}
	}
}

// allowRowversion lets a session create columns of type rowversion on Babelfish, which refuses
// them otherwise. It fails on SQL Server, which allows them and does not have the procedure.
func allowRowversion(s session) {
	_ = s.exec("EXEC sp_babelfish_configure 'escape_hatch_rowversion', 'ignore'")
}

// kinds returns the declarations of the record kinds of all tables, for --erp-kinds.
func (e *erp) kinds() string {
	var declarations strings.Builder
	for _, tb := range e.tables {
		declarations.WriteString(tb.kind())
	}
	return declarations.String()
}

// kind returns the declaration of the table's record kind in TOML.
func (tb table) kind() string {
	options := fmt.Sprintf(`source = %q
events = %q
capture = "always"
`, tb.name, strings.ToLower(tb.name))
	if tb.stamp != "" {
		options += fmt.Sprintf("stamp = %q\n", tb.stamp)
	}
	fields := `Branch = "int"
No = "string"
Counter = "long"
Amount = "decimal?"
Note = "string?"
LastSavedDateTime = "DateTime"
`
	if tb.hasRowversion {
		fields += "Version = \"byte[]\"\n"
	}
	return "[" + tb.name + "]\n" + options + "[" + tb.name + ".fields]\n" + fields
}

// open opens a connection to the database.
func (e *erp) open(t *testing.T) session {
	t.Helper()
	return e.engine.open(t, e.place)
}

func (e *erp) exec(t *testing.T, s session, statements string) {
	t.Helper()
	if err := s.exec(statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// contents are the rows of a table as texts, by key.
type contents map[string]string

// keyColumns is the number of columns in the key of contents.
const keyColumns = 2

// readContents reads a table of the ERP, or a copy of it.
func readContents(s session, name string) (contents, error) {
	rows := make(contents)
	err := s.query("SELECT "+s.asTexts()+" FROM "+name, func(row []string) {
		row[len(row)-1] = normalStamp(row[len(row)-1])
		rows.add(row)
	})
	return rows, err
}

func (c contents) add(row []string) {
	c[strings.Join(row[:keyColumns], " ")] = strings.Join(row[keyColumns:], " ")
}

// normalStamp returns a time with a T and all digits of its fraction, which servers shorten in
// different ways. Other text is returned unchanged.
func normalStamp(text string) string {
	stamp, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1))
	if err != nil {
		return text
	}
	return stamp.Format(wire.DateLayout)
}

// differences counts the differences of a copy from its source.
type differences struct{ missing, extra, stale int }

// compare counts the differences of a copy, and describes up to ten of them.
func (c contents) compare(source contents) (d differences, samples []string) {
	for key, values := range source {
		copied, ok := c[key]
		if !ok {
			d.missing++
			samples = append(samples, fmt.Sprintf("missing %s: %s", key, values))
		} else if copied != values {
			d.stale++
			samples = append(samples, fmt.Sprintf("stale %s: %s, in the source %s", key, copied, values))
		}
	}
	for key, values := range c {
		if _, exists := source[key]; !exists {
			d.extra++
			samples = append(samples, fmt.Sprintf("extra %s: %s", key, values))
		}
	}
	slices.Sort(samples)
	return d, samples[:min(len(samples), 10)]
}
