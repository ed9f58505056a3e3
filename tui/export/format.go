package export

import (
	"bufio"

	"github.com/bizhook/whd/client/rowfile"
)

// Column is an exported field.
type Column = rowfile.Column

// Format is a file format.
type Format struct {
	rowfile.Format
	Excel bool // CSV is for Excel
}

// Formats are the supported formats; the first is the default.
var Formats = formats()

func formats() []Format {
	var all []Format
	for _, f := range rowfile.Formats() {
		all = append(all, Format{Format: f})
		if f.Name == "csv" {
			f.Name = "csv for Excel"
			f.Hint = "with byte order mark and CRLF; formulas are escaped"
			all = append(all, Format{Format: f, Excel: true})
		}
	}
	return all
}

// IsReadableInPart reports whether the rows of an incomplete file can be read.
func (f Format) IsReadableInPart() bool { return f.Name != "xlsx" }

// open returns the writer of a job's rows.
func (f Format) open(out *bufio.Writer, j *Job) rowfile.Writer {
	return f.New(rowfile.Options{Out: out, Name: j.Name, Columns: j.Columns, Excel: f.Excel})
}
