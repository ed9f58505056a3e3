// Package output prints what commands show: rows and documents in the formats for
// people and programs, on the terminal, standard output or into a file.
package output

import (
	"cmp"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/workbook"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Column is one column of what is printed.
type Column = workbook.Column

// layout is what a printer works with.
type layout struct {
	out      *Sink
	columns  []Column
	names    []string // of the columns
	sheet    string   // what the rows are, in a word
	width    int      // of the terminal
	vertical bool     // a table may turn its columns into lines
	null     string   // stands for a null
	excel    bool
	notice   func(format string, args ...any)
	values   []client.Value // of the row that is written
}

// RowWriter writes rows in one format, each as it comes.
type RowWriter interface {
	Begin() error         // what is before the rows
	Row(client.Row) error // the row is the printer's only until it returns
	End() error           // only where all rows came
}

// Format is one way to print rows.
type Format struct {
	Name      string
	Summary   string
	cells     bool // has a cell for each column, so --null means something
	new       func(layout) RowWriter
	RawFormat string // of raw: the service's format
}

// Raw reports whether the format is what the service sends, not rows.
func (f Format) Raw() bool { return f.new == nil }

// Formats is the only list of formats: flags, help and checks are made of it.
func Formats() []Format {
	return []Format{
		{"table", "for reading; fits the terminal", true, newTable, ""},
		{"vertical", "for reading; a line for each field", true, newVertical, ""},
		{"csv", "RFC 4180 with a header line, line feeds, UTF-8; nulls are empty", true, newCSV, ""},
		{"tsv", `separated by tabs; tab, line break and backslash as \t \n \r \\`, true, newTSV, ""},
		{"json", "one array of objects; nulls are left out", false, newJSON, ""},
		{"ndjson", "one object a line; nulls are left out", false, newNDJSON, ""},
		{"xlsx", "a workbook, into a file only; numbers and dates are such, text stays text", false, newXLSX, ""},
		{"raw", "the reply to whctl query as the service sends it: JSON, or raw:csv, raw:xml, raw:jsv, raw:html, raw:ndjson", false, nil, ""},
	}
}

// rawFormats are the service's formats, in which raw can be asked for.
var rawFormats = []string{"json", "csv", "xml", "jsv", "html", "ndjson"}

// Shorthands are the formats that have a flag of their own.
var Shorthands = []string{"table", "csv", "tsv", "json", "ndjson"}

// FormatNames are the names of all formats.
func FormatNames() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Printer prints what a command shows, as its flags say.
type Printer struct {
	Context  *cli.Context
	Stdout   io.Writer
	Terminal Terminal // what Stdout is
	Notice   func(format string, args ...any)
	Preset   func() (string, error) // the format that the configuration names; empty for none
}

// Flags are what every command takes that prints rows.
func Flags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: strings.Join(FormatNames(), ", ") + "; default: table on a terminal, else csv (WHCTL_FORMAT)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which gets its name when it is complete"},
		&cli.StringFlag{Name: "null", Usage: "`TEXT` for nulls in table, vertical, csv and tsv"},
		&cli.BoolFlag{Name: "excel", Usage: "csv that Excel opens right: BOM, CRLF, no formulas"},
		&cli.StringFlag{Name: "jq", Usage: "print what the jq `EXPRESSION` makes of the array of rows, or with --ndjson of each row"},
	}
	for _, name := range Shorthands {
		flags = append(flags, &cli.BoolFlag{Name: name, Usage: "short for --format " + name})
	}
	return flags
}

// Format decides how to print: what is asked for, else by where it goes.
func (p *Printer) Format() (Format, error) {
	c := p.Context
	asked := c.String("format")
	for _, name := range Shorthands {
		if !c.Bool(name) {
			continue
		}
		if asked != "" && asked != name {
			return Format{}, cmdline.Usagef("both --%s and the format %s are asked for", name, asked)
		}
		asked = name
	}
	if asked == "" {
		var err error
		if asked, err = p.defaultFormat(); err != nil {
			return Format{}, err
		}
		if path := c.String("output"); asked != "xlsx" && strings.EqualFold(filepath.Ext(path), ".xlsx") {
			return Format{}, cmdline.Usagef("%s would hold %s and be no workbook: add --format xlsx", path, asked)
		}
	}
	name, flavour, _ := strings.Cut(strings.ToLower(asked), ":")
	for _, f := range Formats() {
		if f.Name == name && (flavour == "" || f.new == nil && slices.Contains(rawFormats, flavour)) {
			f.RawFormat = cmp.Or(flavour, rawFormats[0])
			return f, checkFormat(c, f)
		}
	}
	near := record.DidYouMean(record.Suggest(asked, FormatNames()))
	return Format{}, cmdline.Usagef("no format %q%s; formats: %s", asked, near, strings.Join(FormatNames(), ", "))
}

