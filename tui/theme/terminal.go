package theme

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// The themes. Auto selects one by the background of the terminal.
const (
	Auto = "auto"

	Dark  = "dark"
	Light = "light"
	Mono  = "mono" // no colours
)

// The glyph sets.
const (
	Full    = "full"    // all symbols of current fonts
	Limited = "limited" // symbols of the fonts of the legacy Windows console (WGL4)
	ASCII   = "ascii"
)

// Themes lists the themes that can be configured.
func Themes() []string { return []string{Auto, Dark, Light, Mono} }

// GlyphSet returns the glyph set for an operating system and the environment of a
// terminal.
func GlyphSet(system string, env func(string) string) string {
	if asciiTerminal(env) {
		return ASCII
	}
	program := env("TERM_PROGRAM")
	isModern := env("WT_SESSION") != "" || program == "vscode" || program == "WezTerm"
	if system == "windows" && !isModern {
		return Limited
	}
	return Full
}

// asciiTerminal reports whether a terminal supports only ASCII, or may draw other
// symbols two cells wide.
func asciiTerminal(env func(string) string) bool {
	if term := env("TERM"); term == "linux" || term == "dumb" {
		return true
	}
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	if locale == "" {
		return false
	}
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	language, _, hasRegion := strings.Cut(locale, "_")
	isEastAsian := hasRegion && slices.Contains(eastAsian, language)
	return isEastAsian || !strings.Contains(locale, "utf8")
}

// eastAsian are the languages of locales in which terminals may draw symbols two cells wide.
var eastAsian = []string{"ja", "ko", "zh"}

// The numbers of the light colours in the palette of a terminal.
const (
	paletteWhite       = 7
	paletteBrightWhite = 15
)

// ThemeFromEnv returns the theme for the background colour in COLORFGBG, "" if that does not name it.
// The last field of COLORFGBG, which rxvt introduced, is the number of the background colour in the
// palette, or "default" for a background that is not in the palette.
func ThemeFromEnv(env func(string) string) string {
	value := env("COLORFGBG")
	background, err := strconv.Atoi(value[strings.LastIndex(value, ";")+1:])
	if err != nil {
		return ""
	}
	if background == paletteWhite || background == paletteBrightWhite {
		return Light
	}
	return Dark
}

// CanQueryBackground reports whether a terminal, of an operating system and with an environment, can
// be queried for its background colour.
func CanQueryBackground(system string, env func(string) string) bool {
	term := env("TERM")
	isScreen := term == "screen" || strings.HasPrefix(term, "screen.")
	isCapable := term != "" && !asciiTerminal(env) && !isScreen
	return system != "windows" && isCapable
}
