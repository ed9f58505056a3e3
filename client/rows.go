package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// Rows is a stream of records.
type Rows struct {
	reply *http.Response
	lines *bufio.Scanner
	row   Row
	count int64
	csv   bool // instead of NDJSON

	unverified bool
	paged      bool // several replies, which are verified
}

func newRows(reply *http.Response, body io.Reader, csv bool) *Rows {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 256<<10), maxRow)
	return &Rows{reply: reply, lines: lines, csv: csv}
}

// All yields each row as it arrives and closes the stream at the end. An error is the
// last item. Without an error all rows have arrived: their number is compared with the
// count of the service, unless Notes.Unverified is set.
func (r *Rows) All() iter.Seq2[Row, error] {
	return iterate(r, func() (Row, bool, error) {
		if r.csv {
			return Row{}, false, errors.New("the rows are CSV; use Text")
		}
		ok, err := r.next()
		return r.row, ok, err
	})
}

// iterate yields the items of next until there are no more, and closes the stream.
func iterate[T any](r *Rows, next func() (T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer r.Close()
		for {
			item, ok, err := next()
			if err != nil {
				yield(*new(T), err)
				return
			}
			if !ok || !yield(item, nil) {
				return
			}
		}
	}
}

// Count returns the number of rows received so far.
func (r *Rows) Count() int64 { return r.count }

// Notes returns the deviations of the reply from the request. Unverified is known after
// the last row.
func (r *Rows) Notes() Notes {
	notes := notesOf(r.reply)
	notes.Unverified = r.unverified
	if r.paged {
		notes.TakeClamped = "" // of the first page
	}
	return notes
}

// Close ends the stream. The service cancels the query.
func (r *Rows) Close() error { return r.reply.Body.Close() }

// next reads the next row into r.row. It returns false at the end.
func (r *Rows) next() (bool, error) {
	for r.lines.Scan() && r.lines.Err() == nil { // otherwise the line is incomplete
		line := r.lines.Bytes()
		if skipSpace(line, 0) == len(line) {
			continue
		}
		if !r.row.scan(line) {
			return false, truncated(r.reply, errNoObject,
				fmt.Sprintf("incomplete response: invalid record after row %d", r.count))
		}
		r.count++
		return true, nil
	}
	return false, r.end()
}

// end returns an error if the reply is incomplete.
func (r *Rows) end() error {
	err := r.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = errLongLine
	}
	if err != nil {
		message := fmt.Sprintf("incomplete response: aborted after %d rows", r.count)
		if r.paged {
			message += ": " + err.Error()
		}
		return truncated(r.reply, err, message)
	}
	if r.paged {
		return nil
	}
	r.unverified, err = checkCount(r.reply, r.count)
	return err
}

var errLongLine = fmt.Errorf("a row is longer than %d MiB", maxRow>>20)

// Notes has the deviations of a reply from the request.
type Notes struct {
	TakeClamped string // the limit used instead of a larger Take; empty if Take was not reduced
	Ignored     string // unknown members
	Unverified  bool   // the reply is complete as far as known, but a proxy removed the trailer that verifies it
}

func notesOf(reply *http.Response) Notes {
	return Notes{
		TakeClamped: reply.Header.Get(wire.HeaderTakeClamped),
		Ignored:     reply.Header.Get(wire.HeaderIgnoredMembers),
	}
}
