package xlsx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// cell is a cell parsed from a workbook.
type cell struct {
	At    string `xml:"r,attr"`
	Kind  string `xml:"t,attr"`
	Style int    `xml:"s,attr"`
	Value string `xml:"v"`
	Text  string `xml:"is>t"`
}

// readRows parses all files of a workbook and returns the rows of the sheet.
func readRows(t testing.TB, book []byte) (rows [][]cell) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.File {
		inner, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(inner)
		if err != nil {
			t.Fatal(err)
		}
		var sheet struct {
			Rows []struct {
				Cells []cell `xml:"c"`
			} `xml:"sheetData>row"`
		}
		if err := xml.Unmarshal(text, &sheet); err != nil {
			t.Fatalf("%s: %v\n%s", file.Name, err, text)
		}
		for _, row := range sheet.Rows {
			rows = append(rows, row.Cells)
		}
	}
	return rows
}

// writeBook returns a workbook with the columns A, B and so on.
func writeBook(t testing.TB, columns int, fill func(*Writer)) []byte {
	t.Helper()
	var to bytes.Buffer
	var names []Column
	for i := range columns {
		names = append(names, Column{Name: columnLetters(i)})
	}
	w, err := New(&to, "Rows", names)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

func TestCellsByType(t *testing.T) {
	at := time.Date(2026, 7, 8, 9, 10, 11, 123e6, time.UTC)
	book := writeBook(t, 8, func(w *Writer) {
		w.BeginRow()
		w.Text([]byte("00123"))
		w.Text([]byte("=1+1"))
		w.Number([]byte("-12.50"))
		w.Null()
		w.Text(nil)
		w.Bool(true)
		w.Date(at)
		w.Date(at.Truncate(time.Second))
		w.EndRow()
	})
	want := []cell{
		{At: "A2", Kind: "inlineStr", Text: "00123"},
		{At: "B2", Kind: "inlineStr", Text: "=1+1"},
		{At: "C2", Value: "-12.50"},
		{At: "E2", Kind: "inlineStr"},
		{At: "F2", Kind: "b", Value: "1"},
		{At: "G2", Style: styleMilliseconds, Value: "46211.38207318287"},
		{At: "H2", Style: styleDate, Value: "46211.38207175926"},
	}
	rows := readRows(t, book)
	if len(rows) != 2 {
		t.Fatalf("the sheet has %d rows, want a header and a row", len(rows))
	}
	var names []string
	for _, c := range rows[0] {
		names = append(names, c.Text)
	}
	if header := strings.Join(names, ""); header != "ABCDEFGH" {
		t.Errorf("the header is %s, want ABCDEFGH", header)
	}
	if !slices.Equal(rows[1], want) {
		t.Errorf("the row is\n%+v, want\n%+v", rows[1], want)
	}
}

// TestTextRoundTrip decodes texts by the rules of spreadsheets.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		special := []rune("_x0041Fg<>&\"'\r\n\t\x00\x1f\ufffe\uffff \u00e9😀")
		texts := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom(special)))
		text := texts.Draw(rt, "text")
		book := writeBook(t, 1, func(w *Writer) {
			w.BeginRow()
			w.Text([]byte(text))
			w.EndRow()
		})
		if got := unescape(readRows(t, book)[1][0].Text); got != text {
			rt.Fatalf("%q was read as %q", text, got)
		}
	})
}

var escaped = regexp.MustCompile(`_x[0-9a-fA-F]{4}_`)

// unescape decodes _xHHHH_ as spreadsheets do.
func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[2:6], 16, 16)
		return string(rune(n))
	})
}

func TestExactAllows15Digits(t *testing.T) {
	for number, want := range map[string]bool{
		"":                       true,
		"0":                      true,
		"-1.50":                  true,
		"123456789012345":        true,
		"123456789012345.000":    true,
		"0.000123456789012345":   true,
		"1000000000000000000000": true,
		"1234567890123456":       false,
		"922337203685477.5807":   false,
		"0.1234567890123456":     false,
		"1e5":                    false,
	} {
		if got := Exact([]byte(number)); got != want {
			t.Errorf("Exact(%s) = %t, want %t", number, got, want)
		}
	}
}

// dateOf parses a date with an optional fraction of a second.
func dateOf(t *testing.T, text string) time.Time {
	t.Helper()
	date, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return date
}

