// Package output prints rows and documents in human-readable and machine-readable
// formats, on the terminal, to standard output or to a file.
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
	"github.com/bizhook/whd/client/rowfile"
	"github.com/bizhook/whd/client/workbook"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/tui/theme"
)

// Column is a column of the output.
type Column = workbook.Column

// layout has the options of the writers of all formats.
type layout struct {
	out       *Sink
	columns   []Column
	names     []string // names of the columns
	view      view     // columns of table and vertical
	single    bool     // a single row may be printed as a line per field
	sheet     string   // name of the kind of rows
	width     int      // width of the terminal in cells; 0 for no limit
	vertical  bool     // a wide table may be printed as a line per field
	choosable bool     // the command has --fields
	null      string   // text of a null
	excel     bool
	headless  bool // names of columns are not printed
	notice    func(format string, args ...any)
}

// RowWriter writes rows in one format as they arrive.
type RowWriter = rowfile.Writer

// TextWriter is a RowWriter that also writes rows in the form of client.Rows.Text.
type TextWriter = rowfile.TextWriter

// Format is an output format.
type Format struct {
	Name      string
	Summary   string
	cells     bool // has a cell for each column, so --null applies
	new       func(layout) RowWriter
	RawFormat string // the service's format, if the format is raw
}

// Raw reports whether the reply of the service is printed unchanged.
func (f Format) Raw() bool { return f.new == nil }

// Formats returns all formats. Flags, help and checks are derived from it.
func Formats() []Format {
	formats := []Format{
		{"table", "aligned columns, fitted to the terminal", true, newTable, ""},
		{"vertical", "a line for each field", true, newVertical, ""},
	}
	for _, f := range rowfile.Formats() {
		write := func(l layout) RowWriter { return newFile(f, l) }
		formats = append(formats, Format{
			Name:    f.Name,
			Summary: f.Summary,
			cells:   f.Cells,
			new:     write,
		})
	}
	raw := "the unchanged response of the service, only for whctl query: JSON, or raw:" +
		strings.Join(client.Formats()[1:], ", raw:")
	return append(formats, Format{Name: "raw", Summary: raw})
}

// Shorthands has the formats with their own flag.
var Shorthands = []string{"table", "csv", "tsv", "json", "ndjson"}

// FormatNames returns the names of all formats.
func FormatNames() []string {
	return record.Texts(Formats(), func(f Format) string { return f.Name })
}

// Printer prints the output of a command according to its flags.
type Printer struct {
	Context  *cli.Context
	Stdout   io.Writer
	Terminal Terminal // properties of Stdout
	Screen   Screen
	One      bool // the row is a single object
	Notice   func(format string, args ...any)
	Preset   func() (string, error) // the configured format; empty for none
}

// Flags returns the flags of commands that print rows. Only whctl query has the format
// raw.
func Flags() []cli.Flag { return FlagsWithout("raw") }

// FlagsWithout returns the flags of commands that print rows but not in all formats. Help
// does not list the excluded formats; the command rejects them.
func FlagsWithout(excluded ...string) []cli.Flag {
	formats := slices.DeleteFunc(FormatNames(), func(name string) bool {
		return slices.Contains(excluded, name)
	})
	jq := "apply the jq `EXPRESSION` to the array of rows, or with --ndjson to each row"
	if !slices.Contains(formats, "json") {
		jq = "with --ndjson, apply the jq `EXPRESSION` to each row"
	}
	flags := []cli.Flag{
		&cli.StringFlag{
			Name: "format",
			Usage: "`FORMAT`  output format: " +
				strings.Join(formats, ", ") +
				"; default: by the extension of -o FILE, or else table on a terminal and csv elsewhere (WHCTL_FORMAT)",
		},
		&cli.StringFlag{
			Name:    "output",
			Aliases: []string{"o"},
			Usage: "write `FILE` atomically; .csv, .tsv, .json, .ndjson or .xlsx selects the format; " +
				"the name of a format is the same as --format",
		},
		&cli.StringFlag{Name: "null", Usage: "print nulls as `TEXT` in table, vertical, csv and tsv"},
		&cli.BoolFlag{
			Name:  "excel",
			Usage: "write csv for Excel: with BOM and CRLF, cells that look like formulas escaped",
		},
		&cli.BoolFlag{Name: "no-headers", Usage: "print no names of columns in table, csv and tsv"},
		&cli.StringFlag{Name: "jq", Usage: jq},
	}
	for _, name := range Shorthands {
		flags = append(flags, &cli.BoolFlag{
			Name:   name,
			Usage:  "same as --format " + name,
			Hidden: slices.Contains(excluded, name),
		})
	}
	return flags
}

