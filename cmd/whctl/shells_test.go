//go:build linux

package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// typedLines are lines as they are typed, up to the tab, and what they become.
var typedLines = map[string]string{
	"whctl quer":                               "whctl query ",
	"whctl query SO_":                          "whctl query SO_Totals ",
	"whctl query SO_Totals --field":            "whctl query SO_Totals --fields ",
	"whctl query SO_Totals --fields InvoiceT":  "whctl query SO_Totals --fields InvoiceTotal ",
	"whctl query SO_Totals --format=nd":        "whctl query SO_Totals --format=ndjson",
	"whctl query SO_Totals -w InvoiceIDStarts": "whctl query SO_Totals -w InvoiceIDStartsWith=",
	"whctl profile us":                         "whctl profile use ",
}

// In a real bash and a real zsh, on a terminal: the line, a tab, and what stands
// on the screen then.
func TestLinesAreCompleted(t *testing.T) {
	for _, s := range []struct {
		name  string
		args  []string
		ready string // sets the shell up, and says so
	}{
		{"bash", []string{"--norc", "--noprofile"}, "PS1=; bind 'set enable-bracketed-paste off'; eval \"$(whctl completion bash)\"; echo re''ady\n"},
		{"zsh", []string{"-f"}, "PS1=; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; source <(whctl completion zsh); echo re''ady\n"},
	} {
		t.Run(s.name, func(t *testing.T) {
			path := clientstest.Tool(t, s.name)
			for typed, want := range typedLines {
				c := converseWith(t, exec.CommandContext(t.Context(), path, append(s.args, "-i")...), "http://127.0.0.1:1")
				c.typeKeys(s.ready)
				c.await("ready\r\n")
				c.seen = nil
				c.typeKeys(typed + "\t")
				c.await(strings.TrimSpace(want)) // zsh puts signs before a blank
				c.leave()
			}
		})
	}
}

// A real fish tells what it would offer.
func TestFishOffers(t *testing.T) {
	path := clientstest.Tool(t, "fish")
	for typed, want := range typedLines {
		cmd := exec.CommandContext(t.Context(), path, "--no-config", "-c", "whctl completion fish | source; complete -C $argv[1]", typed)
		cmd.Env = append(cmd.Environ(), profile.EnvURL+"=http://127.0.0.1:1", "HOME="+t.TempDir())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(want)
		var offered []string
		for line := range strings.Lines(string(out)) {
			value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			offered = append(offered, value)
		}
		if !slices.Contains(offered, words[len(words)-1]) {
			t.Errorf("%q: fish offers %q", typed, offered)
		}
	}
}