func TestSerialConvertsValidDates(t *testing.T) {
	for text, want := range map[string]float64{
		"1900-03-01T00:00:00":     61,
		"1970-01-01T12:00:00":     25569.5,
		"9999-12-31T00:00:00":     2958465,
		"2026-07-08T00:00:00.001": 46211.000000011576,
	} {
		if got, ok := Serial(dateOf(t, text)); !ok || got != want {
			t.Errorf("Serial(%s) = %v, %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"0001-01-01T00:00:00",
		"1900-02-28T23:59:59",
		"2026-07-08T00:00:00.0001",
	} {
		if got, ok := Serial(dateOf(t, text)); ok {
			t.Errorf("Serial(%s) = %v, want that it has none", text, got)
		}
	}
}

func TestSerialKeepsMilliseconds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const maxAge = 250 * 365 * 24 * 3600 * 1000 // 250 years in milliseconds
		age := rapid.Int64Range(0, maxAge).Draw(rt, "ms")
		date := firstDay.Add(time.Duration(age) * time.Millisecond)
		days, ok := Serial(date)
		if !ok {
			rt.Fatalf("%s has no serial number", date)
		}
		wholeDays, fraction := math.Modf(days)
		timeOfDay := time.Duration(fraction * 24 * float64(time.Hour)).Round(time.Millisecond)
		if got := dayZero.AddDate(0, 0, int(wholeDays)).Add(timeOfDay); !got.Equal(date) {
			rt.Fatalf("the serial number of %s is %v, which is %s", date, days, got)
		}
	})
}

// newWriter returns a writer of a sheet with one column, the output of which is discarded.
func newWriter(t *testing.T) *Writer {
	t.Helper()
	w, err := New(io.Discard, "Rows", []Column{{Name: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRowAndTextLimits(t *testing.T) {
	t.Run("rows", func(t *testing.T) {
		w := newWriter(t)
		for row := 1; row < MaxRows; row++ { // the header is a row, too
			w.BeginRow()
			if err := w.EndRow(); err != nil {
				t.Fatalf("row %d: %v", row, err)
			}
		}
		w.BeginRow()
		if err := w.EndRow(); !errors.Is(err, ErrRows) {
			t.Errorf("row after the last one: error %v, want ErrRows", err)
		}
	})

	for name, test := range map[string]struct {
		text string
		want error
	}{
		"longest text":   {text: strings.Repeat("é", MaxText)},
		"too long":       {text: strings.Repeat("x", MaxText+1), want: ErrText},
		"two units each": {text: strings.Repeat("😀", MaxText/2+1), want: ErrText},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t)
			w.BeginRow()
			w.Text([]byte(test.text))
			if err := w.EndRow(); !errors.Is(err, test.want) {
				t.Errorf("text of %d characters: error %v, want %v",
					utf8.RuneCountInString(test.text), err, test.want)
			}
		})
	}
}

func TestColumnAndSheetNames(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := columnLetters(column); got != want {
			t.Errorf("the name of column %d is %s, want %s", column, got, want)
		}
	}
	for name, want := range map[string]string{
		"":                      "rows",
		"a/b[c]":                "a_b_c_",
		strings.Repeat("é", 40): strings.Repeat("é", 31),
	} {
		if got := sheetName(name); got != want {
			t.Errorf("sheetName(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestSheetNameInWorkbook checks that readers get the name of the sheet with all its characters.
func TestSheetNameInWorkbook(t *testing.T) {
	const name = `5" & <6">`
	var book bytes.Buffer
	w, err := New(&book, name, []Column{{Name: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(book.Bytes()), int64(book.Len()))
	if err != nil {
		t.Fatal(err)
	}
	part, err := archive.Open("xl/workbook.xml")
	if err != nil {
		t.Fatal(err)
	}
	var workbook struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := xml.NewDecoder(part).Decode(&workbook); err != nil {
		t.Fatalf("reading a workbook with the sheet %s: %v", name, err)
	}
	if len(workbook.Sheets) != 1 || workbook.Sheets[0].Name != name {
		t.Errorf("got the sheets %q, want %q", workbook.Sheets, name)
	}
}

func BenchmarkRows(b *testing.B) {
	w, err := New(io.Discard, "Rows", []Column{{Name: "A"}, {Name: "B"}, {Name: "C"}})
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)
	for range b.N {
		w.row %= 1000
		w.BeginRow()
		w.Text([]byte("D100512"))
		w.Number([]byte("40002.1500"))
		w.Date(at)
		w.EndRow()
	}
}
