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
		t.Fatalf("%+v", got)
	}
	for _, l := range leaves(testApp().Commands) {
		if heading := strings.ReplaceAll("whctl "+strings.TrimSpace(l.String()+" "+l.ArgsUsage), "-", `\-`); !strings.Contains(got.stdout, ".SS \""+heading) {
			t.Errorf("%s is missing", l)
		}
		for _, f := range l.Flags {
			if !strings.Contains(got.stdout, strings.ReplaceAll("--"+f.Names()[0], "-", `\-`)) {
				t.Errorf("--%s is missing", f.Names()[0])
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
			t.Errorf("line %q", line)
		}
	}
}
