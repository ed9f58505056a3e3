// Program excelize prints the cells of the first sheet of a workbook as JSON: each as its type
// and its text, dates in ISO 8601 with milliseconds.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

func main() {
	if err := print(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// print prints the cells of the first sheet of a file.
func print(file string) error {
	book, err := excelize.OpenFile(file)
	if err != nil {
		return err
	}
	defer book.Close()
	sheet := book.GetSheetName(0)
	dimension, err := book.GetSheetDimension(sheet)
	if err != nil {
		return err
	}
	rows, err := book.GetRows(sheet, excelize.Options{RawCellValue: true})
	if err != nil {
		return err
	}
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	cells := make([][][2]string, len(rows))
	for r := range rows {
		for c := range columns {
			cell, err := read(book, sheet, c+1, r+1)
			if err != nil {
				return fmt.Errorf("row %d, column %d of %s: %w", r+1, c+1, dimension, err)
			}
			cells[r] = append(cells[r], cell)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(cells)
}

// read returns the type and the text of a cell.
func read(book *excelize.File, sheet string, column, row int) (cell [2]string, err error) {
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return cell, err
	}
	kind, err := book.GetCellType(sheet, name)
	if err != nil {
		return cell, err
	}
	text, err := book.GetCellValue(sheet, name, excelize.Options{RawCellValue: true})
	if err != nil {
		return cell, err
	}
	formula, err := book.GetCellFormula(sheet, name)
	if err != nil {
		return cell, err
	}
	switch {
	case formula != "":
		return [2]string{"formula", formula}, nil
	case text == "":
		return [2]string{"null", ""}, nil
	case kind == excelize.CellTypeBool:
		return [2]string{"boolean", strconv.FormatBool(text == "1")}, nil
	case kind == excelize.CellTypeInlineString, kind == excelize.CellTypeSharedString:
		return [2]string{"string", text}, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return cell, err
	}
	isDate, err := hasDateFormat(book, sheet, name)
	if err != nil || !isDate {
		return [2]string{"number", numberText(number)}, err
	}
	// ExcelDateToTime drops the milliseconds, which the number has.
	milliseconds := math.Round((number - daysUntil1970) * 24 * 60 * 60 * 1000)
	return [2]string{"date", time.UnixMilli(int64(milliseconds)).UTC().Format("2006-01-02T15:04:05.000Z")}, nil
}

// daysUntil1970 is the number of 1970-01-01 in a workbook.
const daysUntil1970 = 25569

// numberText returns a number as JavaScript prints it.
func numberText(number float64) string {
	size := math.Abs(number)
	isPlain := size >= 1e-6 && size < 1e21
	if isPlain || number == 0 {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	text := strconv.FormatFloat(number, 'e', -1, 64)
	return strings.Replace(text, "e-0", "e-", 1) // Go writes exponents of two digits at least
}

// hasDateFormat reports whether the number format of a cell is one of dates.
func hasDateFormat(book *excelize.File, sheet, name string) (bool, error) {
	index, err := book.GetCellStyle(sheet, name)
	if err != nil {
		return false, err
	}
	style, err := book.GetStyle(index)
	if err != nil {
		return false, err
	}
	isCustom := style.CustomNumFmt != nil && strings.Contains(*style.CustomNumFmt, "yyyy")
	isBuiltIn := style.NumFmt >= 14 && style.NumFmt <= 22 // the date formats of Excel
	return isCustom || isBuiltIn, nil
}
