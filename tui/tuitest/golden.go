package tuitest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Sizes are the terminal sizes of golden files.
var Sizes = [...][2]int{{80, 24}, {60, 15}, {120, 40}, {200, 60}}

// appearances are the appearances of golden files, by the names in their file names.
var appearances = [...]struct {
	name       string
	appearance tui.Appearance
}{
	{"colour", tui.Appearance{Theme: theme.Dark}},
	{"mono", tui.Appearance{Theme: theme.Mono}},
	{"ascii", tui.Appearance{Theme: theme.Mono, ASCII: true}},
}

// volatileText are patterns that differ between runs, with replacements of the same
// length.
var volatileText = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d{1,5}`), "127.0.0.1:40404"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "1f0c2ab4-0000-4000-8000-0000000f9ab2"},
	{regexp.MustCompile(`\b[0-9a-f]{4}\.\.[0-9a-f]{4}\b`), "1f0c..9ab2"},
	{regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`), "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0LCBub3Qgb25lIHRoYXQ="},
	{regexp.MustCompile(`until 20\d\d-\d\d-\d\d \d\d:\d\d(:07)?`), "until 2026-07-02 14:02"},
	{regexp.MustCompile(`at most [\d,]+ ms *`), "at most 1 ms" + blanks},
	{regexp.MustCompile(`after (< )?[\d,]+ ms *`), "after 0 ms" + blanks},
	{regexp.MustCompile(`took (< )?[\d,.]+ m?s *`), "took < 1 ms" + blanks},
	{regexp.MustCompile(`Unavailable, (< )?[\d.,]+ m?s *`), "Unavailable, 1 ms" + blanks},
	{regexp.MustCompile(`\b20[2-9]\d-\d\d-\d\d`), "2026-07-02"},
	{regexp.MustCompile(`Row version[^\n]*`), "Row version" + blanks},
	{regexp.MustCompile(`\b\d\d-\d\d \d\d:\d\d\b`), "07-02 14:02"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "14:02:07"},
	{regexp.MustCompile(`T\d\d:\d\d\b`), "T14:02"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "14:02"},
	{regexp.MustCompile(`in [12]\dh`), "in 20h"},
	{regexp.MustCompile(`without \d{3} of`), "without 112 of"},
	{regexp.MustCompile(`[ \d,<]{7}\d ms`), "       1 ms"},
}

// blanks fill up the rest of a line.
var blanks = strings.Repeat(" ", 300)

// Golden compares a screen with its golden file. A file has all sizes of one
// appearance.
func (d *Driver) Golden(name, appearance string) {
	d.T.Helper()
	d.GoldenIn(Sizes[:], name, appearance)
}

// GoldenIn is Golden with other sizes.
func (d *Driver) GoldenIn(sizes [][2]int, name, appearance string) {
	d.T.Helper()
	var out strings.Builder
	for _, size := range sizes {
		d.Resize(size[0], size[1])
		d.CheckScreen()
		fmt.Fprintf(&out, "== %dx%d\n%s\n", size[0], size[1], d.render(appearance))
	}
	d.Resize(80, 24)
	d.compare(name+"."+appearance, out.String())
	if appearance == "colour" {
		d.goldenPalettes(name)
	}
}

func (d *Driver) compare(name, screens string) {
	d.T.Helper()
	goldentest.Compare(d.T, filepath.Join("testdata", name+".golden"), screens)
}

// palettes are the numbers of colours and the themes that differ from the appearance colour, by
// the names in golden files.
var palettes = [...]struct {
	name    string
	colours theme.Colours
	palette string
}{
	{"light", theme.TrueColour, theme.Light},
	{"256", theme.Colours256, theme.Dark},
	{"256 light", theme.Colours256, theme.Light},
	{"16", theme.Colours16, theme.Dark},
	{"16 light", theme.Colours16, theme.Light},
}

// goldenPalettes compares a screen in the other palettes with its golden file.
func (d *Driver) goldenPalettes(name string) {
	d.T.Helper()
	var out strings.Builder
	current := d.App.Session.Theme
	original := *current
	for _, p := range palettes {
		*current = *theme.NewIn(p.colours, theme.Full, p.palette)
		d.CheckScreen()
		fmt.Fprintf(&out, "== 80x24 %s\n%s\n", p.name, d.render("colour"))
	}
	*current = original
	d.compare(name+".palettes", out.String())
}

// GoldenConsoles compares a screen in the frames with the light palette, and with the glyphs of
// consoles that have few, with its golden files.
func (d *Driver) GoldenConsoles(name string) {
	d.T.Helper()
	current := d.App.Session.Theme
	original := *current
	for file, t := range map[string]*theme.Theme{
		"light":   theme.NewIn(theme.TrueColour, theme.Full, theme.Light),
		"console": theme.New(theme.Limited, theme.Dark),
	} {
		*current = *t
		var out strings.Builder
		for _, size := range Sizes {
			if size[0] < ui.FrameMinWidth {
				continue
			}
			d.Resize(size[0], size[1])
			d.CheckScreen()
			fmt.Fprintf(&out, "== %dx%d\n%s\n", size[0], size[1], d.render("colour"))
		}
		d.compare(name+"."+file, out.String())
	}
	*current = original
	d.Resize(80, 24)
}

// render returns the screen as text, with styles as {1;31} except in the ascii
// appearance.
func (d *Driver) render(appearance string) string {
	text := d.App.View()
	if appearance != "ascii" {
		text = sgr.ReplaceAllString(text, "{$1}")
	}
	text = ansi.Strip(text)
	for _, p := range volatileText {
		text = p.pattern.ReplaceAllStringFunc(text, func(original string) string {
			return p.replacement[:min(len(original), len(p.replacement))]
		})
	}
	return cutPort.ReplaceAllStringFunc(text, func(port string) string {
		return digit.ReplaceAllString(port, "0")
	})
}

// cutPort matches the port of an address that is truncated in the middle, and digit its digits.
var (
	cutPort = regexp.MustCompile(`:\d{0,5}[…~]\d{0,5}/|[…~]\d{1,5}/|:\d{1,4}[…~]`)
	digit   = regexp.MustCompile(`\d`)
)

// sgr matches a change of style, and styled how a golden file has it.
var (
	sgr    = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	styled = regexp.MustCompile(`\{([0-9;]*)\}`)
)

// ForAppearances runs a test in each appearance.
func ForAppearances(t *testing.T, test func(t *testing.T, appearance string, o tui.Options)) {
	for _, a := range appearances {
		t.Run(a.name, func(t *testing.T) {
			test(t, a.name, tui.Options{Appearance: a.appearance, Profile: "prod"})
		})
	}
}