// checkFormat refuses flags that the format would have to ignore.
func checkFormat(c *cli.Context, f Format) error {
	switch {
	case c.Bool("excel") && f.Name != "csv":
		return cmdline.Usagef("--excel goes with --format csv only")
	case c.IsSet("null") && !f.cells:
		return cmdline.Usagef("--null goes with --format table, vertical, csv or tsv only")
	case c.IsSet("jq") && f.Name != "json" && f.Name != "ndjson":
		return cmdline.Usagef("--jq goes with --format json or ndjson only")
	case f.Name == "xlsx" && !toFile(c):
		return cmdline.Usagef("--format xlsx needs a file: -o FILE")
	}
	return nil
}

// toFile reports whether the output is a file with a name.
func toFile(c *cli.Context) bool {
	path := c.String("output")
	return path != "" && path != "-"
}

// defaultFormat is what variable or configuration say; else for reading on a
// terminal, and for programs elsewhere.
func (p *Printer) defaultFormat() (string, error) {
	switch {
	case p.Context.IsSet("jq"):
		return "json", nil
	case p.Context.Bool("excel"):
		return "csv", nil
	}
	preset, err := p.Preset()
	switch {
	case err != nil || preset != "":
		return strings.ToLower(preset), err
	case p.OnScreen():
		return "table", nil
	}
	return "csv", nil
}

// chosenTable reports whether a table was asked for, rather than what is best to
// read.
func chosenTable(c *cli.Context) bool { return c.IsSet("format") || c.Bool("table") }

// OnScreen reports whether a person sees the output as it comes.
func (p *Printer) OnScreen() bool { return p.Terminal.Is && !toFile(p.Context) }

// Sheet is what rows are printed as.
type Sheet struct {
	Name    string // of the kind of rows
	Columns []Column
}

// RowWriter prepares printing.
func (p *Printer) RowWriter(f Format, out *Sink, rows Sheet) (RowWriter, error) {
	c := p.Context
	l := layout{
		out: out, columns: rows.Columns, sheet: rows.Name, width: p.Terminal.Width, null: c.String("null"), excel: c.Bool("excel"),
		vertical: p.OnScreen() && !chosenTable(c), notice: p.Notice,
	}
	for _, one := range rows.Columns {
		l.names = append(l.names, one.Name)
	}
	if c.IsSet("jq") {
		return newJQ(c.Context, l, c.String("jq"), f.Name == "json")
	}
	return f.new(l), nil
}

// Rows prints rows as they come, in the format that is asked for, which it
// gives.
func (p *Printer) Rows(columns []Column, rows iter.Seq2[client.Row, error]) (Format, error) {
	f, err := p.Format()
	if err != nil {
		return f, err
	}
	if f.Raw() {
		return f, cmdline.Usagef("--format %s goes with whctl query only", f.Name)
	}
	out, err := p.Create()
	if err != nil {
		return f, err
	}
	to, err := p.RowWriter(f, out, Sheet{p.Context.Command.Name, columns})
	if err == nil {
		err = Copy(to, rows)
	}
	return f, out.Finish(err)
}

// Copy hands rows on one by one, so that memory does not grow with their
// number.
func Copy(to RowWriter, rows iter.Seq2[client.Row, error]) error {
	if err := to.Begin(); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := to.Row(row); err != nil {
			return err
		}
	}
	return to.End()
}

// ColumnsOf are the columns of some fields of a kind.
func ColumnsOf(kind *record.Kind, fields []string) []Column {
	if len(fields) == 0 {
		fields = kind.FieldNames()
	}
	columns := make([]Column, len(fields))
	for i, name := range fields {
		at, _ := kind.Column(name) // names were checked when they were read
		columns[i] = Column{Name: name, Type: kind.Fields[at].Type}
	}
	return columns
}

// ForPeople reports whether a format is one to read, rather than to work with.
func (f Format) ForPeople() bool { return f.Name == "table" || f.Name == "vertical" }

// HiddenKeys are the fields of which only the ends are shown, since others may
// look at the screen too.
func (p *Printer) HiddenKeys(f Format, keys []string) []string {
	if !f.ForPeople() || !p.OnScreen() || p.Context.Bool("full") {
		return nil
	}
	return keys
}
