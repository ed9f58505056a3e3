package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/output"
)

const pageMax = 1000 // rows that are fetched at once, to learn their total too

// job is one query on its way.
type job struct {
	context     *cli.Context
	printer     *output.Printer
	service     *client.Client
	query       client.Query
	format      output.Format
	out         *output.Sink
	progress    *progress
	defaultTake int64 // rows of a table on a terminal
	notes       client.Notes
	rows        int64    // that came; with --count, that match
	total       int64    // of all matches; 0 where it is unknown
	limited     bool     // to a screenful, without a flag that says so
	keys        []string // fields of which only the ends are shown
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

// count is --count: one number, whatever the format.
func (j *job) count() (err error) {
	if j.rows, err = j.service.Count(j.context.Context, j.query); err == nil {
		fmt.Fprintln(j.out, j.rows)
	}
	return err
}

// raw is --format raw: what the service sends, byte for byte.
func (j *job) raw() (err error) {
	_, j.notes, err = j.service.Download(j.context.Context, j.query, j.format.RawFormat, j.out)
	j.rows = -1 // they are not counted
	return err
}

// print is everything else: the rows, and before them what the service did not
// do as asked.
func (j *job) print() error {
	columns := output.ColumnsOf(j.query.Kind, j.query.Fields)
	to, err := j.printer.RowWriter(j.format, j.out, output.Sheet{Name: j.query.Kind.Name, Columns: columns})
	if err != nil {
		return err
	}
	rows, err := j.fetch()
	if err != nil {
		return err
	}
	if j.notes.TakeClamped != "" {
		j.printer.Notice("the service gives at most %s rows at a time", j.notes.TakeClamped)
	}
	if j.notes.Ignored != "" {
		j.printer.Notice("the service ignored %s", j.notes.Ignored)
	}
	j.progress.begin()
	return output.Copy(to, output.Shortened(j.counted(rows), j.keys))
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
	if j.format.Name == "table" && q.Take == nil && !j.context.Bool("all") && j.printer.OnScreen() {
		q.Take, j.limited = &j.defaultTake, true
	}
	if j.format.Name == "table" && q.Take != nil && *q.Take <= pageMax {
		q.Include = []string{"Total"}
		page, err := j.service.Page(j.context.Context, q)
		if err != nil {
			return nil, err
		}
		j.total, j.notes = page.Total, page.Notes
		return output.Each(page.Rows), nil
	}
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
		j.notes = stream.Notes() // which are complete now
	}, nil
}

// expected is how many rows are going to come.
func (j *job) expected(ctx context.Context) (int64, error) {
	n, err := j.service.Count(ctx, j.query)
	n -= j.query.Skip
	if j.query.Take != nil {
		n = min(n, *j.query.Take)
	}
	return n, err
}

// summarize says below a table, or of a file, how much there is.
func (j *job) summarize() {
	if j.notes.Unverified {
		j.printer.Notice("the reply came to its end, but a proxy has taken away the count that would prove it whole")
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
