// Package export writes rows to files in the background.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client"
)

// Job is an export.
type Job struct {
	Name    string // name of the exported list
	Path    string
	Replace bool // an existing file is replaced
	Format  Format
	Columns []Column
	Query   client.Query
	Key     string              // the field that identifies rows
	Only    map[string]struct{} // keys of the rows to export; nil for all
	Fetched []client.Row        // the rows, if they are already loaded; nil to fetch them
	Total   int                 // number of rows; -1 if unknown

	Rows    atomic.Int64 // written so far
	Context context.Context
	Cancel  context.CancelFunc
	Started time.Time
	Ended   time.Time // zero while running
	Err     error     // nil on success
}

// PartSuffix is appended to the file name until the file is complete.
const PartSuffix = ".part"

// Write writes the file of a job atomically. If it fails, the partial file is removed;
// if the session ends, a partial file with rows that can be read is kept. A partial file that exists
// belongs to another export or to the user, and is neither written nor removed.
func (j *Job) Write(c *client.Client, session context.Context) (err error) {
	part := j.Path + PartSuffix
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return partExistsError(part)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	err = j.copy(out, c)
	isKept := err != nil && session.Err() != nil && j.Rows.Load() > 0 && j.Format.IsReadableInPart()
	if err == nil || isKept {
		err = errors.Join(err, out.Flush())
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		return j.complete(part)
	}
	if isKept {
		return err
	}
	_ = os.Remove(part)
	return err
}

// complete renames the complete file. A file that was created under this name during
// the export is not replaced.
func (j *Job) complete(part string) error {
	_, err := os.Lstat(j.Path)
	if err == nil && !j.Replace {
		return fmt.Errorf("%s was created during the export: the rows are in %s", j.Path, part)
	}
	return os.Rename(part, j.Path)
}

// copy writes the selected rows in the format of the job.
func (j *Job) copy(out *bufio.Writer, c *client.Client) error {
	writer := j.Format.open(out, j)
	if err := writer.Begin(); err != nil {
		return err
	}
	rows, err := j.source(c)
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := j.Context.Err(); err != nil {
			return err
		}
		if j.excludes(row) {
			continue
		}
		if err := writer.Row(row); err != nil {
			return err
		}
		j.Rows.Add(1)
	}
	return writer.End()
}

// excludes reports whether a row is not one of the selected rows.
func (j *Job) excludes(row client.Row) bool {
	if j.Only == nil {
		return false
	}
	_, included := j.Only[RowID(row, j.Key)]
	return !included
}

// RowID returns the text that identifies a row by a field. Null differs from an empty text,
// as groups of rows can have both.
func RowID(row client.Row, key string) string {
	if value := row.Value(key); !value.Null() {
		return value.String()
	}
	return "\x00"
}

// source returns the loaded rows, or fetches them from the service.
func (j *Job) source(c *client.Client) (iter.Seq2[client.Row, error], error) {
	if j.Fetched == nil {
		rows, err := c.Rows(j.Context, j.Query)
		if err != nil {
			return nil, err
		}
		return rows.All(), nil
	}
	return func(yield func(client.Row, error) bool) {
		for _, row := range j.Fetched {
			if !yield(row, nil) {
				return
			}
		}
	}, nil
}
