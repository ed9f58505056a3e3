package records

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
)

const pageMax = 1000 // a table with at most this many rows is fetched as a page with its total

// job is a running query.
type job struct {
	context     *cli.Context
	printer     *output.Printer
	service     *client.Client
	query       client.Query
	table       output.Table
	format      output.Format
	out         *output.Sink
	progress    *progress
	defaultTake int64 // rows of a table on a terminal
	notes       client.Notes
	rows        int64        // received rows; with --count, matching rows
	total       int64        // matching rows; 0 if unknown
	limited     bool         // to the default number of rows
	stream      *client.Rows // nil for a page
}

func (j *job) run() error {
	if j.context.Bool("count") {
		return j.count()
	}
	if j.format.Raw() {
		return j.raw()
	}
	return j.print()
}

// count prints the number of rows, in any format.
func (j *job) count() error {
	var err error
	j.rows, err = j.service.Count(j.context.Context, j.query)
	if err != nil {
		return err
	}
	fmt.Fprintln(j.out, j.rows)
	return nil
}

// raw copies the reply byte for byte.
func (j *job) raw() (err error) {
	_, j.notes, err = j.service.Download(j.context.Context, j.query, j.format.RawFormat, j.out)
	j.rows = -1 // unknown
	return err
}

// print prints the rows, after notices about parameters that the service did not
// follow.
func (j *job) print() error {
	to, err := j.printer.RowWriter(j.format, j.out, j.query.Kind.Name, j.table)
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
	if copied && j.stream != nil && j.stream.IsCSV() == (j.format.Name == "csv") {
		return output.Copy(to, j.stream.Text(), func(lines []byte) error {
			count(j.stream.Count())
			return text.Text(lines)
		})
	}
	return output.Copy(to, rows, func(row client.Row) error {
		count(j.rows + 1)
		return to.Row(row)
	})
}

// limit limits a table on a terminal to the default number of rows. Limited records of the
// ERP are in the order of their key: without an order, the first ones would be any. Whole
// exports are not sorted, because the order may have no index.
func (j *job) limit() {
	q := &j.query
	if j.totals() {
		q.Take = new(int64)
		return
	}
	showsAll := j.context.Bool("all") || j.context.Bool("count")
	isTable := j.format.Name == "table" && j.printer.OnScreen()
	if isTable && q.Take == nil && !showsAll {
		q.Take = &j.defaultTake
		j.limited = true
	}

	hasOrder := len(q.OrderBy) > 0 || q.GroupBy != ""
	if q.Take == nil || hasOrder || q.Kind.Database != record.RecordsDB {
		return
	}
	q.OrderBy = q.Kind.Key
	if len(q.OrderBy) == 0 {
		q.OrderBy = []string{q.Kind.KeyName()}
	}
}

// totals reports whether the query has functions of all records, without groups.
func (j *job) totals() bool { return len(j.query.Include) > 0 && j.query.GroupBy == "" }

// sums returns the row of the functions of all records, with the digits of the service.
func (j *job) sums(q client.Query) (iter.Seq2[client.Row, error], error) {
	page, err := j.service.Page(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.notes = page.Notes
	values := make([]any, len(j.table.Columns))
	for i, c := range j.table.Columns {
		text, ok := page.Meta[q.Include[i]]
		if !ok || text == "" && c.Type.Number() {
			continue // null
		}
		if !c.Type.Number() {
			values[i] = text
			continue
		}
		if strings.Contains(text, ".") { // the zeros are those of the type of sums
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		values[i] = json.RawMessage(text)
	}
	row, err := output.LineRow(j.table.Columns, values)
	return output.Each([]client.Row{row}), err
}

// fetch requests the rows: a single page with its total for a small table, else a
// stream, in CSV if its text is to be copied as such.
func (j *job) fetch(copied bool) (rows iter.Seq2[client.Row, error], err error) {
	q := j.query
	if j.totals() {
		return j.sums(q)
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
	q.Resume = j.context.Bool("all")
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

// NoneGivenUp explains why --status failed selects nothing although deliveries fail.
const NoneGivenUp = "no such message was given up; --status retrying selects those that will be sent again"

// summarize prints the number of rows of a table or a file.
func (j *job) summarize() {
	if j.notes.Unverified || j.stream != nil && j.stream.Notes().Unverified {
		j.printer.Notice("the reply is complete as far as known; a proxy removed the row count that verifies it")
	}
	if j.rows == 0 {
		for _, f := range j.query.Where {
			if intended, ok := likely(f); ok {
				j.printer.Notice("no row matches; did you mean %s instead of %s?",
					filter.Text(intended), filter.Text(f))
			}
		}
	}
	listsFailed := j.query.Kind.Name == "Message" && j.context.String("status") == "failed"
	switch {
	case j.context.Bool("count") && j.query.GroupBy != "":
		j.printer.Notice("%s of %s; the records of each are counted without --count",
			display.Count(j.rows, "value", "values"), j.query.GroupBy)
	case j.context.Bool("count"):
	case j.rows < 0 && j.out.File() != "":
		j.printer.Notice("written to %s", j.out.File())
	case j.rows < 0:
	case j.out.File() != "":
		j.printer.Notice("%s written to %s", display.Count(j.rows, "row", "rows"), j.out.File())
	case j.format.Name != "table" || j.totals():
	case j.total > j.rows && j.limited:
		j.printer.Notice("%s of %s  (--all for all)", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	case j.total > j.rows:
		j.printer.Notice("%s of %s", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	case j.rows == 0 && EventHint(j.context) != "":
		j.printer.Notice("0 rows: no event is named %s%s", j.context.String("event"), EventHint(j.context))
	case j.rows == 0 && listsFailed:
		j.printer.Notice("0 rows: %s", NoneGivenUp)
	default:
		j.printer.Notice("%s", display.Count(j.rows, "row", "rows"))
	}
}

// likely returns the filter that is probably intended by one that no row matches, if its
// value has a meaning in other languages.
func likely(f client.Filter) (intended client.Filter, ok bool) {
	if len(f.Values) != 1 {
		return f, false
	}
	value := f.Values[0]
	equal := f.Operator == record.Equal
	startsWithStar := strings.HasPrefix(value, "*") && strings.Trim(value, "*") != ""
	hasNoWildcard := value != "" && !strings.ContainsAny(value, "%_[")
	intended = f
	switch {
	case strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'"):
		value = strings.Trim(value, "'")
	case equal && strings.HasPrefix(value, "="):
		value = value[1:]
	case equal && startsWithStar, f.Operator == record.Like && hasNoWildcard:
		value = strings.Trim(value, "*")
		intended.Operator = record.Contains
	case equal && strings.HasSuffix(value, "*"):
		value = strings.TrimRight(value, "*")
		intended.Operator = record.StartsWith
	case equal && strings.EqualFold(value, "null"):
		value = "true"
		intended.Operator = record.IsNull
	default:
		return f, false
	}
	intended.Values = []string{value}
	return intended, true
}
