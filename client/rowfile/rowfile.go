// Package rowfile writes rows as files: CSV, TSV, JSON, NDJSON and workbooks.
package rowfile

import (
	"bufio"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/workbook"
)

// Column is a column of a file.
type Column = workbook.Column

// Options has the options of the writers of all formats.
type Options struct {
	Out     *bufio.Writer // the caller flushes it
	Name    string        // name of the kind of rows
	Columns []Column
	Null    string // text of a null in CSV and TSV
	Excel   bool   // CSV is for Excel
}

func (o Options) names() []string {
	return record.Texts(o.Columns, func(c Column) string { return c.Name })
}

// Writer writes rows in one format as they arrive.
type Writer interface {
	// Begin writes the header.
	Begin() error
	// Row writes a row. It must not keep the row.
	Row(client.Row) error
	// End completes the file. It is only called if all rows have arrived.
	End() error
}

// TextWriter is a Writer that also writes rows in the form of client.Rows.Text: CSV for
// CSV, else NDJSON.
type TextWriter interface{ Text(lines []byte) error }

// Format is a file format.
type Format struct {
	Name    string
	Suffix  string // suffix of file names
	Summary string // for help texts
	Hint    string // the same in a few words, for a form
	Cells   bool   // has a cell for each column, so that Options.Null applies
	New     func(Options) Writer
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{
			Name:    "csv",
			Suffix:  ".csv",
			Summary: "RFC 4180, but lines end with LF; header line, UTF-8; nulls are empty",
			Hint:    "UTF-8, LF, nulls are empty",
			Cells:   true,
			New:     newCSV,
		},
		{
			Name:    "tsv",
			Suffix:  ".tsv",
			Summary: `separated by tabs; tab, line break and backslash as \t \n \r \\`,
			Hint:    "separated by tabs",
			Cells:   true,
			New:     newTSV,
		},
		{
			Name:    "json",
			Suffix:  ".json",
			Summary: "one array of objects; nulls are omitted",
			Hint:    "array of objects, without null values",
			New:     newJSON,
		},
		{
			Name:    "ndjson",
			Suffix:  ".ndjson",
			Summary: "one object per line; nulls are omitted",
			Hint:    "one object per line, without null values",
			New:     newNDJSON,
		},
		{
			Name:    "xlsx",
			Suffix:  ".xlsx",
			Summary: "an Excel workbook, to a file only, with typed numbers and dates",
			Hint:    "workbook with typed cells",
			New:     newXLSX,
		},
	}
}

// xlsxWriter writes a workbook.
type xlsxWriter struct {
	Options
	book *workbook.Writer
}

func newXLSX(o Options) Writer { return &xlsxWriter{Options: o} }

func (w *xlsxWriter) Begin() (err error) {
	w.book, err = workbook.New(w.Out, w.Name, w.Columns)
	return err
}

func (w *xlsxWriter) Row(r client.Row) error { return w.book.Row(r) }

func (w *xlsxWriter) End() error { return w.book.Close() }
