package export

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/workbook"
)

// Column is a field that is exported.
type Column struct {
	Name string
	Type record.Type
}

// rowWriter writes rows one by one; end is called only where all came.
type rowWriter interface {
	row(client.Row) error
	end() error
}

// Format is a way to write rows.
type Format struct {
	Name   string
	Suffix string // of the file's name
	Help   string
	open   func(io.Writer, *Job) (rowWriter, error)
}

// Formats are the formats, the first choice first.
var Formats = []Format{
	{"xlsx", ".xlsx", "a workbook: numbers and dates are such, text stays text", newXLSX},
	{"csv for Excel", ".csv", "with byte order mark and CRLF; no text is taken for a formula", newExcelCSV},
	{"csv", ".csv", "for programs: UTF-8, line feeds, values as the service sends them", newPlainCSV},
	{"ndjson", ".ndjson", "for programs: an object a line, nulls left out", newNDJSON},
	{"json", ".json", "one array of objects, nulls left out", newJSONArray},
}

func (j *Job) names() []string {
	var names []string
	for _, c := range j.Columns {
		names = append(names, c.Name)
	}
	return names
}

type xlsxWriter struct{ *workbook.Writer }

func newXLSX(out io.Writer, j *Job) (rowWriter, error) {
	var columns []workbook.Column
	for _, c := range j.Columns {
		columns = append(columns, workbook.Column{Name: c.Name, Type: c.Type})
	}
	w, err := workbook.New(out, j.Name, columns)
	return xlsxWriter{w}, err
}

func (w xlsxWriter) row(r client.Row) error { return w.Row(r) }
func (w xlsxWriter) end() error             { return w.Close() }

// csvWriter writes RFC 4180.
type csvWriter struct {
	table   *csv.Writer
	names   []string
	columns []Column
	values  []client.Value
	cells   []string
	excel   bool
}

// newExcelCSV writes what Excel opens right: with a mark of its encoding, its
// line breaks, and no text that it would take for a formula.
func newExcelCSV(out io.Writer, j *Job) (rowWriter, error) {
	if _, err := io.WriteString(out, "\ufeff"); err != nil {
		return nil, err
	}
	return newCSV(out, j, true)
}

func newPlainCSV(out io.Writer, j *Job) (rowWriter, error) { return newCSV(out, j, false) }

func newCSV(out io.Writer, j *Job, excel bool) (rowWriter, error) {
	w := &csvWriter{table: csv.NewWriter(out), names: j.names(), columns: j.Columns, cells: make([]string, len(j.Columns)), excel: excel}
	w.table.UseCRLF = excel
	return w, w.table.Write(w.names)
}

func (w *csvWriter) row(r client.Row) error {
	w.values = r.Values(w.values[:0], w.names)
	for i, v := range w.values {
		w.cells[i] = string(v.AppendCell(nil, w.columns[i].Type))
		if w.excel && len(v) > 0 && v[0] == '"' && w.cells[i] != "" && strings.ContainsRune("=+-@\t\r", rune(w.cells[i][0])) {
			w.cells[i] = "'" + w.cells[i]
		}
	}
	return w.table.Write(w.cells)
}

func (w *csvWriter) end() error {
	w.table.Flush()
	return w.table.Error()
}

// jsonWriter writes objects as the service wrote them.
type jsonWriter struct {
	out           io.Writer
	before, after string // each but the first, and all
	last          string
}

func newNDJSON(out io.Writer, _ *Job) (rowWriter, error) {
	return &jsonWriter{out: out, after: "\n"}, nil
}

func newJSONArray(out io.Writer, _ *Job) (rowWriter, error) {
	_, err := io.WriteString(out, "[")
	return &jsonWriter{out: out, before: "\n", last: "\n]\n"}, err
}

func (w *jsonWriter) row(r client.Row) error {
	_, err := io.WriteString(w.out, w.before)
	if w.last != "" {
		w.before = ",\n"
	}
	_, writeErr := w.out.Write(r.JSON())
	_, afterErr := io.WriteString(w.out, w.after)
	return errors.Join(err, writeErr, afterErr)
}

func (w *jsonWriter) end() error {
	_, err := io.WriteString(w.out, w.last)
	return err
}
