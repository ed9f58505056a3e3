package theme

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
)

// What a user can choose of how everything looks. The first of each finds the
// best by itself.
const (
	Auto = "auto"

	Dark  = "dark"
	Light = "light"
	Mono  = "mono" // no colours

)

// The sets of what lines and signs are drawn with.
const (
	Full    = "full"    // all signs that fonts of today have
	Limited = "limited" // those of the fonts of Windows' old console (WGL4)
	ASCII   = "ascii"
)

// Themes are the palettes.
func Themes() []string { return []string{Auto, Dark, Light, Mono} }

// GlyphSet is the set for a terminal, by what the environment says of it.
func GlyphSet(system string, env func(string) string) string {
	switch {
	case asciiTerminal(env):
		return ASCII
	case system == "windows" && env("WT_SESSION") == "" && !slices.Contains([]string{"vscode", "WezTerm"}, env("TERM_PROGRAM")):
		return Limited
	}
	return Full
}

// asciiTerminal reports whether a terminal says that it has no signs but those
// of ASCII, or that it may draw them two cells wide.
func asciiTerminal(env func(string) string) bool {
	if term := env("TERM"); term == "linux" || term == "dumb" {
		return true
	}
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	if locale == "" {
		return false
	}
	coded := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	east := slices.ContainsFunc([]string{"ja", "ko", "zh"}, func(word string) bool { return strings.HasPrefix(coded, word+"_") })
	return east || !strings.Contains(coded, "utf8")
}

// ThemeFromEnv is what the environment says of the background, empty for
// nothing: COLORFGBG ends with the number of its colour, as rxvt began it.
func ThemeFromEnv(env func(string) string) string {
	numbers := strings.Split(env("COLORFGBG"), ";")
	switch numbers[len(numbers)-1] {
	case "":
		return ""
	case "7", "15":
		return Light
	}
	return Dark
}

// CanQueryBackground reports whether a terminal may be asked for its background: one that is
// near, so that the answer does not come when keys are expected.
func CanQueryBackground(env func(string) string) bool {
	term := env("TERM")
	return runtime.GOOS != "windows" && term != "" && !asciiTerminal(env) && env("SSH_TTY") == "" && env("SSH_CONNECTION") == "" && term != "screen" && !strings.HasPrefix(term, "screen.")
}
