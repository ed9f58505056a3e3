// Package xlsx writes workbooks with one sheet, cell by cell, in constant memory. Texts
// are inline strings, because shared strings would have to be collected first.
package xlsx

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// Limits of a sheet.
const (
	MaxRows = 1_048_576 // including the header row
	MaxText = 32_767    // UTF-16 code units in a cell
)

// Errors for exceeded limits.
var (
	ErrRows = fmt.Errorf("a sheet holds at most %d rows", MaxRows-1)
	ErrText = fmt.Errorf("a cell holds at most %d characters", MaxText)
)

// Writer writes a workbook. Cells are written from left to right, row by row. After an
// error, all further writes are ignored.
type Writer struct {
	archive *zip.Writer
	sheet   io.Writer
	buffer  []byte   // text that has not been written to the sheet
	row     int      // current row, from 1
	rowText []byte   // row as decimal digits
	column  int      // next column, from 0
	starts  []string // start of a cell of each column, up to the letters of its name
	err     error    // the first error
}

// Column is a column of the header row. Width is its approximate width in characters.
type Column struct {
	Name  string
	Width int
}

// New starts a workbook. Its sheet has a frozen header row with the names of the columns.
func New(to io.Writer, sheet string, columns []Column) (*Writer, error) {
	w := &Writer{archive: zip.NewWriter(to)}
	w.archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		c := compressors.Get().(*flate.Writer)
		c.Reset(to)
		return compressor{c}, nil
	})
	for _, part := range parts(sheetName(sheet)) {
		w.addFile(part.name, part.text)
	}
	inner, err := w.archive.Create("xl/worksheets/sheet1.xml")
	err = errors.Join(w.err, err)
	if err != nil {
		return nil, err
	}
	w.sheet = inner
	w.writeHeader(columns)
	return w, w.err
}

// compressors are reused, since each takes about a megabyte.
var compressors = sync.Pool{New: func() any {
	c, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // invalid level
	}
	return c
}}

// compressor returns its flate.Writer to the pool when it is closed.
type compressor struct{ *flate.Writer }

func (c compressor) Close() error {
	err := c.Writer.Close()
	compressors.Put(c.Writer)
	return err
}

// addFile writes a file of the archive. Errors are kept in w.err.
func (w *Writer) addFile(name, text string) {
	inner, err := w.archive.Create(name)
	if err == nil {
		_, err = io.WriteString(inner, declaration+text)
	}
	w.err = errors.Join(w.err, err)
}

// writeHeader writes the start of the sheet and the header row.
func (w *Writer) writeHeader(columns []Column) {
	w.text(declaration + `<worksheet xmlns="` + mainSpace + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`)
	if len(columns) > 0 {
		w.text("<cols>")
		for i, c := range columns {
			width := min(max(c.Width, len(c.Name)+2, 8), 60)
			w.text(fmt.Sprintf(`<col min="%[1]d" max="%[1]d" width="%[2]d" customWidth="1"/>`, i+1, width))
			w.starts = append(w.starts, `<c r="`+columnLetters(i))
		}
		w.text("</cols>")
	}
	w.text("<sheetData>")
	w.BeginRow()
	for _, c := range columns {
		w.styledText([]byte(c.Name), styleHeader)
	}
	w.EndRow()
}

// BeginRow starts a row.
func (w *Writer) BeginRow() {
	w.row++
	if w.row > MaxRows {
		w.fail(ErrRows)
	}
	w.column = 0
	w.rowText = strconv.AppendInt(w.rowText[:0], int64(w.row), 10)
	w.text(`<row r="`) // without which some readers refuse the sheet
	w.bytes(w.rowText)
	w.text(`">`)
}

// EndRow ends a row and returns the first error of the workbook.
func (w *Writer) EndRow() error {
	w.text("</row>")
	if len(w.buffer) >= flushSize {
		w.flush()
	}
	return w.err
}

// flushSize is the size of the text, in bytes, that is compressed at a time.
const flushSize = 64 << 10

// flush compresses the text in the buffer.
func (w *Writer) flush() {
	if w.err == nil {
		_, w.err = w.sheet.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}

// Null skips a cell.
func (w *Writer) Null() { w.column++ }

// Text writes a text cell. Spreadsheets do not interpret it as a number or formula.
func (w *Writer) Text(text []byte) { w.styledText(text, stylePlain) }

func (w *Writer) styledText(text []byte, style int) {
	if len(text) > MaxText && utf16Length(text) > MaxText {
		w.fail(ErrText)
		return
	}
	w.openCell(style)
	w.text(` t="inlineStr"><is><t`)
	if needsPreserve(text) {
		w.text(` xml:space="preserve"`)
	}
	w.text(">")
	w.buffer = escape(w.buffer, text)
	w.text("</t></is></c>")
}

// Number writes a decimal number. Spreadsheets drop digits after the fifteenth: see
// Exact.
func (w *Writer) Number(digits []byte) {
	if !w.hasColumn() {
		return
	}
	// Most cells are numbers: one variable for the buffer saves a tenth of their cost, see BenchmarkRow
	// of package encode.
	b := append(w.buffer, w.starts[w.column]...)
	b = append(b, w.rowText...)
	b = append(b, `"><v>`...)
	b = append(b, digits...)
	w.buffer = append(b, "</v></c>"...)
	w.column++
}

// Bool writes a bool.
func (w *Writer) Bool(value bool) {
	w.openCell(stylePlain)
	if value {
		w.text(` t="b"><v>1</v></c>`)
	} else {
		w.text(` t="b"><v>0</v></c>`)
	}
}

// Date writes a date. It must be valid for Serial.
func (w *Writer) Date(at time.Time) {
	serial, _ := Serial(at)
	style := styleDate
	if at.Nanosecond() > 0 {
		style = styleMilliseconds
	}
	w.openCell(style)
	w.text("><v>")
	w.buffer = strconv.AppendFloat(w.buffer, serial, 'f', -1, 64)
	w.text("</v></c>")
}

// openCell writes the start of a cell up to its attributes.
func (w *Writer) openCell(style int) {
	if !w.hasColumn() {
		return
	}
	w.text(w.starts[w.column])
	w.bytes(w.rowText)
	w.text(`"`)
	if style != stylePlain {
		w.text(styleAttributes[style])
	}
	w.column++
}

// hasColumn reports whether the header has a column for the next cell. Otherwise, the workbook fails.
func (w *Writer) hasColumn() bool {
	if w.column < len(w.starts) {
		return true
	}
	w.fail(fmt.Errorf("row %d has more cells than columns", w.row))
	return false
}

// Close completes the workbook. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.text("</sheetData></worksheet>")
	w.flush()
	if w.err == nil {
		w.err = w.archive.Close()
	}
	return w.err
}

func (w *Writer) text(text string) { w.buffer = append(w.buffer, text...) }

func (w *Writer) bytes(text []byte) { w.buffer = append(w.buffer, text...) }

func (w *Writer) fail(err error) {
	w.err = cmp.Or(w.err, err)
}

// columnLetters returns the name of a column, such as AA; columns start at 0.
func columnLetters(column int) string {
	name := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// sheetName returns a valid name for a sheet.
func sheetName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`[]:*?/\'`, r) {
			return '_'
		}
		return r
	}, name)
	runes := []rune(cmp.Or(name, "rows"))
	return string(runes[:min(len(runes), 31)])
}

// utf16Length returns the length of text in UTF-16 code units, which is at most its length in
// bytes.
func utf16Length(text []byte) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		n += max(1, utf16.RuneLen(r))
		text = text[size:]
	}
	return n
}
