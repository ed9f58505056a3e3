package main

import (
	"strings"
	"testing"
)

// Keys that make no sense are told before the screens begin, with their line;
// the exit code is that of a wrong configuration.
func TestScreensRefuseKeys(t *testing.T) {
	for config, want := range map[string]string{
		"[keys]\nretry = ['p']":                       "config.toml:2: keys.retry: p is the key of pause in everywhere already",
		"[keys]\nretyr = ['w']":                       "config.toml:2: keys.retyr: no action is called so; did you mean retry?",
		"[keys.mesages]\nretry = ['w']":               "config.toml:2: keys.mesages.retry: there is no [keys.mesages]; did you mean messages or message?",
		"[keys]\npause = ['p',\n'ctrl+w']\nback=[]\n": "config.toml:4: keys.back: it must have a key",
		"[keys.question]\naccept = ['enter']":         "enter is",
	} {
		s := screensOf(t, config, map[string]string{envURL: "http://127.0.0.1:9"})
		s.program.terminal.is = true
		err := s.program.tui(s.c)
		if err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != 2 {
			t.Errorf("%q: exit %d, %v; want 2 and %q", config, exitCode(err), err, want)
		}
	}
}
