package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"

	"github.com/bizhook/whd/client/csv"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// unlikeJSON are the types with values that may not have the same text in CSV and JSON.
var unlikeJSON = []record.Type{record.Bool, record.TimeSpan, record.Dictionary, record.Object, record.Epoch}

// minBuffer is the minimum size of the buffer for a reply in CSV, in bytes.
const minBuffer = 4096

// CSV is like Rows, but for Rows.Text to yield CSV. If the service would write some values of the
// rows in another way, the rows come from Rows. Older services cannot leave out their guard against
// formulas.
func (c *Client) CSV(ctx context.Context, q Query) (*Rows, error) {
	return c.inPages(ctx, q, c.csv)
}

// csv is CSV without pages: it sends one request.
func (c *Client) csv(ctx context.Context, q Query) (*Rows, error) {
	names := q.Fields
	if len(names) == 0 {
		names = q.Kind.FieldNames()
	}
	differsFromJSON := func(name string) bool {
		i, ok := q.Kind.Column(name)
		return !ok || slices.Contains(unlikeJSON, q.Kind.Fields[i].Type)
	}
	if slices.ContainsFunc(names, differsFromJSON) {
		return c.ndjson(ctx, q)
	}

	const accept = mediaCSV + ", " + mediaJSON // JSON for errors
	reply, err := c.sendQuery(ctx, q, "csv", accept, headerField{wire.HeaderFormulaGuard, "false"})
	if errors.Is(err, errInCSV) {
		return c.ndjson(ctx, q) // of an older service
	}
	if err != nil {
		return nil, err
	}
	body, ok := afterHeader(reply, names)
	if !ok {
		reply.Body.Close()
		return c.ndjson(ctx, q)
	}
	return newRows(reply, body, true), nil
}

// afterHeader returns the body of a reply in CSV after the header with the names of columns. It
// returns false for a reply of another form, or with the guard against formulas.
func afterHeader(reply *http.Response, names []string) (body io.Reader, ok bool) {
	isUnguarded := reply.Header.Get(wire.HeaderFormulaGuard) == "false"
	if mediaType(reply) != mediaCSV || !isUnguarded {
		return nil, false
	}
	header := string(csv.AppendNames(nil, names)) + "\r\n"
	buffer := bufio.NewReaderSize(reply.Body, max(len(header), minBuffer)) // Peek returns at most a buffer
	start, err := buffer.Peek(len(header))
	if err != nil || string(start) != header {
		return nil, false
	}
	_, err = buffer.Discard(len(header))
	return buffer, err == nil
}

// IsCSV reports whether Text yields CSV. All returns an error then.
func (r *Rows) IsCSV() bool { return r.csv }

// Text is All for rows that are only copied, which is much faster: it yields one or more
// whole lines at a time, without a header, as they arrive. They end with LF in any format,
// and are only valid until the next ones.
func (r *Rows) Text() iter.Seq2[[]byte, error] {
	r.lines.Split(r.wholeLines)
	return iterate(r, func() ([]byte, bool, error) {
		if r.lines.Scan() {
			return r.lines.Bytes(), true, nil
		}
		return nil, false, r.end()
	})
}

// wholeLines is a bufio.SplitFunc that counts the rows, and removes CR at the end of lines
// in place. After an odd number of quotes, a line break is part of a value of CSV. It returns
// all whole lines in data at once, because callers only copy them.
func (r *Rows) wholeLines(data []byte, atEOF bool) (advance int, lines []byte, err error) {
	end := 0
	quotes := 0
	for {
		n := bytes.IndexByte(data[end:], '\n') + 1
		if n == 0 {
			break
		}
		if r.csv {
			quotes += bytes.Count(data[end:end+n], []byte{'"'})
		}
		end += n
		if quotes%2 == 1 {
			continue
		}

		line := bytes.TrimSuffix(data[advance:end-1], []byte{'\r'})
		lines = append(data[:len(lines)], line...)
		lines = append(lines, '\n')
		advance = end
		r.count++
	}
	if advance == 0 && atEOF && len(data) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return advance, lines, err
}