// Format returns the selected format, or the default for the kind of output.
func (p *Printer) Format() (Format, error) {
	c := p.Context
	if err := checkOutput(c); err != nil {
		return Format{}, err
	}
	selected := c.String("format")
	for _, name := range Shorthands {
		if !c.Bool(name) {
			continue
		}
		if selected != "" && selected != name {
			return Format{}, cmdline.Usagef("--%s and --format %s cannot be combined", name, selected)
		}
		selected = name
	}
	if selected == "" {
		var err error
		selected, err = p.defaultFormat()
		if err != nil {
			return Format{}, err
		}
	}
	name, rawFormat, _ := strings.Cut(strings.ToLower(selected), ":")
	for _, f := range Formats() {
		if f.Name == name && f.accepts(rawFormat) {
			f.RawFormat = cmp.Or(rawFormat, client.Formats()[0])
			return f, checkFormat(c, f)
		}
	}
	names := FormatNames()
	hint := record.DidYouMeanOr(record.Suggest(selected, names), "formats: "+strings.Join(names, ", "))
	return Format{}, cmdline.Usagef("unknown format %q%s", selected, hint)
}

// accepts reports whether a format of the service, as in raw:csv, can be combined with the format.
// It is empty for a format alone.
func (f Format) accepts(rawFormat string) bool {
	if rawFormat == "" {
		return true
	}
	return f.Raw() && slices.Contains(client.Formats(), rawFormat)
}

// checkFormat rejects flags that do not apply to the format.
func checkFormat(c *cli.Context, f Format) error {
	isJSON := f.Name == "json" || f.Name == "ndjson"
	hasHeader := f.cells && f.Name != "vertical"
	switch {
	case c.Bool("excel") && f.Name != "csv":
		return cmdline.Usagef("--excel requires --format csv")
	case c.IsSet("null") && !f.cells:
		return cmdline.Usagef("--null requires --format table, vertical, csv or tsv")
	case c.Bool("no-headers") && !hasHeader:
		return cmdline.Usagef("--no-headers requires --format table, csv or tsv")
	case c.IsSet("jq") && !isJSON:
		return cmdline.Usagef("--jq requires --format json or ndjson")
	case slices.Contains([]string{f.Name, f.RawFormat}, "xlsx") && !toFile(c):
		return cmdline.Usagef("a workbook needs a file: -o FILE")
	}
	return nil
}

// toFile reports whether the output goes to a named file.
func toFile(c *cli.Context) bool {
	path := c.String("output")
	return path != "" && path != "-" && !isFormatName(c)
}

// isFormatName reports whether --output has the name of a format, as in kubectl, instead of that of
// a file. A file with such a name is ./json.
func isFormatName(c *cli.Context) bool {
	return !isFormatChosen(c) && slices.Contains(FormatNames(), c.String("output"))
}

// isFormatChosen reports whether a flag has the format, or implies it.
func isFormatChosen(c *cli.Context) bool {
	isShorthand := slices.ContainsFunc(Shorthands, func(name string) bool { return c.Bool(name) })
	return isShorthand || c.String("format") != "" || c.IsSet("jq") || c.Bool("excel")
}

// otherFormats has the formats of kubectl that are not those of --format, and similar flags.
var otherFormats = []struct{ start, similar string }{
	{"wide", "--format vertical prints all fields"},
	{"name", "--fields chooses the fields"},
	{"yaml", "--json is similar"},
	{"jsonpath", "use --jq EXPRESSION"},
	{"go-template", "use --jq EXPRESSION"},
	{"custom-columns", "use --fields A,B"},
}

// checkOutput rejects the name of a file with an ending that selects no format, unless a flag does,
// and a format of kubectl.
func checkOutput(c *cli.Context) error {
	path := c.String("output")
	if isFormatChosen(c) || !toFile(c) {
		return nil
	}
	start, _, _ := strings.Cut(path, "=")
	for _, f := range otherFormats {
		if f.start == start {
			return cmdline.Usagef("-o %s: -o takes a file, or the name of a format; %s", path, f.similar)
		}
	}
	ending := endingOf(path)
	if ending == "" || slices.Contains(FileFormats, ending) {
		return nil
	}
	return cmdline.Usagef("-o %s: the ending .%s selects no format; use .%s, or add --format FORMAT",
		path, ending, strings.Join(FileFormats, ", ."))
}

// endingOf returns the ending of a file's name in lower case, without the point.
func endingOf(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}

// FileFormats are the formats that the name of a file selects.
var FileFormats = []string{"csv", "tsv", "json", "ndjson", "xlsx"}

