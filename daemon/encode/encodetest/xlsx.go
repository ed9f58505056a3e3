package encodetest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Sheet returns the XML of the only sheet of a workbook.
func Sheet(book []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		return nil, err
	}
	file, err := archive.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

var (
	cellColumn  = regexp.MustCompile(`^[A-Z]+`)
	escapedText = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)
)

var bools = map[string]string{"0": "false", "1": "true"}

// readXLSX reads a sheet as spreadsheets do. Numbers with a style, which only dates have,
// are days since 1899-12-30.
func readXLSX(body []byte, _ []string) ([]Row, error) {
	text, err := Sheet(body)
	if err != nil {
		return nil, err
	}
	var sheet struct {
		Rows []struct {
			Cells []cell `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if err := xml.Unmarshal(text, &sheet); err != nil {
		return nil, err
	}
	if strings.Contains(string(text), "<f>") {
		return nil, errors.New("the sheet has a formula")
	}

	var rows []Row
	names := make(map[string]string) // by the letters of the column
	for i, sheetRow := range sheet.Rows {
		row := make(Row)
		for _, c := range sheetRow.Cells {
			letters := cellColumn.FindString(c.At)
			if want := letters + strconv.Itoa(i+1); c.At != want {
				return nil, fmt.Errorf("cell %s, want %s", c.At, want)
			}
			value, err := c.text()
			if err != nil {
				return nil, err
			}
			if i == 0 {
				names[letters] = value
			} else {
				row[names[letters]] = value
			}
		}
		if i > 0 {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// cell is a cell of a sheet.
type cell struct {
	At    string `xml:"r,attr"` // such as B7
	Type  string `xml:"t,attr"`
	Style string `xml:"s,attr"`
	Value string `xml:"v"`
	Text  string `xml:"is>t"`
}

// text returns the value of a cell as a reader sees it.
func (c cell) text() (string, error) {
	switch {
	case c.Type == "inlineStr":
		unescape := func(code string) string {
			n, _ := strconv.ParseUint(code[2:6], 16, 16)
			return string(rune(n))
		}
		return escapedText.ReplaceAllStringFunc(c.Text, unescape), nil
	case c.Type == "b":
		return bools[c.Value], nil
	case c.Style != "":
		return dateOf(c.Value)
	}
	return c.Value, nil
}

// dateOf returns the date with a number of days, with milliseconds.
func dateOf(number string) (string, error) {
	days, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return "", err
	}
	date := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days))
	milliseconds := math.Round((days - math.Floor(days)) * 24 * 60 * 60 * 1000)
	return date.Add(time.Duration(milliseconds) * time.Millisecond).Format(wire.DateLayout), nil
}
