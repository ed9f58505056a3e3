package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

const pageMax = 1000 // rows that are fetched at once, to learn their total too

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

func (p *program) queryCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "query", ArgsUsage: "RECORD", Usage: "print records of one kind", Action: p.query,
		Flags: append(queryFlags(), output.Flags()...),
		Description: `whctl query SO_Totals --where "InvoiceTotal>=1000" --order-by -InvoiceTotal --take 10
whctl query SO_Totals --format csv -o totals.csv
whctl query SO_Totals --all --format xlsx -o totals.xlsx
whctl query SO_Totals --count`,
	}}
}

// listing is what is printed: records of a kind.
type listing struct {
	kind  *record.Kind
	brief []string        // the fields that people see unless they choose; all where empty
	keys  []string        // fields that let whoever knows them act, so that a screen shows their ends only
	where []client.Filter // beside those of the flags
}

// query is whctl query.
func (p *program) query(c *cli.Context) error {
	kind, err := p.kind(c.Args().First())
	if err != nil {
		return err
	}
	return p.list(c, listing{kind: kind})
}

// list reads and checks what is asked, asks, and prints as it comes.
func (p *program) list(c *cli.Context, l listing) error {
	q, err := p.readQuery(c, l)
	if err != nil {
		return err
	}
	format, err := p.printer(c).Format()
	if err != nil {
		return err
	}
	if len(q.Fields) == 0 && format.ForPeople() {
		q.Fields = l.brief
	}
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	out, err := p.printer(c).Create()
	if err != nil {
		return err
	}
	job := &job{program: p, context: c, service: service, query: q, format: format, out: out, keys: p.printer(c).HiddenKeys(format, l.keys)}
	err = out.Finish(job.run())
	job.progress.end()
	switch {
	case client.Is(err, client.Cancelled):
		return interruption{job.rows}
	case err != nil:
		return err
	}
	job.tell()
	if c.Bool("exit-status") && job.rows == 0 {
		return errNoRows
	}
	return nil
}

// readQuery reads the flags and checks them by the registry, so that mistakes
// are found before anything is sent.
func (p *program) readQuery(c *cli.Context, l listing) (client.Query, error) {
	q := client.Query{Kind: l.kind, Where: l.where, Strict: true}
	s, err := p.settings(c)
	if err != nil {
		return q, err
	}
	if err = p.readFilters(c, &q, s); err == nil {
		q.Fields, err = readFields(q.Kind, c.StringSlice("fields"))
	}
	if err == nil {
		q.OrderBy, err = readOrder(q.Kind, c.StringSlice("order-by"))
	}
	if err == nil {
		err = readPaging(c, &q)
	}
	if err != nil {
		return q, cmdline.Usagef("%s", err)
	}
	return q, nil
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
		return "", fmt.Errorf("--%s: %s has no field %s%s", flag, kind.Name, name, cmdline.DidYouMean(record.Suggest(name, kind.FieldNames())))
	}
	return kind.Fields[i].Name, nil
}
