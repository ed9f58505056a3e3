// Package export writes rows to files in the background, in the formats that
// the screens offer.
package export

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client"
)

// Job is an export that runs in the background.
type Job struct {
	Name    string // of what is exported
	Path    string
	Format  Format
	Columns []Column
	Query   client.Query
	Key     string              // the field that tells rows apart
	Only    map[string]struct{} // the rows that are meant, by their key; nil for all
	Fetched []client.Row        // the rows, where they are here already
	Total   int                 // -1 where nobody knows

	Rows    atomic.Int64 // written so far
	Context context.Context
	Cancel  context.CancelFunc
	Started time.Time
	Ended   time.Time // zero while it runs
	Err     error     // how it ended
}

// PartSuffix is what the name of a file ends with while it is not complete.
const PartSuffix = ".part"

// Write writes the rows of a job to its file, which gets its name when it is
// complete. What is not is taken away, unless the whole session ends: then the
// rows that it has stay for who comes back.
func (j *Job) Write(c *client.Client, session context.Context) (err error) {
	file, err := os.OpenFile(j.Path+PartSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	err = j.copy(out, c)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	switch {
	case err == nil:
		return os.Rename(j.Path+PartSuffix, j.Path)
	case session.Err() != nil && j.Rows.Load() > 0:
		return err
	}
	_ = os.Remove(j.Path + PartSuffix)
	return err
}

func (j *Job) copy(out io.Writer, c *client.Client) error {
	to, err := j.Format.open(out, j)
	if err != nil {
		return err
	}
	for row, err := range j.source(c) {
		if err != nil {
			return err
		}
		if err := j.Context.Err(); err != nil {
			return err
		}
		if j.excludes(row) {
			continue
		}
		if err := to.row(row); err != nil {
			return err
		}
		j.Rows.Add(1)
	}
	return to.end()
}

// excludes reports whether a row is none of those that are meant.
func (j *Job) excludes(row client.Row) bool {
	if j.Only == nil {
		return false
	}
	_, included := j.Only[row.Text(j.Key)]
	return !included
}

// source gives the rows: those that are here, or what the service has.
func (j *Job) source(c *client.Client) iter.Seq2[client.Row, error] {
	if j.Fetched != nil {
		return func(yield func(client.Row, error) bool) {
			for _, row := range j.Fetched {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
	return func(yield func(client.Row, error) bool) {
		rows, err := c.Rows(j.Context, j.Query)
		if err != nil {
			yield(client.Row{}, err)
			return
		}
		defer rows.Close()
		for row, err := range rows.All() {
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
