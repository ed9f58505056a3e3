package theme

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// Text in every colour of the palette is readable on the usual backgrounds, and on those of the
// palette: WCAG 2 requires a contrast of 4.5:1.
func TestPaletteContrast(t *testing.T) {
	shown := map[string]shade{
		"text": text, "dim": dim, "accent": accent, "ok": ok, "warning": warning, "failure": failure,
	}
	for _, test := range []struct {
		name        string
		variant     func(shade) lipgloss.CompleteColor
		backgrounds []string
	}{
		{"dark", func(s shade) lipgloss.CompleteColor { return s.Dark }, []string{"#000000", "#1e1e1e"}},
		{"light", func(s shade) lipgloss.CompleteColor { return s.Light }, []string{"#ffffff", "#fdf6e3"}},
	} {
		for _, colour := range []struct {
			name string
			of   func(lipgloss.CompleteColor) string
		}{
			{"true colour", func(c lipgloss.CompleteColor) string { return c.TrueColor }},
			{"256 colours", func(c lipgloss.CompleteColor) string { return rgbOf(t, c.ANSI256) }},
		} {
			backgrounds := append(test.backgrounds,
				colour.of(test.variant(selection)), colour.of(test.variant(panel)))
			for name, shade := range shown {
				for _, background := range backgrounds {
					foreground := colour.of(test.variant(shade))
					if got := contrast(t, foreground, background); got < 4.5 {
						t.Errorf("%s, %s: %s %s on %s has a contrast of %.2f, want at least 4.5",
							test.name, colour.name, name, foreground, background, got)
					}
				}
			}
			on := colour.of(test.variant(accent))
			if got := contrast(t, colour.of(test.variant(inverse)), on); got < 4.5 {
				t.Errorf("%s, %s: inverse on %s has a contrast of %.2f", test.name, colour.name, on, got)
			}
		}
	}
}

// contrast returns the contrast of two colours, from 1 to 21.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	brighter, darker := luminance(t, a), luminance(t, b)
	if brighter < darker {
		brighter, darker = darker, brighter
	}
	return (brighter + 0.05) / (darker + 0.05)
}

// luminance returns the relative luminance of a colour like #1e1e1e.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var r, g, b uint8
	if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("%q is not a colour: %v", colour, err)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// linear returns the intensity of a part of an sRGB colour.
func linear(part uint8) float64 {
	v := float64(part) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// rgbOf returns the colour with a number above 15, which is the same in all terminals: a cube with
// six steps per side, and greys.
func rgbOf(t *testing.T, number string) string {
	t.Helper()
	n, err := strconv.Atoi(number)
	if err != nil || n < 16 || n > 255 {
		t.Fatalf("%q is not the number of a fixed colour", number)
	}
	if n >= 232 {
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	steps := [...]int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
}

// The colours are those that termenv finds. NO_COLOR is a setting of the program, which selects
// the mono theme.
func TestColoursFromEnv(t *testing.T) {
	for _, test := range []struct {
		env  []string
		want Colours
	}{
		{nil, Colours16},
		{[]string{"TERM=xterm"}, Colours16},
		{[]string{"TERM=linux"}, Colours16},
		{[]string{"TERM=xterm-256color"}, Colours256},
		{[]string{"TERM=tmux-256color"}, Colours256},
		{[]string{"TERM=xterm-256color", "COLORTERM=truecolor"}, TrueColour},
		{[]string{"TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=1"}, TrueColour},
	} {
		if got := ColoursFromEnv(env(test.env...)); got != test.want {
			t.Errorf("%v: got %d, want %d", test.env, got, test.want)
		}
	}
}
