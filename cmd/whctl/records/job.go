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
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// pageMax is the maximum number of rows of a table that are requested as a page, which has their
// total, rather than as a stream.
const pageMax = 1000

// job is a running query.
type job struct {
	context     *cli.Context
	printer     *output.Printer
	service     *client.Client
	query       client.Query
	table       output.Table // of totals, a column for each element of query.Include, in its order
	format      output.Format
	out         *output.Sink
	progress    *progress
	defaultTake int64 // rows of a table on a terminal
	notes       client.Notes
	rows        int64        // received rows, or with --count matching rows; negative if unknown
	total       int64        // matching rows; 0 if unknown
	limited     bool         // the query is limited to defaultTake
	stream      *client.Rows // nil for a page
}

// run runs the query and prints its result.
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
	j.noteDeviations()
	return err
}

// noteDeviations prints notices about parameters that the service did not follow.
func (j *job) noteDeviations() {
	if j.notes.TakeClamped != "" {
		j.printer.Notice("the service returns at most %s rows per request", j.notes.TakeClamped)
	}
	if j.notes.Ignored != "" {
		j.printer.Notice("the service ignored %s", j.notes.Ignored)
	}
}

// print prints the rows, after notices about parameters that the service did not
// follow.
func (j *job) print() error {
	to, err := j.printer.RowWriter(j.format, j.out, j.query.Kind.Name, j.table)
	if err != nil {
		return err
	}
	textWriter, canCopy := to.(output.TextWriter)
	rows, err := j.fetch(canCopy)
	if err != nil {
		return err
	}
	j.noteDeviations()
	j.progress.begin()
	count := func(rows int64) {
		j.rows = rows
		j.progress.update(j.context.Context, rows)
	}
	isSameFormat := j.stream != nil && j.stream.IsCSV() == (j.format.Name == "csv")
	if canCopy && isSameFormat {
		return output.Copy(to, j.stream.Text(), func(lines []byte) error {
			count(j.stream.Count())
			return textWriter.Text(lines)
		})
	}
	return output.Copy(to, rows, func(row client.Row) error {
		count(j.rows + 1)
		return to.Row(row)
	})
}

// limit limits a table on a terminal to the default number of rows, and totals to none, which are
// not printed. Limited records of the ERP are in the order of their key: without an order, the first
// ones would be any. Whole exports are not sorted, because the order may have no index.
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
	for i, column := range j.table.Columns {
		if text, ok := page.Meta[q.Include[i]]; ok {
			values[i] = totalValue(column.Type, text)
		}
	}
	row, err := output.LineRow(j.table.Columns, values)
	return output.Each([]client.Row{row}), err
}

