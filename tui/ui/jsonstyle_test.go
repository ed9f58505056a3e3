package ui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Names, strings and other values have different styles, also on lines that were split;
// the text is unchanged.
func TestStyleJSONKeepsText(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string // N, T, V precede text of that style
	}{
		{
			`{"a":1.50,"b":"x\"y: z","c":[null,true,-2e9],"":{}}`,
			80,
			`{
  N"a": V1.50,
  N"b": T"x\"y: z",
  N"c": [
    Vnull,
    Vtrue,
    V-2e9
  ],
  N"": {}
}`,
		},
		{
			`{"amount":12345678901234567890123456789.000000000000000000001}`,
			80,
			`{
  N"amount": V12345678901234567890123456789.000000000000000000001
}`,
		},
		{
			`{"text":"0123456789\"{}[]1: \"x"}`,
			20,
			`{
  N"text": T"012345678
T9\"{}[]1: \"x"
}`,
		},
		{
			`["a","b"]`,
			80,
			`[
  T"a",
  T"b"
]`,
		},
		{`no JSON: "at" 1`, 80, `no JSON: "at" 1`},
		{``, 80, ""},
	} {
		lines := ui.JSONLines([]byte(test.text), test.width)
		styled := ui.StyleJSON(lines)
		var got []string
		for i, line := range lines {
			if styled == nil {
				got = append(got, line.Text)
				continue
			}
			if text := plainText(styled[i]); text != line.Text {
				t.Errorf("the styled text of %q is %q, want no change", line.Text, text)
			}
			got = append(got, markedText(styled[i]))
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.text, text, test.want)
		}
	}
}

// plainText returns the text of spans.
func plainText(spans []theme.Span) string {
	return strings.Join(record.Texts(spans, func(s theme.Span) string { return s.Text }), "")
}

// markedText returns the text of spans, each after the mark of its role.
func markedText(spans []theme.Span) string {
	marks := map[theme.Role]string{theme.JSONName: "N", theme.JSONText: "T", theme.JSONValue: "V"}
	return strings.Join(record.Texts(spans, func(s theme.Span) string { return marks[s.Role] + s.Text }), "")
}

// Any text is drawn unchanged at the right width.
func FuzzStyleJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":"b"}`, `{"\u0022":[1,2]}`, "{", `["`, "{\"a\\", "[\x1b[31m\"\x00", `{"小":"売"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := &tui.App{Session: &ui.Session{Theme: theme.New(theme.Full, theme.Dark)}}
		p := ui.Pager{Owner: ui.NewHostSession(a)}
		p.Resize(40, 10)
		p.SetJSON(ui.JSONLines([]byte(text), 38))
		for i, line := range p.Draw() {
			if w := ansi.StringWidth(line); w != 40 {
				t.Errorf("line %d of %q is %d wide: %q", i, text, w, line)
			}
		}
		for i, spans := range p.Data.Styled {
			if got := plainText(spans); got != p.Lines[i].Text {
				t.Errorf("the styled text of %q is %q, want no change", p.Lines[i].Text, got)
			}
		}
	})
}

func BenchmarkStyleJSON(b *testing.B) {
	rows := strings.Repeat(`{"InvoiceID":"D100418","InvoiceTotal":98310.00,"Paid":null},`, 4000)
	lines := ui.JSONLines([]byte(`[`+rows+`1]`), 100)
	b.ReportAllocs()
	for b.Loop() {
		ui.StyleJSON(lines)
	}
}
