package main

import (
	"strings"
	"testing"
)

// The manual page has every command and flag, and no text line that roff would
// interpret as a request.
func TestManual(t *testing.T) {
	got := invocation{}.run(t, "man")
	if got.code != 0 || !strings.HasPrefix(got.stdout, ".TH \"WHCTL\" \"1\"") {
		t.Fatalf("whctl man: got %.200v; want exit code 0 and a manual page", got)
	}
	escape := strings.NewReplacer("-", `\-`)
	for _, l := range leaves(testApp().Commands) {
		heading := escape.Replace(strings.TrimSpace("whctl " + l.String() + " " + l.ArgsUsage))
		if !strings.Contains(got.stdout, ".SS \""+heading) {
			t.Errorf("whctl man: the command %s is missing", l)
		}
		for _, f := range l.Flags {
			if !strings.Contains(got.stdout, escape.Replace("--"+f.Names()[0])) {
				t.Errorf("whctl man: the flag --%s of %s is missing", f.Names()[0], l)
			}
		}
	}
	for line := range strings.Lines(got.stdout) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch request {
		case ".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi":
			continue
		}
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			t.Errorf("whctl man: roff interprets the text line %q", line)
		}
	}
}
