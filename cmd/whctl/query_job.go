package main

import (
	"fmt"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// job is one query on its way.
type job struct {
	*program
	context  *cli.Context
	service  *client.Client
	query    client.Query
	format   output.Format
	out      *output.Sink
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
	j.rows = -1 // nobody counts them
	return err
}

// print is everything else: the rows, and before them what the service did not
// do as asked.
func (j *job) print() error {
	columns := output.ColumnsOf(j.query.Kind, j.query.Fields)
	to, err := j.printer(j.context).RowWriter(j.format, j.out, output.Sheet{Name: j.query.Kind.Name, Columns: columns})
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
	if j.format.Name == "table" && q.Take == nil && !j.context.Bool("all") && j.printer(j.context).OnScreen() {
		s, err := j.settings(j.context)
		if err != nil {
			return nil, err
		}
		q.Take, j.limited = new(s.Count("default_take")), true
	}
	if j.format.Name != "table" || q.Take == nil || *q.Take > pageMax {
		return j.stream(q)
	}
	q.Include = []string{"Total"}
	page, err := j.service.Page(j.context.Context, q)
	if err != nil {
		return nil, err
	}
	j.total, j.notes = page.Total, page.Notes
	return output.Each(page.Rows), nil
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

// tell says below a table, or of a file, how much there is.
func (j *job) tell() {
	if j.notes.Unverified {
		j.notice(j.context, "the reply came to its end, but a proxy has taken away the count that would prove it whole")
	}
	switch {
	case j.context.Bool("count"):
	case j.rows < 0 && j.out.File() != "":
		j.notice(j.context, "written to %s", j.out.File())
	case j.rows < 0:
	case j.out.File() != "":
		j.notice(j.context, "%s written to %s", display.Count(j.rows, "row", "rows"), j.out.File())
	case j.format.Name != "table":
	case j.total > j.rows && j.limited:
		j.notice(j.context, "%s of %s  (--all for all)", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	case j.total > j.rows:
		j.notice(j.context, "%s of %s", display.Thousands(j.rows), display.Count(j.total, "row", "rows"))
	default:
		j.notice(j.context, "%s", display.Count(j.rows, "row", "rows"))
	}
}
