package xlsx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
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
		{At: "A2", Kind: "inlineStr", Text: "00123"}, {At: "B2", Kind: "inlineStr", Text: "=1+1"}, {At: "C2", Value: "-12.50"},
		{At: "E2", Kind: "inlineStr"}, {At: "F2", Kind: "b", Value: "1"},
		{At: "G2", Style: styleMilliseconds, Value: "46211.38207318287"}, {At: "H2", Style: styleDate, Value: "46211.38207175926"},
	}
	rows := readRows(t, book)
	if len(rows) != 2 || len(rows[0]) != 8 || rows[0][7].Text != "H" || fmt.Sprint(rows[1]) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", rows, want)
	}
}

// TestTextRoundTrip decodes texts by the rules of spreadsheets.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("_x0041Fg<>&\"'\r\n\t\x00\x1f\ufffe\uffff \u00e9😀")))).Draw(rt, "text")
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
		"0": true, "-1.50": true, "123456789012345": true, "0.000123456789012345": true, "1000000000000000000000": true, "123456789012345.000": true,
		"1234567890123456": false, "922337203685477.5807": false, "0.1234567890123456": false, "1e5": false, "": true,
	} {
		if got := Exact([]byte(number)); got != want {
			t.Errorf("Exact(%s) = %v", number, got)
		}
	}
}

func TestSerialConvertsValidDates(t *testing.T) {
	for text, want := range map[string]float64{
		"1900-03-01T00:00:00": 61, "1970-01-01T12:00:00": 25569.5, "9999-12-31T00:00:00": 2958465, "2026-07-08T00:00:00.001": 46211.000000011576,
	} {
		at, err := time.Parse("2006-01-02T15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Serial(at); !ok || got != want {
			t.Errorf("Serial(%s) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"1900-02-28T23:59:59", "0001-01-01T00:00:00", "2026-07-08T00:00:00.0001"} {
		at, err := time.Parse("2006-01-02T15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Serial(at); ok {
			t.Errorf("Serial(%s) = %v, want an error", text, got)
		}
	}
}

func TestSerialKeepsMilliseconds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := firstDay.Add(time.Duration(rapid.Int64Range(0, 250*365*24*3600*1000).Draw(rt, "ms")) * time.Millisecond)
		days, ok := Serial(at)
		back := dayZero.AddDate(0, 0, int(days)).Add(time.Duration((days - float64(int(days))) * 24 * float64(time.Hour))).Round(time.Millisecond)
		if !ok || !back.Equal(at) {
			rt.Fatalf("serial number of %s is %v, which is %s", at, days, back)
		}
	})
}

func TestRowAndTextLimits(t *testing.T) {
	w, err := New(io.Discard, "Rows", []Column{{Name: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	for row := 1; row < MaxRows; row++ {
		w.BeginRow()
		if err := w.EndRow(); err != nil {
			t.Fatalf("row %d: %v", row, err)
		}
	}
	w.BeginRow()
	if err := w.EndRow(); !errors.Is(err, ErrRows) {
		t.Errorf("row after the last one: error %v, want ErrRows", err)
	}
	for text, want := range map[string]error{strings.Repeat("é", MaxText): nil, strings.Repeat("x", MaxText+1): ErrText, strings.Repeat("😀", MaxText/2+1): ErrText} {
		w, err := New(io.Discard, "Rows", []Column{{Name: "A"}})
		if err != nil {
			t.Fatal(err)
		}
		w.BeginRow()
		w.Text([]byte(text))
		if err := w.EndRow(); !errors.Is(err, want) {
			t.Errorf("text of %d characters: error %v, want %v", utf8.RuneCountInString(text), err, want)
		}
	}
}

func TestColumnAndSheetNames(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := columnLetters(column); got != want {
			t.Errorf("name of column %d is %s, want %s", column, got, want)
		}
	}
	for name, want := range map[string]string{"": "rows", "a/b[c]": "a_b_c_", strings.Repeat("é", 40): strings.Repeat("é", 31)} {
		if got := sheetName(name); got != want {
			t.Errorf("sheetName(%q) = %q, want %q", name, got, want)
		}
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
