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

// Column is an exported field.
type Column = workbook.Column

// rowWriter writes rows. Close is called only if all rows were written.
type rowWriter interface {
	Row(client.Row) error
	Close() error
}

// Format is a file format.
type Format struct {
	Name   string
	Suffix string // file name extension
	Help   string
	open   func(io.Writer, *Job) (rowWriter, error)
}

// Formats are the supported formats; the first is the default.
var Formats = []Format{
	{"xlsx", ".xlsx", "workbook with typed cells", newXLSX},
	{"csv for Excel", ".csv", "with byte order mark and CRLF; formulas are escaped", newExcelCSV},
	{"csv", ".csv", "UTF-8, LF, values as sent by the service", newPlainCSV},
	{"ndjson", ".ndjson", "one object per line, without null values", newNDJSON},
	{"json", ".json", "array of objects, without null values", newJSONArray},
}

func (j *Job) names() []string {
	return record.Texts(j.Columns, func(c Column) string { return c.Name })
}

func newXLSX(out io.Writer, j *Job) (rowWriter, error) { return workbook.New(out, j.Name, j.Columns) }

// csvWriter writes RFC 4180.
type csvWriter struct {
	table   *csv.Writer
	names   []string
	columns []Column
	values  []client.Value
	cells   []string
	excel   bool
}

// newExcelCSV writes CSV for Excel: with a byte order mark, CRLF, and a quote before
// text that Excel would parse as a formula.
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

// Row implements rowWriter.
func (w *csvWriter) Row(r client.Row) error {
	w.values = r.Values(w.values[:0], w.names)
	for i, v := range w.values {
		w.cells[i] = string(v.AppendCell(nil, w.columns[i].Type))
		if w.excel && len(v) > 0 && v[0] == '"' && w.cells[i] != "" && strings.ContainsRune("=+-@\t\r", rune(w.cells[i][0])) {
			w.cells[i] = "'" + w.cells[i]
		}
	}
	return w.table.Write(w.cells)
}

// Close implements rowWriter.
func (w *csvWriter) Close() error {
	w.table.Flush()
	return w.table.Error()
}

// jsonWriter writes objects as received from the service.
type jsonWriter struct {
	out           io.Writer
	before, after string // text before each row but the first, and after each row
	last          string
}

func newNDJSON(out io.Writer, _ *Job) (rowWriter, error) {
	return &jsonWriter{out: out, after: "\n"}, nil
}

func newJSONArray(out io.Writer, _ *Job) (rowWriter, error) {
	_, err := io.WriteString(out, "[")
	return &jsonWriter{out: out, before: "\n", last: "\n]\n"}, err
}

// Row implements rowWriter.
func (w *jsonWriter) Row(r client.Row) error {
	_, err := io.WriteString(w.out, w.before)
	if w.last != "" {
		w.before = ",\n"
	}
	_, writeErr := w.out.Write(r.JSON())
	_, afterErr := io.WriteString(w.out, w.after)
	return errors.Join(err, writeErr, afterErr)
}

// Close implements rowWriter.
func (w *jsonWriter) Close() error {
	_, err := io.WriteString(w.out, w.last)
	return err
}
