// Package xlsx writes workbooks of one sheet, cell by cell, in memory that does
// not grow with their number. Texts are in the cells themselves, so that
// nothing has to be collected before the first row.
package xlsx

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// What a sheet can hold.
const (
	MaxRows = 1_048_576 // with the one of the names
	MaxText = 32_767    // UTF-16 units in one cell
)

// ErrRows and ErrText say that a sheet cannot hold what was written.
var (
	ErrRows = fmt.Errorf("a sheet holds at most %d rows", MaxRows-1)
	ErrText = fmt.Errorf("a cell holds at most %d characters", MaxText)
)

// Writer writes one workbook. Its cells go from left to right and from top to
// bottom. After an error it is of no further use.
type Writer struct {
	archive *zip.Writer
	sheet   *bufio.Writer
	row     int // from 1
	column  int // of the next cell, from 0
	names   []string
	err     error
}

// Column is the name of a column and about how wide it is, in characters.
type Column struct {
	Name  string
	Width int
}

// New begins a workbook whose sheet has a first row with the names of the
// columns, which stays in view.
func New(to io.Writer, sheet string, columns []Column) (*Writer, error) {
	w := &Writer{archive: zip.NewWriter(to)}
	w.archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestSpeed)
	})
	for _, part := range parts(sheetName(sheet)) {
		w.part(part.name, part.text)
	}
	inner, err := w.archive.Create("xl/worksheets/sheet1.xml")
	if err = errors.Join(w.err, err); err != nil {
		return nil, err
	}
	w.sheet = bufio.NewWriterSize(inner, 64<<10)
	w.head(columns)
	return w, w.err
}

// part writes one of the small files of the archive.
func (w *Writer) part(name, text string) {
	inner, err := w.archive.Create(name)
	if err == nil {
		_, err = io.WriteString(inner, declaration+text)
	}
	w.err = errors.Join(w.err, err)
}

// head writes what is before the rows, and the row of names.
func (w *Writer) head(columns []Column) {
	w.text(declaration + `<worksheet xmlns="` + mainSpace + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`)
	if len(columns) > 0 {
		w.text("<cols>")
		for i, c := range columns {
			w.text(fmt.Sprintf(`<col min="%d" max="%[1]d" width="%d" customWidth="1"/>`, i+1, min(max(c.Width, len(c.Name)+2, 8), 60)))
			w.names = append(w.names, letters(i))
		}
		w.text("</cols>")
	}
	w.text("<sheetData>")
	w.BeginRow()
	for _, c := range columns {
		w.styledText([]byte(c.Name), styleName)
	}
	w.EndRow()
}

// BeginRow begins the next row.
func (w *Writer) BeginRow() {
	if w.row++; w.row > MaxRows {
		w.fail(ErrRows)
	}
	w.column = 0
	w.text("<row>")
}

// EndRow ends a row, and gives the first error of it.
func (w *Writer) EndRow() error {
	w.text("</row>")
	return w.err
}

// Null leaves a cell out.
func (w *Writer) Null() { w.column++ }

// Text writes a cell of text, which stays text whatever it looks like.
func (w *Writer) Text(text []byte) { w.styledText(text, stylePlain) }

func (w *Writer) styledText(text []byte, style int) {
	if units(text) > MaxText {
		w.fail(ErrText)
		return
	}
	w.open(style)
	w.text(` t="inlineStr"><is><t xml:space="preserve">`)
	if w.err == nil {
		_, w.err = w.sheet.Write(escape(w.sheet.AvailableBuffer(), text))
	}
	w.text("</t></is></c>")
}

// Number writes a number in decimal digits. Beyond 15 of them, a spreadsheet
// keeps none: see Exact.
func (w *Writer) Number(digits []byte) {
	w.open(stylePlain)
	w.text("><v>")
	w.text(string(digits))
	w.text("</v></c>")
}

// Bool writes a truth value.
func (w *Writer) Bool(yes bool) {
	w.open(stylePlain)
	if yes {
		w.text(` t="b"><v>1</v></c>`)
	} else {
		w.text(` t="b"><v>0</v></c>`)
	}
}

// Date writes a date, which has to be one that Serial takes.
func (w *Writer) Date(at time.Time) {
	serial, _ := Serial(at)
	style := styleDate
	if at.Nanosecond() > 0 {
		style = styleFraction
	}
	w.open(style)
	w.text("><v>" + strconv.FormatFloat(serial, 'f', -1, 64) + "</v></c>")
}

// open writes the beginning of the next cell up to its attributes.
func (w *Writer) open(style int) {
	if w.column < len(w.names) {
		w.text(`<c r="` + w.names[w.column] + strconv.Itoa(w.row) + `"`)
	} else {
		w.fail(fmt.Errorf("row %d has more cells than there are columns", w.row))
	}
	if style != stylePlain {
		w.text(` s="` + strconv.Itoa(style) + `"`)
	}
	w.column++
}

// Close ends the workbook.
func (w *Writer) Close() error {
	w.text("</sheetData></worksheet>")
	if w.err == nil {
		w.err = w.sheet.Flush()
	}
	if w.err == nil {
		w.err = w.archive.Close()
	}
	return w.err
}

func (w *Writer) text(text string) {
	if w.err == nil {
		_, w.err = w.sheet.WriteString(text)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// letters is the name of a column, counted from 0.
func letters(column int) string {
	name := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// sheetName is a name that spreadsheets take for a sheet.
func sheetName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`[]:*?/\'`, r) {
			return '_'
		}
		return r
	}, name)
	if name == "" {
		name = "rows"
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), 31)])
}

// units counts UTF-16 units.
func units(text []byte) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		n += max(1, utf16.RuneLen(r))
		text = text[size:]
	}
	return n
}
