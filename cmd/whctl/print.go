package main

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// column is one column of what is printed.
type column struct {
	name string
	typ  record.Type
}

// layout is what a printer works with.
type layout struct {
	out     *output
	columns []column
	names   []string // of the columns
	sheet   string   // what the rows are, in a word
	width   int      // of the terminal
	upright bool     // a table may turn its columns into lines
	null    string   // stands for a null
	excel   bool
	notice  func(format string, args ...any)
}

// printer writes rows in one format, each as it comes.
type printer interface {
	begin() error         // what stands before the rows
	row(client.Row) error // the row is the printer's only until it returns
	end() error           // only where all rows came
}

// format is one way to print rows.
type format struct {
	name    string
	summary string
	cells   bool // has a cell for each column, so --null means something
	new     func(layout) printer
	flavour string // of raw: the service's format
}

// formats is the only list of formats: flags, help and checks are made of it.
func formats() []format {
	return []format{
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

// flavours are the service's formats, in which raw can be asked for.
var flavours = []string{"json", "csv", "xml", "jsv", "html", "ndjson"}

// shorthands are the formats that have a flag of their own.
var shorthands = []string{"table", "csv", "tsv", "json", "ndjson"}

func formatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// outputFlags are what every command takes that prints rows.
func outputFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: strings.Join(formatNames(), ", ") + "; default: table on a terminal, else csv (WHCTL_FORMAT)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which gets its name when it is complete"},
		&cli.StringFlag{Name: "null", Usage: "`TEXT` for nulls in table, vertical, csv and tsv"},
		&cli.BoolFlag{Name: "excel", Usage: "csv that Excel opens right: BOM, CRLF, no formulas"},
		&cli.StringFlag{Name: "jq", Usage: "print what the jq `EXPRESSION` makes of the array of rows, or with --ndjson of each row"},
	}
	for _, name := range shorthands {
		flags = append(flags, &cli.BoolFlag{Name: name, Usage: "short for --format " + name})
	}
	return flags
}

// format decides how to print: what is asked for, else by where it goes.
func (p *program) format(c *cli.Context) (format, error) {
	asked := c.String("format")
	for _, name := range shorthands {
		if !c.Bool(name) {
			continue
		}
		if asked != "" && asked != name {
			return format{}, cmdline.Usagef("both --%s and the format %s are asked for", name, asked)
		}
		asked = name
	}
	if asked == "" {
		var err error
		if asked, err = p.defaultFormat(c); err != nil {
			return format{}, err
		}
		if path := c.String("output"); asked != "xlsx" && strings.EqualFold(filepath.Ext(path), ".xlsx") {
			return format{}, cmdline.Usagef("%s would hold %s and be no workbook: add --format xlsx", path, asked)
		}
	}
	name, flavour, _ := strings.Cut(strings.ToLower(asked), ":")
	for _, f := range formats() {
		if f.name == name && (flavour == "" || f.new == nil && slices.Contains(flavours, flavour)) {
			f.flavour = cmp.Or(flavour, flavours[0])
			return f, checkFormat(c, f)
		}
	}
	near := cmdline.DidYouMean(record.Near(asked, formatNames()))
	return format{}, cmdline.Usagef("no format %q%s; formats: %s", asked, near, strings.Join(formatNames(), ", "))
}

// checkFormat refuses flags that the format would have to ignore.
func checkFormat(c *cli.Context, f format) error {
	switch {
	case c.Bool("excel") && f.name != "csv":
		return cmdline.Usagef("--excel goes with --format csv only")
	case c.IsSet("null") && !f.cells:
		return cmdline.Usagef("--null goes with --format table, vertical, csv or tsv only")
	case c.IsSet("jq") && f.name != "json" && f.name != "ndjson":
		return cmdline.Usagef("--jq goes with --format json or ndjson only")
	case f.name == "xlsx" && !toFile(c):
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
func (p *program) defaultFormat(c *cli.Context) (string, error) {
	switch {
	case c.IsSet("jq"):
		return "json", nil
	case c.Bool("excel"):
		return "csv", nil
	}
	s, err := p.settings(c)
	switch {
	case err != nil:
		return "", err
	case s.text("format") != "":
		return strings.ToLower(s.text("format")), nil
	case p.onScreen(c):
		return "table", nil
	}
	return "csv", nil
}

// chosenTable reports whether a table was asked for, rather than what is best to
// read.
func chosenTable(c *cli.Context) bool { return c.IsSet("format") || c.Bool("table") }

// onScreen reports whether a person sees the output as it comes.
func (p *program) onScreen(c *cli.Context) bool {
	path := c.String("output")
	return p.terminal.is && (path == "" || path == "-")
}

// sheet is what rows are printed as.
type sheet struct {
	name    string // of the kind of rows
	columns []column
}

// printer prepares printing.
func (p *program) printer(c *cli.Context, f format, out *output, rows sheet) (printer, error) {
	l := layout{
		out: out, columns: rows.columns, sheet: rows.name, width: p.terminal.width, null: c.String("null"), excel: c.Bool("excel"),
		upright: p.onScreen(c) && !chosenTable(c),
		notice:  func(format string, args ...any) { p.notice(c, format, args...) },
	}
	for _, one := range rows.columns {
		l.names = append(l.names, one.name)
	}
	if c.IsSet("jq") {
		return newJQ(c.Context, l, c.String("jq"), f.name == "json")
	}
	return f.new(l), nil
}

// printRows prints rows as they come, in the format that is asked for, which it
// gives.
func (p *program) printRows(c *cli.Context, columns []column, rows iter.Seq2[client.Row, error]) (format, error) {
	f, err := p.format(c)
	if err != nil {
		return f, err
	}
	if f.new == nil {
		return f, cmdline.Usagef("--format %s goes with whctl query only", f.name)
	}
	out, err := p.create(c.String("output"))
	if err != nil {
		return f, err
	}
	to, err := p.printer(c, f, out, sheet{c.Command.Name, columns})
	if err == nil {
		err = copyRows(to, rows)
	}
	return f, out.finish(err)
}

// copyRows hands rows on one by one, so that memory does not grow with their
// number.
func copyRows(to printer, rows iter.Seq2[client.Row, error]) error {
	if err := to.begin(); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := to.row(row); err != nil {
			return err
		}
	}
	return to.end()
}

// columnsOf are the columns of some fields of a kind.
func columnsOf(kind *record.Kind, fields []string) []column {
	if len(fields) == 0 {
		fields = kind.FieldNames()
	}
	columns := make([]column, len(fields))
	for i, name := range fields {
		at, _ := kind.Column(name) // names were checked when they were read
		columns[i] = column{name, kind.Fields[at].Type}
	}
	return columns
}

// countRows is a number of rows in words.
func countRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return thousands(n) + " rows"
}

// thousands groups digits, for people; data never has that.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
