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

// typedLines has lines as typed up to Tab, and as completed.
var typedLines = map[string]string{
	"whctl quer":                               "whctl query ",
	"whctl query SO_":                          "whctl query SO_Totals ",
	"whctl query SO_Totals --field":            "whctl query SO_Totals --fields ",
	"whctl query SO_Totals --fields InvoiceT":  "whctl query SO_Totals --fields InvoiceTotal ",
	"whctl query SO_Totals --format=nd":        "whctl query SO_Totals --format=ndjson",
	"whctl query SO_Totals -w InvoiceIDStarts": "whctl query SO_Totals -w InvoiceIDStartsWith=",
	"whctl profile us":                         "whctl profile use ",
}

// Completion works in bash and zsh on a terminal.
func TestCompletionInBashAndZsh(t *testing.T) {
	for _, s := range []struct {
		name  string
		args  []string
		ready string // sets up the shell and prints ready, which the line itself does not have
	}{
		{
			name: "bash",
			args: []string{"--norc", "--noprofile"},
			ready: "PS1=; bind 'set enable-bracketed-paste off'; " +
				"eval \"$(whctl completion bash)\"; echo re''ady\n",
		},
		{
			name: "zsh",
			args: []string{"-f"},
			ready: "PS1=; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; " +
				"source <(whctl completion zsh); echo re''ady\n",
		},
	} {
		t.Run(s.name, func(t *testing.T) {
			path := clientstest.Tool(t, s.name)
			for line, want := range typedLines {
				shell := exec.CommandContext(t.Context(), path, append(s.args, "-i")...)
				c := startCommandOnTerminal(t, shell, "http://127.0.0.1:1")
				c.typeKeys(s.ready)
				c.await("ready\r\n")
				c.seen = nil
				c.typeKeys(line + "\t")
				c.await(strings.TrimSpace(want)) // zsh prints control characters before a trailing blank
				c.kill()
			}
		})
	}
}

// Completion works in fish, as printed by its command complete -C.
func TestCompletionInFish(t *testing.T) {
	path := clientstest.Tool(t, "fish")
	for line, want := range typedLines {
		const script = "whctl completion fish | source; complete -C $argv[1]"
		cmd := exec.CommandContext(t.Context(), path, "--no-config", "-c", script, line)
		cmd.Env = append(cmd.Environ(), profile.EnvURL+"=http://127.0.0.1:1", "HOME="+t.TempDir())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var offered []string
		for candidate := range strings.Lines(string(out)) {
			value, _, _ := strings.Cut(strings.TrimSuffix(candidate, "\n"), "\t")
			offered = append(offered, value)
		}
		words := strings.Fields(want)
		if completed := words[len(words)-1]; !slices.Contains(offered, completed) {
			t.Errorf("completing %q: fish offers %q, want %q", line, offered, completed)
		}
	}
}