// totalValue returns the result of a function of all records, nil for null. Sums have the trailing
// zeros of their SQL type, which are removed.
func totalValue(t record.Type, text string) any {
	if !t.Number() {
		return text
	}
	if text == "" {
		return nil
	}
	hasExponent := strings.ContainsAny(text, "eE") // its zeros count
	if strings.Contains(text, ".") && !hasExponent {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return json.RawMessage(text)
}

// fetch requests the rows: a single page with its total for a small table, else a
// stream, which is in CSV if the writer can copy its text.
func (j *job) fetch(canCopy bool) (iter.Seq2[client.Row, error], error) {
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
		j.total = page.Total
		j.notes = page.Notes
		return output.Each(page.Rows), nil
	}
	q.Resume = j.context.Bool("all")
	open := j.service.Rows
	if canCopy && j.format.Name == "csv" {
		open = j.service.CSV
	}
	stream, err := open(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.stream = stream
	j.notes = stream.Notes()
	return stream.All(), nil
}

// newProgress returns the display of the progress; nil for none.
func (j *job) newProgress(s *command.Session) *progress {
	mode := j.context.String("progress")
	isWatched := s.Prompter.Watches && !j.printer.OnScreen()
	if mode == "none" || j.context.Bool("quiet") {
		return nil
	}
	if mode == "auto" && !isWatched {
		return nil
	}
	bar := j.printer.Screen.Progress()
	return newProgress(mode, j.query.Kind.Name, bar, s.Stderr, s.Now, j.expected)
}

// expected returns the number of rows that the query will return.
func (j *job) expected(ctx context.Context) (int64, error) {
	n, err := j.service.Count(ctx, j.query)
	if err != nil {
		return 0, err
	}
	n -= j.query.Skip
	if j.query.Take != nil {
		n = min(n, *j.query.Take)
	}
	return max(0, n), nil // Skip may be past the last row
}

// NoneGivenUp explains why --status failed selects nothing although deliveries fail.
const NoneGivenUp = "no such message was given up; --status retrying selects those that will be sent again"

// summarize prints notices about the result, such as the number of rows of a table or a file.
func (j *job) summarize() {
	isUnverified := j.notes.Unverified
	if j.stream != nil { // known at the end of the stream
		isUnverified = isUnverified || j.stream.Notes().Unverified
	}
	if isUnverified {
		j.printer.Notice("the response seems complete, but cannot be verified: " +
			"a proxy removed the row count at its end")
	}
	if j.rows == 0 {
		j.suggestConditions()
	}
	if text := j.summary(); text != "" {
		j.printer.Notice("%s", text)
	}
}

// suggestConditions prints conditions that may be intended by those that no row meets.
func (j *job) suggestConditions() {
	for _, f := range j.query.Where {
		if intended, ok := likely(f); ok {
			j.printer.Notice("no row matches; did you mean %s instead of %s?",
				filter.Text(intended), filter.Text(f))
		}
	}
}

// summary returns the number of rows as text; empty if the output shows it, or is for programs.
func (j *job) summary() string {
	if j.context.Bool("count") {
		if j.query.GroupBy == "" {
			return ""
		}
		return fmt.Sprintf("%s of %s; the records of each are counted without --count",
			display.Count(j.rows, "value", "values"), j.query.GroupBy)
	}
	file := j.out.File()
	rows := display.Count(j.rows, "row", "rows")
	switch {
	case file != "" && j.rows < 0:
		return "written to " + file
	case file != "":
		return rows + " written to " + file
	case j.format.Name != "table" || j.totals():
		return ""
	case j.total > j.rows:
		return j.partSummary()
	case j.rows == 0:
		return j.emptySummary()
	}
	return rows
}

// partSummary returns the summary of a table that does not have all matching rows.
func (j *job) partSummary() string {
	text := display.Thousands(j.rows) + " of " + display.Count(j.total, "row", "rows")
	if j.limited {
		text += "  (--all for all)"
	}
	return text
}

// emptySummary returns the summary of a table without rows, with the probable reason.
func (j *job) emptySummary() string {
	if hint := EventHint(j.context); hint != "" {
		return fmt.Sprintf("0 rows: no event is named %s%s", j.context.String("event"), hint)
	}
	if j.query.Kind.Name == "Message" && j.context.String("status") == "failed" {
		return "0 rows: " + NoneGivenUp
	}
	if len(j.query.Where) == 0 {
		return "0 rows"
	}
	conditions := record.Texts(j.query.Where, conditionText)
	return "0 rows with " + strings.Join(conditions, " and ")
}

// conditionText returns a condition as text, without a secret and with statuses in words.
func conditionText(f client.Filter) string {
	switch f.Field {
	case "SubscriberID": // grants access
		return "this subscriber"
	case "Status":
		f.Values = record.Texts(f.Values, statusText)
	}
	return filter.Text(f)
}

// statusText returns the status of a message as a word.
func statusText(value string) string {
	if n, err := filter.StatusNumber(value); err == nil {
		return filter.StatusNames()[n]
	}
	return value
}

// likely returns the filter that is probably intended by one that no row matches, if its
// value has a meaning in other languages.
func likely(f client.Filter) (intended client.Filter, ok bool) {
	if len(f.Values) != 1 {
		return f, false
	}
	value := f.Values[0]
	isEqual := f.Operator == record.Equal
	hasText := strings.Trim(value, "*") != "" // apart from stars
	hasNoWildcard := !strings.ContainsAny(value, "%_[")
	intended = f
	switch {
	case strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'"):
		value = strings.Trim(value, "'")
	case isEqual && strings.HasPrefix(value, "="):
		value = value[1:]
	case !hasText:
		return f, false
	case isEqual && strings.HasPrefix(value, "*"), f.Operator == record.Like && hasNoWildcard:
		value = strings.Trim(value, "*")
		intended.Operator = record.Contains
	case isEqual && strings.HasSuffix(value, "*"):
		value = strings.TrimRight(value, "*")
		intended.Operator = record.StartsWith
	case isEqual && strings.EqualFold(value, "null"):
		value = "true"
		intended.Operator = record.IsNull
	default:
		return f, false
	}
	intended.Values = []string{value}
	return intended, true
}
