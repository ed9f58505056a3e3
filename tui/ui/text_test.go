package ui_test

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Quoted text has no characters that the screen replaces, and a shell reads the original
// text.
func TestQuoteEscapesHiddenCharacters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shells of Windows have no such quotes")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	isHidden := func(r rune) bool { return display.Escape(r) != "" }
	for _, text := range []string{
		"plain",
		`a "b" $c`,
		"line\nbreak\ttab",
		"esc\x1b[31m0",
		"it's \\ \x07!",
		"zero\u200bwidth \u0085 é 世",
		"\xff$\n",
	} {
		quoted := ui.Quote(text)
		if strings.ContainsFunc(quoted, isHidden) {
			t.Errorf("%q is quoted as %q, want no hidden characters", text, quoted)
		}
		got, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(got) != text {
			t.Errorf("bash reads %s as %q, error %v; want %q", quoted, got, err, text)
		}
	}
}

func TestMaskURLHidesSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.test/x":             "https://a.test/x",
		"https://a.test/x?key=1&b=2&c": "https://a.test/x?key=" + ui.SecretMask + "&b=" + ui.SecretMask + "&" + ui.SecretMask,
		"https://user:word@a.test/":    "https://user:" + ui.SecretMask + "@a.test/",
		"::not an address":             "::not an address",
	} {
		if got := ui.MaskURL(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestMillisecondsFormat(t *testing.T) {
	for text, want := range map[string]string{
		"PT0S":         "0.0 ms",
		"PT0.0003985S": "0.4 ms",
		"PT0.00999S":   "10.0 ms",
		"PT0.01S":      "10 ms",
		"PT0.0123S":    "12 ms",
		"PT30S":        "30,000 ms",
		"PT1H0S":       "3,600,000 ms",
		"soon":         "soon",
	} {
		if got := ui.Milliseconds(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// The texts of an HTML answer that tags separate stay separate words.
func TestFirstLineOfHTML(t *testing.T) {
	for answer, want := range map[string]string{
		"<h1>500</h1><p>Internal Server Error</p>":  "500 Internal Server Error",
		"<html>\n<head><title>Bad  gateway</title>": "Bad gateway",
		"plain  text":                "plain  text",
		"{\"a\":  1}":                "{\"a\":  1}",
		"\r\n  first\nsecond":        "first",
		"<br/>\n<b>shop</b> unknown": "shop unknown",
	} {
		if got := ui.FirstLine(wire.Attempt{AnswerText: &answer}); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}

// Shares, durations and names of endpoints are short, and never rounded to all or nothing.
func TestShortValues(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.996: "99.6 %", 0.99999: "99.9 %", 0.00001: "0.1 %", 0.5: "50.0 %",
	} {
		if got := ui.Percent(share); got != want {
			t.Errorf("the share %v is %q, want %q", share, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		649_800 * time.Nanosecond: "0.6 ms",
		4 * time.Millisecond:      "4 ms",
		27 * time.Millisecond:     "27 ms",
		1200 * time.Millisecond:   "1.2 s",
		15 * time.Second:          "15 s",
	} {
		if got := ui.Took(d); got != want {
			t.Errorf("the duration %v is %q, want %q", d, got, want)
		}
	}
	for url, want := range map[string]string{
		"https://billing.test/creditors": "billing.test /creditors",
		"https://billing.test/":          "billing.test",
		"https://a.test:8443/x/y?key=1":  "a.test:8443 /x/y?..",
	} {
		if got := ui.EndpointName(url); got != want {
			t.Errorf("the endpoint %s is %q, want %q", url, got, want)
		}
	}
}

// Times are an age, or a time of day with the date of another day.
func TestShortTimes(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 2, 0, 0, time.UTC)
	c := ui.Clock{Now: now, Zone: time.UTC}
	earlier := now.Add(-2 * time.Minute)
	later := now.Add(6 * time.Minute)
	relative := []string{c.ShortSince(earlier), c.ShortUntil(later), c.ShortUntil(now)}
	if want := []string{"2m ago", "in 6m", "now"}; !slices.Equal(relative, want) {
		t.Errorf("relative times are %q, want %q", relative, want)
	}
	c.Times = ui.Local
	old := now.Add(-48 * time.Hour)
	got := []string{c.ShortSince(earlier), c.ShortUntil(later), c.ShortSince(old), c.ShortTime(time.Time{})}
	if want := []string{"14:00", "at 14:08", "06-29 14:02", "-"}; !slices.Equal(got, want) {
		t.Errorf("local times are %q, want %q", got, want)
	}
}
