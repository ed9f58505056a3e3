package main

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

const (
	screenful = 50   // rows of a table on a terminal, unless asked otherwise
	pageMax   = 1000 // rows that are fetched at once, to learn their total too
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
		&cli.BoolFlag{Name: "all", Usage: fmt.Sprintf("all rows, also in a table on a terminal, which else has %d", screenful)},
		&cli.BoolFlag{Name: "count", Usage: "print only how many rows match"},
		&cli.StringFlag{Name: "progress", Usage: "auto, plain or none: tell how far an export is; auto on a terminal, plain in lines", Value: "auto"},
		&cli.BoolFlag{Name: "exit-status", Usage: "exit with 10 where no row matches"},
	}
}

func (p *program) queryCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "query", ArgsUsage: "RECORD", Usage: "print records of one kind", Action: p.query,
		Flags: append(queryFlags(), outputFlags()...),
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
	format, err := p.format(c)
	if err != nil {
		return err
	}
	if len(q.Fields) == 0 && format.forPeople() {
		q.Fields = l.brief
	}
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	out, err := p.create(c.String("output"))
	if err != nil {
		return err
	}
	job := &job{program: p, context: c, service: service, query: q, format: format, out: out, keys: p.hiddenKeys(c, format, l.keys)}
	err = out.finish(job.run())
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

// job is one query on its way.
type job struct {
	*program
	context  *cli.Context
	service  *client.Client
	query    client.Query
	format   format
	out      *output
	progress *progress
	notes    client.Notes
	rows     int64    // that came; with --count, that match
	total    int64    // of all matches; 0 where nobody knows
	limited  bool     // to a screenful, which nobody asked for
	keys     []string // fields of which only the ends are shown
}

func (j *job) run() error {
	switch {
	case j.context.Bool("count"):
		return j.count()
	case j.format.new == nil:
		return j.raw()
	}
	return j.print()
}

// count is --count: one number, whatever the format.
func (j *job) count() (err error) {
	if j.rows, err = j.service.Count(j.context.Context, j.query); err == nil {
		fmt.Fprintln(j.out, j.rows)
	}
	return err
}

// raw is --format raw: what the service sends, byte for byte.
func (j *job) raw() (err error) {
	_, j.notes, err = j.service.Download(j.context.Context, j.query, j.format.flavour, j.out)
	j.rows = -1 // nobody counts them
	return err
}

// print is everything else: the rows, and before them what the service did not
// do as asked.
func (j *job) print() error {
	columns := columnsOf(j.query.Kind, j.query.Fields)
	to, err := j.printer(j.context, j.format, j.out, sheet{j.query.Kind.Name, columns})
	if err != nil {
		return err
	}
	rows, err := j.fetch()
	if err != nil {
		return err
	}
	if j.notes.TakeClamped != "" {
		j.notice(j.context, "the service gives at most %s rows at a time", j.notes.TakeClamped)
	}
	if j.notes.Ignored != "" {
		j.notice(j.context, "the service ignored %s", j.notes.Ignored)
	}
	j.progress = j.startProgress()
	return copyRows(to, shortened(j.counted(rows), j.keys))
}

// counted counts rows as they pass.
func (j *job) counted(rows iter.Seq2[client.Row, error]) iter.Seq2[client.Row, error] {
	return func(yield func(client.Row, error) bool) {
		for row, err := range rows {
			if err == nil {
				j.rows++
				j.progress.at(j.context.Context, j.rows)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// fetch asks for the rows: a few for a table at once and with their total,
// else as a stream.
func (j *job) fetch() (iter.Seq2[client.Row, error], error) {
	q := j.query
	if j.format.name == "table" && q.Take == nil && !j.context.Bool("all") && j.onScreen(j.context) {
		s, err := j.settings(j.context)
		if err != nil {
			return nil, err
		}
		q.Take, j.limited = new(s.count("default_take")), true
	}
	if j.format.name != "table" || q.Take == nil || *q.Take > pageMax {
		return j.stream(q)
	}
	q.Include = []string{"Total"}
	page, err := j.service.Page(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.total, j.notes = page.Total, page.Notes
	return each(page.Rows), nil
}

// stream asks for any number of rows. What is known of them at the end is noted
// then.
func (j *job) stream(q client.Query) (iter.Seq2[client.Row, error], error) {
	stream, err := j.service.Rows(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.notes = stream.Notes()
	return func(yield func(client.Row, error) bool) {
		for row, err := range stream.All() {
			if !yield(row, err) {
				return
			}
		}
		j.notes = stream.Notes()
	}, nil
}

// each makes a stream of rows that are all here.
func each(rows []client.Row) iter.Seq2[client.Row, error] {
	return func(yield func(client.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// tell says below a table, or of a file, how much there is.
func (j *job) tell() {
	if j.notes.Unverified {
		j.notice(j.context, "the reply came to its end, but a proxy has taken away the count that would prove it whole")
	}
	switch {
	case j.context.Bool("count"):
	case j.rows < 0 && j.out.file != nil:
		j.notice(j.context, "written to %s", j.out.name)
	case j.rows < 0:
	case j.out.file != nil:
		j.notice(j.context, "%s written to %s", countRows(j.rows), j.out.name)
	case j.format.name != "table":
	case j.total > j.rows && j.limited:
		j.notice(j.context, "%s of %s  (--all for all)", thousands(j.rows), countRows(j.total))
	case j.total > j.rows:
		j.notice(j.context, "%s of %s", thousands(j.rows), countRows(j.total))
	default:
		j.notice(j.context, "%s", countRows(j.rows))
	}
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
		return q, usagef("%s", err)
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
	if err := oneOf(c.String("progress"), progressModes); err != nil {
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
		return "", fmt.Errorf("--%s: %s has no field %s%s", flag, kind.Name, name, didYouMean(record.Near(name, kind.FieldNames())))
	}
	return kind.Fields[i].Name, nil
}
