package ui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

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
		{`{"a":1.50,"b":"x\"y: z","c":[null,true,-2e9],"":{}}`, 80, "{\n  N\"a\": V1.50,\n  N\"b\": T\"x\\\"y: z\",\n  N\"c\": [\n    Vnull,\n    Vtrue,\n    V-2e9\n  ],\n  N\"\": {}\n}"},
		{`{"amount":12345678901234567890123456789.000000000000000000001}`, 80, "{\n  N\"amount\": V12345678901234567890123456789.000000000000000000001\n}"},
		{`{"text":"0123456789\"{}[]1: \"x"}`, 20, "{\n  N\"text\": T\"012345678\nT9\\\"{}[]1: \\\"x\"\n}"},
		{`["a","b"]`, 80, "[\n  T\"a\",\n  T\"b\"\n]"},
		{`no JSON: "at" 1`, 80, `no JSON: "at" 1`},
		{``, 80, ""},
	} {
		lines := ui.JSONLines([]byte(test.text), test.width)
		styled := ui.StyleJSON(lines)
		names := map[theme.Role]string{theme.JSONName: "N", theme.JSONText: "T", theme.JSONValue: "V", theme.Plain: ""}
		var got []string
		for i, line := range lines {
			if styled == nil {
				got = append(got, line.Text)
				continue
			}
			var b, plain strings.Builder
			for _, piece := range styled[i] {
				b.WriteString(names[piece.Role] + piece.Text)
				plain.WriteString(piece.Text)
			}
			if plain.String() != line.Text {
				t.Errorf("%q became %q", line.Text, plain.String())
			}
			got = append(got, b.String())
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.text, text, test.want)
		}
	}
}

// Any text is drawn unchanged at the right width.
func FuzzStyleJSON(f *testing.F) {
	for _, text := range []string{`{"a":"b"}`, `{"\u0022":[1,2]}`, "{", `["`, "{\"a\\", "[\x1b[31m\"\x00", `{"小":"売"}`} {
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
		for i, pieces := range p.Data.Styled {
			var b strings.Builder
			for _, piece := range pieces {
				b.WriteString(piece.Text)
			}
			if b.String() != p.Lines[i].Text {
				t.Errorf("%q became %q", p.Lines[i].Text, b.String())
			}
		}
	})
}

func BenchmarkStyleJSON(b *testing.B) {
	lines := ui.JSONLines([]byte(`[`+strings.Repeat(`{"InvoiceID":"D100418","InvoiceTotal":98310.00,"Paid":null},`, 4000)+`1]`), 100)
	b.ReportAllocs()
	for b.Loop() {
		ui.StyleJSON(lines)
	}
}
