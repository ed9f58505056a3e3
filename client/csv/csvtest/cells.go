// Package csvtest has cells that are hard to write as CSV, for the tests of all writers.
package csvtest

// Cell is a text with the form that it has in CSV, and in CSV for spreadsheets.
type Cell struct{ Text, CSV, Guarded string }

// Cells are texts that need quotes, or that spreadsheets read as formulas.
var Cells = []Cell{
	{"plain", "plain", "plain"},
	{"", "", ""},
	{" blank ", " blank ", " blank "},
	{"a,b", `"a,b"`, `"a,b"`},
	{`say "hi"`, `"say ""hi"""`, `"say ""hi"""`},
	{"two\nlines", "\"two\nlines\"", "\"two\nlines\""},
	{"two\r\nlines", "\"two\r\nlines\"", "\"two\r\nlines\""},
	{"lone\rCR", "\"lone\rCR\"", "\"lone\rCR\""},
	{"=1+1", "=1+1", "'=1+1"},
	{"+A12", "+A12", "'+A12"},
	{"-1", "-1", "'-1"},
	{"@SUM(1)", "@SUM(1)", "'@SUM(1)"},
	{"\t=1", "\t=1", "'\t=1"},
	{"\n=1", "\"\n=1\"", "\"'\n=1\""},
	{"\r=1", "\"\r=1\"", "\"'\r=1\""},
	{"\uff1d1+1", "\uff1d1+1", "'\uff1d1+1"},
	{"\uff0b1", "\uff0b1", "'\uff0b1"},
	{"\uff0d1", "\uff0d1", "'\uff0d1"},
	{"\uff20SUM(1)", "\uff20SUM(1)", "'\uff20SUM(1)"},
	{"=1,2", `"=1,2"`, `"'=1,2"`},
	{"日本 😀", "日本 😀", "日本 😀"},
	{"ID", "ID", "ID"},
}
