package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// queryFlags are what only whctl query takes.
func queryFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "where", Aliases: []string{"w"}, Usage: "`CONDITION` such as \"InvoiceTotal>=100\"; repeated: all must hold; @FILE has one a line (whctl help filters)"},
		&cli.StringFlag{Name: "filter-json", Usage: "`JSON` object of the service's members, such as {\"InvoiceTotalGreaterThan\":100}; @FILE reads a file"},
		&cli.BoolFlag{Name: "unchecked", Usage: "with --filter-json, send members that whctl does not know"},
		&cli.StringSliceFlag{Name: "fields", Usage: "print only these, in this order: `A,B`"},
		&cli.StringSliceFlag{Name: "order-by", Usage: "`A,-B`; a leading - is descending"},
		&cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "at most `N` rows"},
		&cli.Int64Flag{Name: "skip", Usage: "leave out the first `N` rows"},
		&cli.BoolFlag{Name: "all", Usage: fmt.Sprintf("all rows, also in a table on a terminal, which else has %d", profile.TableRows)},
		&cli.BoolFlag{Name: "count", Usage: "print only how many rows match"},
		&cli.StringFlag{Name: "progress", Usage: "auto, plain or none: tell how far an export is; auto on a terminal, plain in lines", Value: "auto"},
		&cli.BoolFlag{Name: "exit-status", Usage: "exit with 10 where no row matches"},
	}
}

func queryCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "query", ArgsUsage: "RECORD", Usage: "print records of one kind", Flags: append(queryFlags(), output.Flags()...),
			Action: lists(func(c *cli.Context, _ *session) (listing, error) {
				kind, err := kindNamed(c.Args().First())
				return listing{kind: kind}, err
			}),
			Description: `whctl query SO_Totals --where "InvoiceTotal>=1000" --order-by -InvoiceTotal --take 10
whctl query SO_Totals --format csv -o totals.csv
whctl query SO_Totals --all --format xlsx -o totals.xlsx
whctl query SO_Totals --count`,
		},
		{
			Name: "records", Aliases: []string{"record"}, ArgsUsage: "[RECORD]", Usage: "list the kinds of records, or the fields of one",
			Flags: output.Flags(), Action: with(listKinds),
			Description: `whctl records
whctl records SO_Totals`,
		},
	}
}

// kindNamed is the record kind that a command names.
func kindNamed(name string) (*record.Kind, error) {
	registry := record.Builtin()
	if kind, ok := registry.Lookup(name); ok {
		return kind, nil
	}
	return nil, cmdline.Usagef("no record %q%s; whctl records lists them", name, record.DidYouMean(registry.Suggest(name)))
}

// kindColumns and fieldColumns are what whctl records prints, without asking
// any service.
var (
	kindColumns  = []output.Column{{Name: "Record", Type: record.Text}, {Name: "Area", Type: record.Text}, {Name: "Fields", Type: record.Int}, {Name: "Summary", Type: record.Text}}
	fieldColumns = []output.Column{{Name: "Field", Type: record.Text}, {Name: "Type", Type: record.Text}, {Name: "Operators", Type: record.Text}}
)

// listKinds is whctl records.
func listKinds(c *cli.Context, s *session) error {
	var lines [][]any
	name := c.Args().First()
	if name == "" {
		for _, k := range record.Builtin().Kinds() {
			lines = append(lines, []any{k.Name, k.Area, len(k.Fields), k.Summary})
		}
		_, err := s.printer(c).Lines(kindColumns, lines)
		return err
	}
	kind, err := kindNamed(name)
	if err != nil {
		return err
	}
	for _, f := range kind.Fields { // with its operators in the spelling of --where
		lines = append(lines, []any{f.Name, f.TypeName(), filter.Allowed(f.Filter)})
	}
	format, err := s.printer(c).Lines(fieldColumns, lines)
	if err == nil && format.Name == "table" {
		s.Notice(c, "example: %s", exampleOf(kind))
	}
	return err
}

// exampleOf is a query that shows a filter in the fullest family of the kind.
func exampleOf(kind *record.Kind) string {
	condition := kind.Fields[0].Name + "^=A"
	for _, f := range kind.Fields {
		if f.Type.Number() {
			condition = f.Name + ">=1"
			break
		}
	}
	return fmt.Sprintf("whctl query %s --where %q --order-by -%s", kind.Name, condition, kind.Fields[0].Name)
}

// listing is what is printed: records of a kind.
type listing struct {
	kind  *record.Kind
	brief []string        // the fields that people see unless they choose; all where empty
	keys  []string        // fields that authorize those who know them, so that a screen shows their ends only
	where []client.Filter // beside those of the flags
}

// lists is the action of a command that lists records.
func lists(what func(c *cli.Context, s *session) (listing, error)) cli.ActionFunc {
	return with(func(c *cli.Context, s *session) error {
		l, err := what(c, s)
		if err != nil {
			return err
		}
		return list(c, s, l)
	})
}

