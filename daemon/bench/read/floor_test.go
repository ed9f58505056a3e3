package read

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	celled "github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// The floor is a lower bound for answering the questions. Everything is prepared in
// advance; only the invoice id is read from the request.

// piece is the number of bytes that the floor writes at once, the same as whd.
const piece = 64 << 10

// floor serves one records.db.
type floor struct {
	pool    *sqlite.Pool
	buffers sync.Pool
}

// answer is the prepared response to a question.
type answer struct {
	query.Statement
	names [][]byte // of the columns, quoted, with their colons
	id    int      // offset of the id in the body
	take  int      // page size, 0 for all rows
	csv   bool     // instead of JSON
}

// runFloor runs the floor on a data directory until standard input is closed.
func runFloor(dir string) int {
	if err := serveFloor(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveFloor(dir string) error {
	f := &floor{buffers: sync.Pool{New: func() any { return new(make([]byte, 0, piece+4096)) }}}
	var err error
	if f.pool, err = openRecords(dir, 256); err != nil {
		return err
	}
	defer f.pool.Close()
	mux := http.NewServeMux()
	for _, q := range []question{row, page100, page1000, export, exportCSV, ordered, ordered100} {
		a, err := prepare(q)
		if err != nil {
			return err
		}
		mux.Handle("POST "+q.path, f.handler(a.in(q.format)))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("the floor serves http://" + listener.Addr().String())
	go http.Serve(listener, mux)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// openRecords opens the records like the store does.
func openRecords(dir string, connections int) (*sqlite.Pool, error) {
	return sqlite.NewPool(filepath.Join(dir, "records.db"), sqlite.Options{
		BusyTimeout: 5 * time.Second,
		Pragmas:     []string{"cache_size = -2000", "synchronous = NORMAL"},
	}, connections)
}

// prepare compiles a question like whd does, so that the SQL is the same.
func prepare(q question) (answer, error) {
	plan, err := planned(totals(record.Builtin()), []byte(q.about(0)))
	if err != nil {
		return answer{}, err
	}
	a := answer{id: strings.Index(q.body, "%s"), take: int(max(0, plan.Take))}
	for _, c := range plan.Columns {
		a.names = append(a.names, []byte(strconv.Quote(plan.Kind.Fields[c].Name)+":"))
	}
	d := dialect.SQLite()
	d.File.HideFields = true
	a.Statement, err = query.Compile(plan, d, string(d.Quote(nil, plan.Kind.Name)))
	return a, err
}

// planned does everything that whd does with a body up to the plan.
func planned(kind *record.Kind, body []byte) (*query.Plan, error) {
	members, err := query.ReadJSON(body)
	if err != nil {
		return nil, err
	}
	request, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	return query.NewPlan(request, true)
}

func (f *floor) handler(a answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			panic(err)
		}
		var id string
		if a.id > 0 {
			id = string(body[a.id : a.id+1+idDigits])
		}
		buffer := f.buffers.Get().(*[]byte)
		defer f.buffers.Put(buffer)
		if err := f.write(w, a, id, (*buffer)[:0]); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

func (f *floor) write(w http.ResponseWriter, a answer, id string, out []byte) error {
	conn, err := f.pool.Get(context.Background())
	if err != nil {
		return err
	}
	defer f.pool.Put(conn)
	stmt, err := conn.Prepare(a.SQL)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	a.bind(stmt, id)
	return a.send(w, stmt, out)
}

// send steps the statement to its end and sends its rows in pieces.
func (a *answer) send(w http.ResponseWriter, stmt *sqlite.Stmt, out []byte) error {
	h := w.Header()
	out = a.begin(out, h)
	cells := make([]celled.Cell, len(a.Types))
	rows, sent := 0, false
	for {
		hasRow, err := stmt.Step()
		if err != nil {
			return err
		}
		if !hasRow {
			break
		}
		stmt.ReadRow(cells, a.Types)
		if rows > 0 && !a.csv {
			out = append(out, ',')
		}
		rows++
		out = a.append(out, cells)
		if len(out) >= piece {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
			sent = true
		}
	}
	out = a.end(out, rows)
	if !sent {
		h.Set("Content-Length", strconv.Itoa(len(out)))
	}
	_, err := w.Write(out)
	return err
}

// begin starts the response.
func (a *answer) begin(out []byte, h http.Header) []byte {
	if a.csv {
		h.Set("Content-Type", "text/csv; charset=utf-8")
		return a.beginCSV(out)
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	return append(out, `{"Offset":0,"Results":[`...)
}

// end closes the envelope. It has no total if the page is full.
func (a *answer) end(out []byte, rows int) []byte {
	if a.csv {
		return out
	}
	if rows == a.take {
		rows = 0
	}
	out = append(out, `],"Total":`...)
	out = strconv.AppendInt(out, int64(rows), 10)
	return append(out, `,"Meta":{},"ResponseStatus":{}}`...)
}

// bind sets the statement's arguments; the id is the first one.
func (a *answer) bind(stmt *sqlite.Stmt, id string) {
	for i, arg := range a.Args {
		switch {
		case i == 0 && a.id > 0:
			stmt.BindText(1, id)
		case arg.Type.Integer():
			stmt.BindInt(i+1, arg.Value.Int)
		default:
			stmt.BindText(i+1, arg.Value.Text)
		}
	}
}

// append appends a row: numbers unchanged, other values quoted, without escaping if
// possible.
func (a *answer) append(out []byte, cells []celled.Cell) []byte {
	if a.csv {
		return a.appendCSV(out, cells)
	}
	out = append(out, '{')
	for i, cell := range cells {
		if cell.Null {
			continue
		}
		out = append(out, a.names[i]...)
		if a.Types[i] == record.Decimal {
			out = append(out, cell.Data...)
		} else {
			out = appendQuoted(out, cell.Data)
		}
		out = append(out, ',')
	}
	out[len(out)-1] = '}' // every row has an id
	return out
}

func appendQuoted(out, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(out, string(text)) // does not occur in the data
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}
