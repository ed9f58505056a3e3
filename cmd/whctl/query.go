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
		&cli.StringSliceFlag{Name: "where", Aliases: []string{"w"}, Usage: "`CONDITION` such as \"InvoiceTotal>=100\"; repeated: all must hold (whctl help filters)"},
		&cli.StringSliceFlag{Name: "fields", Usage: "print only these, in this order: `A,B`"},
		&cli.StringSliceFlag{Name: "order-by", Usage: "`A,-B`; a leading - is descending"},
		&cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "at most `N` rows"},
		&cli.Int64Flag{Name: "skip", Usage: "leave out the first `N` rows"},
		&cli.BoolFlag{Name: "all", Usage: fmt.Sprintf("all rows, also in a table on a terminal, which else has %d", screenful)},
		&cli.BoolFlag{Name: "count", Usage: "print only how many rows match"},
		&cli.BoolFlag{Name: "exit-status", Usage: "exit with 10 where no row matches"},
	}
}

// query is whctl query: read and check what is asked, ask, print as it comes.
func (p *program) query(c *cli.Context) error {
	q, err := p.readQuery(c)
	if err != nil {
		return err
	}
	format, err := p.format(c)
	if err != nil {
		return err
	}
	service, err := p.client(c)
	if err != nil {
		return err
	}
	defer service.Close()
	out, err := p.create(c.String("output"))
	if err != nil {
		return err
	}
	job := &job{program: p, context: c, service: service, query: q, format: format, out: out}
	work := job.print
	if c.Bool("count") {
		work = job.count
	}
	err = out.finish(work())
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
	context *cli.Context
	service *client.Client
	query   client.Query
	format  format
	out     *output
	rows    int64 // that came; with --count, that match
	total   int64 // of all matches; 0 where nobody knows
	limited bool  // to a screenful, which nobody asked for
}

// count is --count: one number, whatever the format.
func (j *job) count() (err error) {
	if j.rows, err = j.service.Count(j.context.Context, j.query); err == nil {
		fmt.Fprintln(j.out, j.rows)
	}
	return err
}

// print is everything else: the rows, and before them what the service did not
// do as asked.
func (j *job) print() error {
	rows, notes, err := j.fetch()
	if err != nil {
		return err
	}
	if notes.TakeClamped != "" {
		j.notice(j.context, "the service gives at most %s rows at a time", notes.TakeClamped)
	}
	if notes.Ignored != "" {
		j.notice(j.context, "the service ignored %s", notes.Ignored)
	}
	to := j.printer(j.context, j.format, j.out, columnsOf(j.query.Kind, j.query.Fields))
	return j.copy(to, rows)
}

// copy hands rows on one by one, so that memory does not grow with their number.
func (j *job) copy(to printer, rows iter.Seq2[client.Row, error]) error {
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
		j.rows++
	}
	return to.end()
}

// fetch asks for the rows: a few for a table at once and with their total,
// else as a stream.
func (j *job) fetch() (iter.Seq2[client.Row, error], client.Notes, error) {
	q := j.query
	if j.format.name == "table" && q.Take == nil && !j.context.Bool("all") && j.onScreen(j.context) {
		q.Take, j.limited = new(int64(screenful)), true
	}
	if j.format.name != "table" || q.Take == nil || *q.Take > pageMax {
		stream, err := j.service.Rows(j.context.Context, q)
		if err != nil {
			return nil, client.Notes{}, err
		}
		return stream.All(), stream.Notes(), nil
	}
	q.Include = []string{"Total"}
	page, err := j.service.Page(j.context.Context, q)
	if err != nil {
		return nil, client.Notes{}, err
	}
	j.total = page.Total
	return each(page.Rows), page.Notes, nil
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
	switch {
	case j.context.Bool("count"):
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
func (p *program) readQuery(c *cli.Context) (client.Query, error) {
	q := client.Query{Strict: true}
	if c.Args().Len() != 1 {
		return q, &usageError{message: fmt.Sprintf("query takes one RECORD, not %d; whctl records lists them", c.Args().Len()), command: "query"}
	}
	var err error
	if q.Kind, err = p.kind("query", c.Args().First()); err != nil {
		return q, err
	}
	if q.Where, err = (filters{q.Kind, p.now()}).parse(c.StringSlice("where")); err == nil {
		q.Fields, err = readFields(q.Kind, c.StringSlice("fields"))
	}
	if err == nil {
		q.OrderBy, err = readOrder(q.Kind, c.StringSlice("order-by"))
	}
	if err == nil {
		err = readPaging(c, &q)
	}
	if err != nil {
		return q, &usageError{message: err.Error(), command: "query"}
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
