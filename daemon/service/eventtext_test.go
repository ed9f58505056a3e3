package service

import (
	"strings"
	"testing"
)

func TestEventText(t *testing.T) {
	longest := strings.Repeat("a", maxEventText)
	short := strings.Repeat("a", maxEventText-3) + "..."
	const musical = "\U0001d11e" // two units in UTF-16
	for _, tt := range []struct {
		name string
		text string
		want string
	}{
		{name: "a line of the log", text: "msg=failed err=\"a\\nb\"\n", want: `msg=failed err="a\nb"`},
		{name: "a line break within", text: "first\nsecond\r\n", want: "first\nsecond"},
		{name: "a zero byte", text: "a\x00b", want: `a\x00b`},
		{name: "the longest text", text: longest, want: longest},
		{name: "the longest text and a line break", text: longest + "\n", want: longest},
		{name: "a longer text", text: longest + "a", want: short},
		{
			name: "the longest text of surrogate pairs",
			text: strings.Repeat(musical, maxEventText/2),
			want: strings.Repeat(musical, maxEventText/2),
		},
		{
			name: "a longer text of surrogate pairs",
			text: strings.Repeat(musical, maxEventText/2+1),
			want: strings.Repeat(musical, maxEventText/2-2) + "...",
		},
		{
			name: "zero bytes that are too long when escaped",
			text: strings.Repeat("\x00", maxEventText),
			want: strings.Repeat(`\x00`, maxEventText/4)[:maxEventText-3] + "...",
		},
	} {
		if got := eventText(tt.text); got != tt.want {
			t.Errorf("%s: got %d bytes, %.40q, want %d, %.40q", tt.name, len(got), got, len(tt.want), tt.want)
		}
	}
}