// defaultFormat returns the format of the file's name, else the configured format, else
// table on a terminal and csv elsewhere. --jq implies json, --excel implies csv.
func (p *Printer) defaultFormat() (string, error) {
	if isFormatName(p.Context) {
		return p.Context.String("output"), nil
	}
	ending := endingOf(p.Context.String("output"))
	needsJSON := p.Context.IsSet("jq")
	canBeEnding := !needsJSON || strings.HasSuffix(ending, "json")
	switch {
	case canBeEnding && slices.Contains(FileFormats, ending):
		return ending, nil
	case needsJSON:
		return "json", nil
	case p.Context.Bool("excel"):
		return "csv", nil
	}

	preset, err := p.Preset()
	if err != nil || preset != "" {
		return strings.ToLower(preset), err
	}
	if p.OnScreen() {
		return "table", nil
	}
	return "csv", nil
}

// width returns the width of tables; 0 for no limit, as in a file.
func (p *Printer) width() int {
	if p.Terminal.IsTerminal && !p.OnScreen() {
		return 0
	}
	return p.Terminal.Width
}

// chosenTable reports whether a table was requested explicitly.
func chosenTable(c *cli.Context) bool {
	return c.IsSet("format") || c.Bool("table") || c.Bool("no-headers")
}

// OnScreen reports whether the output goes to a terminal.
func (p *Printer) OnScreen() bool { return p.Terminal.IsTerminal && !toFile(p.Context) }

// RowWriter returns the writer of a format. name is the name of the kind of rows.
func (p *Printer) RowWriter(f Format, out *Sink, name string, t Table) (RowWriter, error) {
	c := p.Context
	l := layout{
		out:       out,
		columns:   t.Columns,
		sheet:     name,
		width:     p.width(),
		null:      c.String("null"),
		excel:     c.Bool("excel"),
		single:    p.One || len(t.View) == 0,
		headless:  c.Bool("no-headers"),
		vertical:  p.OnScreen() && !chosenTable(c),
		choosable: (cmdline.FlagTable{}).Add(c.Command.Flags).Has("fields"),
		notice:    p.Notice,
	}
	if c.IsSet("jq") {
		return newJQ(c.Context, l, c.String("jq"), f.Name == "json")
	}
	l.names = record.Texts(t.Columns, func(column Column) string { return column.Name })
	if f.HumanReadable() && p.OnScreen() {
		l.view = newView(t, p.Screen)
	} else {
		l.view = newRawView(t, p.Screen.raw(p.pipeTheme()))
	}
	l.view.null = l.null
	if l.view.terminal { // its cells are sanitized, and have colours
		out.Reset(p.Stdout)
	}
	return f.new(l), nil
}

// pipeTheme returns the theme of tables that are not on a terminal. It has colours if they are
// forced for a pipe.
func (p *Printer) pipeTheme() theme.Theme {
	isPipe := !p.Terminal.IsTerminal && !toFile(p.Context)
	if isPipe && p.Screen.Theme != nil {
		return *p.Screen.Theme
	}
	return theme.Theme{}
}

// Rows prints rows as they arrive and returns the format that was used.
func (p *Printer) Rows(t Table, rows iter.Seq2[client.Row, error]) (Format, error) {
	f, err := p.Format()
	if err != nil {
		return f, err
	}
	if f.Raw() {
		return f, cmdline.Usagef("--format %s is only supported by whctl query", f.Name)
	}
	out, err := p.Create()
	if err != nil {
		return f, err
	}
	to, err := p.RowWriter(f, out, p.Context.Command.Name, t)
	if err != nil {
		return f, out.Finish(err)
	}
	return f, out.Finish(Copy(to, rows, to.Row))
}

// Draws reports whether a command draws its result: on a terminal, unless a
// format is chosen.
func (p *Printer) Draws() bool {
	f, err := p.Format()
	return err == nil && f.Name == "table" && p.OnScreen() && !chosenTable(p.Context)
}

// Copy writes rows, or other parts, one by one, so that memory use does not grow with
// their number.
func Copy[T any](to RowWriter, rows iter.Seq2[T, error], write func(T) error) error {
	if err := to.Begin(); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := write(row); err != nil {
			return err
		}
	}
	return to.End()
}

// ColumnsOf returns the columns of fields of a kind, or of all fields if fields is
// empty.
func ColumnsOf(kind *record.Kind, fields []string) []Column {
	if len(fields) == 0 {
		fields = kind.FieldNames()
	}
	columns := make([]Column, len(fields))
	for i, name := range fields {
		columns[i] = Column{Name: name, Type: kind.Field(name).Type} // names have been validated
	}
	return columns
}

// HumanReadable reports whether a format is for reading, not for programs.
func (f Format) HumanReadable() bool { return f.Name == "table" || f.Name == "vertical" }
