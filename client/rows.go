package client

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// maxLine is the length that one row may have. It only keeps a service gone
// wrong from filling the memory.
const maxLine = 256 << 20

// Rows is a stream of records.
type Rows struct {
	reply *http.Response
	lines *bufio.Scanner
	row   Row
	count int64

	unverified bool
}

func newRows(reply *http.Response) *Rows {
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	return &Rows{reply: reply, lines: lines}
}

// All gives each row as it arrives and closes the stream at the end. After an
// error there are no more rows. Where no error comes, every row has arrived:
// the service's own count is compared at the end, unless the notes say that the
// reply cannot be verified.
func (r *Rows) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer r.Close()
		for {
			more, err := r.next()
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !more || !yield(r.row, nil) {
				return
			}
		}
	}
}

// Count is the number of rows that have arrived so far.
func (r *Rows) Count() int64 { return r.count }

// Notes are what the service did not do as asked. Whether the reply could be
// verified is known behind the last row.
func (r *Rows) Notes() Notes {
	notes := notesOf(r.reply)
	notes.Unverified = r.unverified
	return notes
}

// Close ends the stream. The service stops working on what is left of it.
func (r *Rows) Close() error { return r.reply.Body.Close() }

func (r *Rows) next() (bool, error) {
	for r.lines.Scan() && r.lines.Err() == nil { // else the line is the beginning of one
		line := r.lines.Bytes()
		if skipSpace(line, 0) == len(line) {
			continue
		}
		if !r.row.scan(line) {
			return false, cut(r.reply, errNoObject, fmt.Sprintf("incomplete reply: what follows row %d is no record", r.count))
		}
		r.count++
		return true, nil
	}
	err := r.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = errLongLine
	}
	if err != nil {
		return false, cut(r.reply, err, fmt.Sprintf("incomplete reply: it broke off after %d rows", r.count))
	}
	r.unverified, err = checkCount(r.reply, r.count)
	return false, err
}

var errLongLine = fmt.Errorf("a row is longer than %d MiB", maxLine>>20)

// Notes are what the service did not do as asked.
type Notes struct {
	TakeClamped string // the Take it used instead of a larger one; empty where it did not
	Ignored     string // members that mean nothing to it
	Unverified  bool   // the reply came to its end, but a proxy has taken away what would prove it whole
}

func notesOf(reply *http.Response) Notes {
	return Notes{
		TakeClamped: reply.Header.Get(wire.HeaderTakeClamped),
		Ignored:     reply.Header.Get(wire.HeaderIgnoredMembers),
	}
}
