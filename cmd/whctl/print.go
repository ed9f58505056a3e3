package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
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
	width   int      // of the terminal
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
}

// formats is the only list of formats: flags, help and checks are made of it.
func formats() []format {
	return []format{
		{"table", "for reading; fits the terminal", true, newTable},
		{"csv", "RFC 4180 with a header line, line feeds, UTF-8; nulls are empty", true, newCSV},
		{"tsv", `separated by tabs; tab, line break and backslash as \t \n \r \\`, true, newTSV},
		{"json", "one array of objects; nulls are left out", false, newJSON},
		{"ndjson", "one object a line; nulls are left out", false, newNDJSON},
	}
}

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
		&cli.StringFlag{Name: "format", Usage: strings.Join(formatNames(), ", ") + "; default: table on a terminal, else csv"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which gets its name when it is complete"},
		&cli.StringFlag{Name: "null", Usage: "`TEXT` for nulls in table, csv and tsv"},
		&cli.BoolFlag{Name: "excel", Usage: "csv that Excel opens right: BOM, CRLF, no formulas"},
	}
	for _, f := range formats() {
		flags = append(flags, &cli.BoolFlag{Name: f.name, Usage: "short for --format " + f.name})
	}
	return flags
}

// format decides how to print: what is asked for, else by where it goes.
func (p *program) format(c *cli.Context) (format, error) {
	asked := c.String("format")
	for _, f := range formats() {
		if !c.Bool(f.name) {
			continue
		}
		if asked != "" && asked != f.name {
			return format{}, &usageError{message: fmt.Sprintf("both --%s and the format %s are asked for", f.name, asked), command: c.Command.Name}
		}
		asked = f.name
	}
	if asked == "" {
		asked = p.defaultFormat(c)
	}
	for _, f := range formats() {
		if strings.EqualFold(f.name, asked) {
			return f, checkFormat(c, f)
		}
	}
	near := didYouMean(record.Near(asked, formatNames()))
	return format{}, &usageError{message: fmt.Sprintf("no format %q%s; formats: %s", asked, near, strings.Join(formatNames(), ", ")), command: c.Command.Name}
}

// checkFormat refuses flags that the format would have to ignore.
func checkFormat(c *cli.Context, f format) error {
	if c.Bool("excel") && f.name != "csv" {
		return &usageError{message: "--excel goes with --format csv only", command: c.Command.Name}
	}
	if c.IsSet("null") && !f.cells {
		return &usageError{message: "--null goes with --format table, csv or tsv only", command: c.Command.Name}
	}
	return nil
}

// defaultFormat is for reading on a terminal, and for programs elsewhere.
func (p *program) defaultFormat(c *cli.Context) string {
	if p.onScreen(c) && !c.Bool("excel") {
		return "table"
	}
	return "csv"
}

// onScreen reports whether a person sees the output as it comes.
func (p *program) onScreen(c *cli.Context) bool {
	path := c.String("output")
	return p.terminal.is && (path == "" || path == "-")
}

// printer prepares printing.
func (p *program) printer(c *cli.Context, f format, out *output, columns []column) printer {
	l := layout{
		out: out, columns: columns, width: p.terminal.width, null: c.String("null"), excel: c.Bool("excel"),
		notice: func(format string, args ...any) { p.notice(c, format, args...) },
	}
	for _, one := range columns {
		l.names = append(l.names, one.name)
	}
	return f.new(l)
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
