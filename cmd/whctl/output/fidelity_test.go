package output

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// edgeRows has values that spreadsheets and simple parsers misread. edgeCells has the
// cells that must be read; nil is null.
var (
	edgeColumns = layout{
		columns: []Column{
			{Name: "T", Type: record.Text},
			{Name: "N", Type: record.Decimal},
			{Name: "B", Type: record.Bool},
		},
		null: "NULL",
	}
	edgeRows = []string{
		`{"T":"00123","N":40002.1500,"B":true}`,
		`{"T":"say \"so\", twice","N":12345678901234567890123456789012345678,"B":false}`,
		`{"T":"two\nlines","N":-0.00000000000000000000000000000000000001}`,
		`{"T":"carriage\r\nreturn","N":922337203685477.5807}`,
		`{"T":"=cmd|' /C calc'!A0","N":0}`,
		`{"T":"+1","N":-5}`, `{"T":"@SUM(A1)"}`, `{"T":"1E5"}`, `{"T":"MAR1"}`,
		`{"T":"","N":null}`,
		`{"T":null,"N":1}`,
		`{"T":" \ud83d\ude00 \u00e9\t"}`,
		`{"T":"NULL?"}`,
	}
	edgeCells = [][]any{
		{"00123", "40002.1500", "true"},
		{`say "so", twice`, "12345678901234567890123456789012345678", "false"},
		{"two\nlines", "-0.00000000000000000000000000000000000001", nil},
		{"carriage\r\nreturn", "922337203685477.5807", nil},
		{"=cmd|' /C calc'!A0", "0", nil},
		{"+1", "-5", nil},
		{"@SUM(A1)", nil, nil},
		{"1E5", nil, nil},
		{"MAR1", nil, nil},
		{"", nil, nil},
		{nil, "1", nil},
		{" 😀 é\t", nil, nil},
		{"NULL?", nil, nil},
	}
)

// python writes a file, runs a Python program on it and parses the JSON that it prints.
func python(t *testing.T, program, name, content string) (read any) {
	t.Helper()
	python := clientstest.Tool(t, "python3")
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", program, path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return read
}

// expectedCells returns the header and the cells as Python reads them.
func expectedCells(cells [][]any, null any) any {
	lines := []any{[]any{"T", "N", "B"}}
	for _, row := range cells {
		line := make([]any, len(row))
		for i, cell := range row {
			line[i] = cell
			if cell == nil {
				line[i] = null
			}
		}
		lines = append(lines, line)
	}
	return lines
}

const readCSV = `
import csv, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as f:
    print(json.dumps(list(csv.reader(f, strict=True))))
`

// Python's csv module reads every cell unchanged in strict mode, and null differs from an
// empty text.
func TestCSVInPython(t *testing.T) {
	got := python(t, readCSV, "rows.csv", printed(t, "csv", edgeColumns, edgeRows...))
	if want := expectedCells(edgeCells, "NULL"); !reflect.DeepEqual(got, want) {
		t.Errorf("reading CSV in Python:\ngot  %q\nwant %q", got, want)
	}
}

const readWorkbook = `
import json, re, sys, zipfile
from xml.etree import ElementTree
ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
def unescape(text):
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda m: chr(int(m.group(1), 16)), text)
rows = []
with zipfile.ZipFile(sys.argv[1]) as book:
    assert book.testzip() is None
    sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    for row in sheet.iter(ns + "row"):
        cells = {}
        for cell in row.iter(ns + "c"):
            assert cell.find(ns + "f") is None, "a formula"
            kind = cell.get("t", "n")
            text = "".join(t.text or "" for t in cell.iter(ns + "t")) if kind == "inlineStr" else cell.findtext(ns + "v")
            if kind == "b":
                text = {"0": "false", "1": "true"}[text]
            column = re.match("[A-Z]+", cell.get("r")).group()
            cells["ABC".index(column)] = [kind, unescape(text)]
        rows.append([cells.get(i) for i in range(3)])
print(json.dumps(rows))
`

// An independent parser of the file format reads texts as texts and numbers with all
// digits. Numbers with more digits than a spreadsheet supports are texts.
func TestWorkbookInPython(t *testing.T) {
	got, ok := python(t, readWorkbook, "rows.xlsx", printed(t, "xlsx", edgeColumns, edgeRows...)).([]any)
	if !ok || len(got) != 1+len(edgeCells) {
		t.Fatalf("reading the workbook in Python: got %d rows, want %d", len(got), 1+len(edgeCells))
	}
	for i, row := range got[1:] {
		for column, cell := range row.([]any) {
			want := edgeCells[i][column]
			if want == nil || want == "" { // these do not differ in a workbook
				if cell != nil && cell.([]any)[1] != "" {
					t.Errorf("row %d, column %d: got %q, want no cell", i, column, cell)
				}
				continue
			}
			kind, text := cell.([]any)[0], cell.([]any)[1]
			if wantKind := kindOf(column, text); text != want || kind != wantKind {
				t.Errorf("row %d, column %d: got %q as %s, want %q as %s",
					i, column, text, kind, want, wantKind)
			}
		}
	}
}

// kindOf returns the expected type of a cell.
func kindOf(column int, text any) string {
	if column == 2 {
		return "b"
	}
	isExact := text != "12345678901234567890123456789012345678" && text != "922337203685477.5807"
	if column == 1 && isExact {
		return "n"
	}
	return "inlineStr"
}
