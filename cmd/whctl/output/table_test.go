package output

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/theme"
)

func TestTable(t *testing.T) {
	lines := []string{
		`{"ID":"D100512","Total":40002.1500,"Saved":"2026-07-08T09:10:11.0000000","Note":"plain"}`,
		`{"ID":"00123","Saved":"2026-07-08T09:10:11.1230000","Note":"` + strings.Repeat("long ", 20) + `"}`,
		`{"ID":"\u65e5\u672c\u8a9e","Total":-1,"Note":"e\u0301 tab\t line\n esc\u001b[31m"}`,
	}
	columns := []Column{
		{Name: "ID", Type: record.Text},
		{Name: "Total", Type: record.Decimal},
		{Name: "Saved", Type: record.DateTime},
		{Name: "Note", Type: record.Text},
		{Name: "A_rather_long_name_of_a_column_in_a_table", Type: record.Text},
	}
	var text strings.Builder
	for _, width := range []int{200, 80, 50, 20, 5} {
		var notice string
		l := layout{
			columns:   columns,
			width:     width,
			choosable: true,
			null:      "-",
			notice:    func(format string, args ...any) { notice = fmt.Sprintf(format+"\n", args...) },
		}
		fmt.Fprintf(&text, "--- %d cells wide\n%s%s", width, printed(t, "table", l, lines...), notice)
	}
	golden(t, "table", text.String())
}

// The notice about hidden columns only names flags that the command has.
func TestHiddenColumnsNotice(t *testing.T) {
	columns := []Column{{Name: "First", Type: record.Text}, {Name: "Second", Type: record.Text}}
	for choosable, advice := range map[bool]string{
		true:  "choose with --fields",
		false: "show with --format vertical",
	} {
		var notice string
		l := layout{
			columns:   columns,
			width:     8,
			choosable: choosable,
			notice:    func(format string, args ...any) { notice = fmt.Sprintf(format, args...) },
		}
		printed(t, "table", l, `{}`)
		if want := "hidden columns: Second  (" + advice + ")"; notice != want {
			t.Errorf("with --fields %t: got the notice %q, want %q", choosable, notice, want)
		}
	}
}

// TestLateValuesNotice prints rows with values in columns that were left out, since the first rows have
// none: the notice names them, and not those that stay empty.
func TestLateValuesNotice(t *testing.T) {
	table := Table{View: []ViewColumn{
		{Title: "A", Fields: "A", As: Words},
		{Title: "B", Fields: "B", As: Words, Rank: 1},
		{Title: "C", Fields: "C", As: Words, Rank: 2},
		{Title: "D", Fields: "D", As: Words, Rank: 3},
	}}
	first := slices.Repeat([]string{`{"A":"x"}`}, tableSample)
	for _, test := range []struct {
		later []string
		want  string
	}{
		{[]string{`{"A":"x"}`}, ""},
		{
			[]string{`{"A":"x","D":"y"}`, `{"A":"x","B":"y","D":"z"}`},
			"hidden columns: B, D  (choose with --fields)",
		},
	} {
		var notice string
		l := layout{
			out:       &Sink{Writer: bufio.NewWriter(io.Discard)},
			view:      newView(table, Screen{Theme: new(theme.Theme), Zone: time.UTC}),
			width:     80,
			choosable: true,
			notice:    func(format string, args ...any) { notice = fmt.Sprintf(format, args...) },
		}
		writeRows(t, newTable(l), slices.Concat(first, test.later))
		if notice != test.want {
			t.Errorf("rows that end with %v: got the notice %q, want %q", test.later, notice, test.want)
		}
	}
}

// No line of a table is wider than the terminal, not even after the rows that determine
// the widths.
func TestTableFitsTerminal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var columns []Column
		for i := range rapid.IntRange(1, 8).Draw(rt, "columns") {
			fieldType := rapid.SampledFrom(record.Types()).Draw(rt, "type")
			columns = append(columns, Column{Name: fmt.Sprintf("Column%d", i), Type: fieldType})
		}
		row := map[string]string{}
		for _, c := range columns {
			row[c.Name] = rapid.StringN(0, 60, -1).Draw(rt, "cell")
		}
		line, err := json.Marshal(row)
		if err != nil {
			rt.Fatal(err)
		}
		lines := []string{`{}`}
		if rapid.Bool().Draw(rt, "late") {
			lines = slices.Repeat(lines, tableSample+1)
		}
		lines = append(lines, string(line))
		width := rapid.IntRange(1, 120).Draw(rt, "width")
		text := printed(t, "table", layout{columns: columns, width: width}, lines...)
		if n := strings.Count(text, "\n"); n != len(lines)+1 {
			rt.Fatalf("got %d lines for %d rows, want one more", n, len(lines))
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if got := ansi.StringWidthWc(line); got > width {
				rt.Fatalf("the line %q has %d cells, the terminal %d", line, got, width)
			}
			isControl := func(r rune) bool { return display.Escape(r) != "" }
			if strings.ContainsFunc(line, isControl) {
				rt.Fatalf("the line %q has control characters", line)
			}
		}
	})
}

// A character split over several writes is sanitized like one that is not.
func TestWriterSanitizesSplitCharacters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		special := rapid.SampledFrom([]rune("a\n\t\x1b\u009b\u202eé\U000e0001"))
		text := rapid.OneOf(rapid.String(), rapid.StringOf(special)).Draw(rt, "text")
		want := string(display.AppendSanitized(nil, []byte(text), "\n\t"))
		var got strings.Builder
		w := &display.Writer{To: &got}
		for remainder := []byte(text); len(remainder) > 0; {
			n := rapid.IntRange(1, len(remainder)).Draw(rt, "piece")
			written, err := w.Write(remainder[:n])
			if err != nil || written != n {
				rt.Fatalf("writing %q: got %d, error %v; want %d", remainder[:n], written, err, n)
			}
			remainder = remainder[n:]
		}
		if got.String() != want {
			rt.Fatalf("writing %q in pieces: got %q, want %q", text, got.String(), want)
		}
	})
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0:       "0",
		999:     "999",
		1000:    "1,000",
		12403:   "12,403",
		1234567: "1,234,567",
	} {
		if got := display.Thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
