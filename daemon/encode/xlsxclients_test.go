package encode

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/row"
)

// workbookReader prints the rows of a workbook as two libraries read it: each cell as its type
// and its text, dates in ISO 8601 with milliseconds. exceljs leaves the escapes of characters
// that XML cannot have to its caller, and SheetJS truncates milliseconds of its dates, which
// their numbers have.
const workbookReader = `
const ExcelJS = require('exceljs'), XLSX = require('xlsx');
const unescape = s => s.replace(/_x([0-9A-F]{4})_/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
const cell = v => v === null || v === undefined || v === '' ? ['null', '']
	: v instanceof Date ? ['date', new Date(Math.round(v.getTime())).toISOString()]
	: [typeof v, typeof v === 'string' ? unescape(v) : String(v)];
const sheetjsCell = c => !c || c.v === '' ? ['null', '']
	: c.t === 'n' && c.z && XLSX.SSF.is_date(c.z) ? ['date', new Date(Math.round((c.v - 25569) * 86400000)).toISOString()]
	: [typeof c.v, String(c.v)];
(async () => {
	const workbook = new ExcelJS.Workbook();
	await workbook.xlsx.readFile('rows.xlsx');
	const sheet = workbook.worksheets[0], exceljs = [], sheetjs = [];
	for (let r = 1; r <= sheet.rowCount; r++) {
		exceljs.push(Array.from({ length: sheet.columnCount }, (_, c) => cell(sheet.getRow(r).getCell(c + 1).value)));
	}
	const book = XLSX.readFile('rows.xlsx', { cellNF: true }), cells = book.Sheets[book.SheetNames[0]];
	const range = XLSX.utils.decode_range(cells['!ref']);
	for (let r = 0; r <= range.e.r; r++) {
		sheetjs.push(Array.from({ length: range.e.c + 1 }, (_, c) => sheetjsCell(cells[XLSX.utils.encode_cell({ r, c })])));
	}
	console.log(JSON.stringify({ exceljs, sheetjs }));
})().catch(e => { console.error(e); process.exit(1); });
`

// readableWorkbook returns a workbook with cells of all types, and the cells that readers must find.
func readableWorkbook(t *testing.T) (workbook []byte, want [][][2]string) {
	columns := []Column{
		{Name: "Text", Type: record.Text},
		{Name: "Int", Type: record.Int},
		{Name: "Long", Type: record.Long},
		{Name: "Decimal", Type: record.Decimal},
		{Name: "Double", Type: record.Double},
		{Name: "Bool", Type: record.Bool},
		{Name: "Date", Type: record.DateTime},
		{Name: "Bytes", Type: record.Bytes},
	}
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	null := row.Cell{Null: true}
	cells := [][]row.Cell{
		{
			text("=1+1"),
			{Int: 42},
			{Int: 1234567890123},
			text("12.3400"),
			text("0.30000000000000004"),
			{Int: 1},
			text("2019-05-01T10:11:12.1230000"),
			text("\x00\x01"),
		},
		{
			text("line\r\nbreak _x0041_ 日本 😀 <&>\""),
			{Int: -7},
			{Int: 9223372036854775807},
			text("-99999999999999999999999999999999999999"),
			text("5e-324"),
			{Int: 0},
			text("1753-01-01T00:00:00.0000000"),
			text(""),
		},
		{null, null, null, null, null, null, null, null},
		{
			text(" lead and trail "),
			{Misfit: true, Class: row.Text, Data: []byte("10A")},
			{Misfit: true, Class: row.Real, Data: []byte("2.5")},
			text("0"),
			text("+Inf"),
			{Misfit: true, Class: row.Text, Data: []byte("yes")},
			text("2026-01-02"),
			{Misfit: true, Class: row.Text, Data: []byte("text")},
		},
	}

	want = [][][2]string{
		{
			{"string", "Text"}, {"string", "Int"}, {"string", "Long"},
			{"string", "Decimal"}, {"string", "Double"}, {"string", "Bool"},
			{"string", "Date"}, {"string", "Bytes"},
		},
		{
			{"string", "=1+1"},
			{"number", "42"},
			{"number", "1234567890123"},
			{"number", "12.34"},
			{"number", "0.30000000000000004"},
			{"boolean", "true"},
			{"date", "2019-05-01T10:11:12.123Z"},
			{"string", "AAE="},
		},
		{
			{"string", "line\r\nbreak _x0041_ 日本 😀 <&>\""},
			{"number", "-7"},
			{"string", "9223372036854775807"},
			{"string", "-99999999999999999999999999999999999999"},
			{"number", "5e-324"},
			{"boolean", "false"},
			{"string", "1753-01-01T00:00:00.0000000"},
			{"null", ""},
		},
		{
			{"null", ""}, {"null", ""}, {"null", ""}, {"null", ""}, {"null", ""},
			{"null", ""}, {"null", ""}, {"null", ""},
		},
		{
			{"string", " lead and trail "},
			{"string", "10A"},
			{"string", "2.5"},
			{"number", "0"},
			{"string", "+Inf"},
			{"string", "yes"},
			{"string", "2026-01-02"},
			{"string", "text"},
		},
	}
	return result(format(t, "xlsx"), Shape{Record: "Rows", Columns: columns}, cells, Tail{}), want
}

// checkWorkbookCells compares the cells that a reader has found.
func checkWorkbookCells(t *testing.T, reader string, got, want [][][2]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s read %d rows, want %d: %q", reader, len(got), len(want), got)
	}
	for i, cells := range want {
		if !slices.Equal(got[i], cells) {
			t.Errorf("%s, row %d: got %q, want %q", reader, i+1, got[i], cells)
		}
	}
}

// TestWorkbookInReaders: other programs read the cells of a workbook with the types and values
// that were written.
func TestWorkbookInReaders(t *testing.T) {
	dir := clientstest.NodeModules(t, "workbooks")
	workbook, want := readableWorkbook(t)
	for name, content := range map[string]string{"rows.xlsx": string(workbook), "read.cjs": workbookReader} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), "read.cjs")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading the workbook: %v\n%s", err, stderr.String())
	}
	var got map[string][][][2]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for _, reader := range []string{"exceljs", "sheetjs"} {
		checkWorkbookCells(t, reader, got[reader], want)
	}
}

// TestWorkbookInReadersOfGo is TestWorkbookInReaders for excelize. Its program has a module of its
// own. It leaves escapes of characters that need none unread.
func TestWorkbookInReadersOfGo(t *testing.T) {
	if !clientstest.Wanted() {
		t.Skip("make clients runs this test: it fetches a module")
	}
	workbook, want := readableWorkbook(t)
	file := filepath.Join(t.TempDir(), "rows.xlsx")
	if err := os.WriteFile(file, workbook, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "go"), "run", ".", file)
	cmd.Dir = filepath.Join("testdata", "excelize")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading the workbook: %v\n%s", err, stderr.String())
	}
	var got [][][2]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	checkWorkbookCells(t, "excelize", got, want)
}
