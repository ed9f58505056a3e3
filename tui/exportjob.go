package tui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/bizhook/whd/client"
)

// partEnd is what the name of a file ends with while it is not complete.
const partEnd = ".part"

// write writes the rows of a job to its file, which gets its name when it is
// complete. What is not is taken away, unless the whole session ends: then the
// rows that it has stay for who comes back.
func (j *job) write(c *client.Client, session context.Context) (err error) {
	file, err := os.OpenFile(j.path+partEnd, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
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
		return os.Rename(j.path+partEnd, j.path)
	case session.Err() != nil && j.rows.Load() > 0:
		return err
	}
	_ = os.Remove(j.path + partEnd)
	return err
}

func (j *job) copy(out io.Writer, c *client.Client) error {
	to, err := j.format.open(out, j)
	if err != nil {
		return err
	}
	for row, err := range j.source(c) {
		if err != nil {
			return err
		}
		if err := j.context.Err(); err != nil {
			return err
		}
		if j.leavesOut(row) {
			continue
		}
		if err := to.row(row); err != nil {
			return err
		}
		j.rows.Add(1)
	}
	return to.end()
}

// leavesOut reports whether a row is none of those that are meant.
func (j *job) leavesOut(row client.Row) bool {
	if j.only == nil {
		return false
	}
	_, meant := j.only[row.Text(j.key)]
	return !meant
}

// source gives the rows: those that are here, or what the service has.
func (j *job) source(c *client.Client) iter.Seq2[client.Row, error] {
	if j.held != nil {
		return func(yield func(client.Row, error) bool) {
			for _, row := range j.held {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
	return func(yield func(client.Row, error) bool) {
		rows, err := c.Rows(j.context, j.query)
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
