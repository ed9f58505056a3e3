package records

import (
	"context"
	"fmt"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/output"
)

const pageMax = 1000 // a table with at most this many rows is fetched as a page with its total

// job is a running query.
type job struct {
	context     *cli.Context
	printer     *output.Printer
	service     *client.Client
	query       client.Query
	columns     []output.Column // of groups; nil for the fields of the query
	format      output.Format
	out         *output.Sink
	progress    *progress
	defaultTake int64 // rows of a table on a terminal
	notes       client.Notes
	rows        int64        // received rows; with --count, matching rows
	total       int64        // matching rows; 0 if unknown
	limited     bool         // to the default number of rows
	keys        []string     // fields to shorten
	stream      *client.Rows // nil for a page
}

func (j *job) run() error {
	switch {
	case j.context.Bool("count"):
		return j.count()
	case j.format.Raw():
		return j.raw()
	}
	return j.print()
}

// count implements --count: it prints a number in any format.
func (j *job) count() (err error) {
	if j.rows, err = j.service.Count(j.context.Context, j.query); err == nil {
		fmt.Fprintln(j.out, j.rows)
	}
	return err
}

// raw implements --format raw: it copies the reply byte for byte.
func (j *job) raw() (err error) {
	_, j.notes, err = j.service.Download(j.context.Context, j.query, j.format.RawFormat, j.out)
	j.rows = -1 // unknown
	return err
}

// print prints the rows, after notices about parameters that the service did not
// follow.
func (j *job) print() error {
	columns := j.columns
	if columns == nil {
		columns = output.ColumnsOf(j.query.Kind, j.query.Fields)
	}
	to, err := j.printer.RowWriter(j.format, j.out, output.Sheet{Name: j.query.Kind.Name, Columns: columns})
	if err != nil {
		return err
	}
	text, copied := to.(output.TextWriter)
	rows, err := j.fetch(copied)
	if err != nil {
		return err
	}
	if j.notes.TakeClamped != "" {
		j.printer.Notice("the service returns at most %s rows per request", j.notes.TakeClamped)
	}
	if j.notes.Ignored != "" {
		j.printer.Notice("the service ignored %s", j.notes.Ignored)
	}
	j.progress.begin()
	count := func(rows int64) {
		j.rows = rows
		j.progress.update(j.context.Context, rows)
	}
	if copied && j.stream.IsCSV() == (j.format.Name == "csv") {
		return output.Copy(to, j.stream.Text(), func(lines []byte) error {
			count(j.stream.Count())
			return text.Text(lines)
		})
	}
	return output.Copy(to, output.Shortened(rows, j.keys), func(row client.Row) error {
		count(j.rows + 1)
		return to.Row(row)
	})
}

// fetch requests the rows: a single page with its total for a small table, else a
// stream, in CSV if its text is to be copied as such.
func (j *job) fetch(copied bool) (rows iter.Seq2[client.Row, error], err error) {
	q := j.query
	if j.format.Name == "table" && q.Take == nil && !j.context.Bool("all") && j.printer.OnScreen() {
		q.Take, j.limited = &j.defaultTake, true
	}
	if j.format.Name == "table" && q.Take != nil && *q.Take <= pageMax {
		q.Include = append([]string{"Total"}, q.Include...)
		page, err := j.service.Page(j.context.Context, q)
		if err != nil {
			return nil, err
		}
		j.total, j.notes = page.Total, page.Notes
		return output.Each(page.Rows), nil
	}
	open := j.service.Rows
	if copied && j.format.Name == "csv" {
		open = j.service.CSV
	}
	j.stream, err = open(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.notes = j.stream.Notes()
	return j.stream.All(), nil
}

// expected returns the number of rows that the query will return.
func (j *job) expected(ctx context.Context) (int64, error) {
	n, err := j.service.Count(ctx, j.query)
	n -= j.query.Skip
	if j.query.Take != nil {
		n = min(n, *j.query.Take)
	}
	return n, err
}

// summarize prints the number of rows of a table or a file.
func (j *job) summarize() {
	if j.notes.Unverified || j.stream != nil && j.stream.Notes().Unverified {
		j.printer.Notice("the reply is complete as far as known; a proxy removed the row count that verifies it")
	}
	switch {
	case j.context.Bool("count"):
	case j.rows < 0 && j.out.File() != "":
		j.printer.Notice("written to %s", j.out.File())
	case j.rows < 0:
	case j.out.File() != "":
		j.printer.Notice("%s written to %s", display.Count(j.rows, "row", "rows"), j.out.File())
	case j.format.Name != "table":
	case j.total > j.rows && j.limited:
		j.printer.Notice("%s of %s  (--all for all)", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	case j.total > j.rows:
		j.printer.Notice("%s of %s", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	default:
		j.printer.Notice("%s", display.Count(j.rows, "row", "rows"))
	}
}