// list reads and checks what is asked, asks, and prints as it comes.
func list(c *cli.Context, s *session, l listing) error {
	in, err := s.Settings(c)
	if err != nil {
		return err
	}
	q, err := readQuery(c, l, s.now().In(in.Zone()))
	if err != nil {
		return cmdline.Usagef("%s", err)
	}
	printer := s.printer(c)
	format, err := printer.Format()
	if err != nil {
		return err
	}
	if len(q.Fields) == 0 && format.ForPeople() {
		q.Fields = l.brief
	}
	service, err := s.Reader(c)
	if err != nil {
		return err
	}
	defer service.Close()
	out, err := printer.Create()
	if err != nil {
		return err
	}
	job := &job{context: c, printer: printer, service: service, query: q, format: format, out: out, keys: printer.HiddenKeys(format, l.keys), defaultTake: in.Count("default_take")}
	if c.String("progress") == "plain" || s.prompter.Watches && !printer.OnScreen() {
		job.progress = newProgress(c.String("progress"), q.Kind.Name, s.Stderr, s.now, job.expected)
	}
	if c.Bool("quiet") || c.String("progress") == "none" {
		job.progress = nil
	}
	err = out.Finish(job.run())
	job.progress.end()
	switch {
	case client.Is(err, client.Cancelled):
		return interruption{job.rows}
	case err != nil:
		return err
	}
	job.summarize()
	if c.Bool("exit-status") && job.rows == 0 {
		return errNoRows
	}
	return nil
}

// readQuery reads the flags and checks them by the registry, so that mistakes
// are found before anything is sent.
func readQuery(c *cli.Context, l listing, today time.Time) (q client.Query, err error) {
	q = client.Query{Kind: l.kind, Where: l.where, Strict: true}
	if err = readFilters(c, &q, today); err == nil {
		q.Fields, err = readFields(q.Kind, c.StringSlice("fields"))
	}
	if err == nil {
		q.OrderBy, err = readOrder(q.Kind, c.StringSlice("order-by"))
	}
	if err == nil {
		err = readPaging(c, &q)
	}
	return q, err
}

// readFilters reads --where and --filter-json.
func readFilters(c *cli.Context, q *client.Query, today time.Time) error {
	reader := filter.Reader{Kind: q.Kind, Now: today}
	conditions, err := readConditions(c)
	var filters []client.Filter
	if err == nil {
		filters, err = reader.ParseAll(conditions)
	}
	for _, one := range filters {
		if err == nil {
			q.Where, err = filter.Append(q.Where, one)
		}
	}
	if err != nil {
		return fmt.Errorf("--where %w", err)
	}
	if !c.IsSet("filter-json") {
		if c.Bool("unchecked") {
			return errors.New("--unchecked goes with --filter-json only")
		}
		return nil
	}
	text, err := argument(c, c.String("filter-json"))
	if err == nil {
		err = reader.ParseJSON(q, text, c.Bool("unchecked"))
	}
	if err != nil {
		return fmt.Errorf("--filter-json: %w", err)
	}
	return nil
}

// readConditions reads --where, and the files that it names, in which each line
// is a condition. Empty lines and those that begin with # are left out.
func readConditions(c *cli.Context) ([]string, error) {
	var all []string
	for _, text := range c.StringSlice("where") {
		if !strings.HasPrefix(text, "@") {
			all = append(all, text)
			continue
		}
		content, err := argument(c, text)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(content) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				all = append(all, line)
			}
		}
	}
	return all, nil
}

// readPaging also refuses flags whose combination could only be a mistake.
func readPaging(c *cli.Context, q *client.Query) error {
	if c.IsSet("take") {
		q.Take = new(c.Int64("take"))
	}
	q.Skip = c.Int64("skip")
	for _, name := range []string{"take", "skip"} {
		if n := c.Int64(name); n < 0 || n > 1<<31-1 {
			return fmt.Errorf("--%s must be from 0 to 2147483647", name)
		}
	}
	if err := cmdline.OneOf(c.String("progress"), progressModes); err != nil {
		return fmt.Errorf("--progress %w", err)
	}
	for _, pair := range [][2]string{{"all", "take"}, {"count", "all"}, {"count", "take"}, {"count", "skip"}, {"count", "fields"}, {"count", "order-by"}} {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}

// readFields reads lists of fields, in their true letter case.
func readFields(kind *record.Kind, lists []string) ([]string, error) {
	var fields []string
	for _, name := range names(lists, ",") {
		field, err := fieldName(kind, "fields", name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(fields, field) {
			return nil, fmt.Errorf("--fields: %s stands twice", field)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// readOrder reads lists of fields, each perhaps with a - for descending.
func readOrder(kind *record.Kind, lists []string) ([]string, error) {
	var terms []string
	for _, name := range names(lists, ",;") {
		name, descending := strings.CutPrefix(name, "-")
		field, err := fieldName(kind, "order-by", strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if descending {
			field = "-" + field
		}
		terms = append(terms, field)
	}
	return terms, nil
}

// names splits lists into names. Empty parts mean nothing.
func names(lists []string, separators string) []string {
	var all []string
	for _, text := range lists {
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			if name = strings.TrimSpace(name); name != "" {
				all = append(all, name)
			}
		}
	}
	return all
}

// fieldName is a field in its true letter case.
func fieldName(kind *record.Kind, flag, name string) (string, error) {
	i, ok := kind.Column(name)
	if !ok {
		return "", fmt.Errorf("--%s: %s has no field %s%s", flag, kind.Name, name, record.DidYouMean(record.Suggest(name, kind.FieldNames())))
	}
	return kind.Fields[i].Name, nil
}
