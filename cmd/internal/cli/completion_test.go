package cli_test

import (
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
)

func TestPrintCompletions(t *testing.T) {
	var out strings.Builder
	app := &urfave.App{
		Name: "tool", Writer: &out,
		Flags: []urfave.Flag{&urfave.BoolFlag{Name: "help", Usage: "show help"}},
		Commands: []*urfave.Command{
			{Name: "serve", Usage: "serve it", Flags: []urfave.Flag{&urfave.StringFlag{Name: "listen", Usage: "`address`"}, &urfave.BoolFlag{Name: "old", Hidden: true}}},
			{Name: "secret", Hidden: true},
			{Name: "user", Usage: "users", Subcommands: []*urfave.Command{{Name: "list", Usage: "list users"}, {Name: "create", Usage: "create one"}}},
		},
	}
	for _, c := range []struct{ line, want string }{
		{"", "serve\tserve it\nuser\tusers\n"},
		{"se", "serve\tserve it\n"},
		{"user ", "list\tlist users\ncreate\tcreate one\n"},
		{"user cr", "create\tcreate one\n"},
		{"serve --", "--help\tshow help\n--listen\taddress\n"},
		{"serve --li", "--listen\taddress\n"},
		{"serve --listen ", ""},
		{"--help us", "user\tusers\n"},
		{"nonsense x", ""},
	} {
		out.Reset()
		words := append([]string{"tool"}, strings.Split(c.line, " ")...)
		cursor := string(rune('0' + len(words) - 1))
		if err := cli.PrintCompletions(app, append([]string{"bash", cursor}, words...)); err != nil || out.String() != c.want {
			t.Errorf("%q: %q (%v), want %q", c.line, out.String(), err, c.want)
		}
	}
	for _, args := range [][]string{{"bash", "1"}, {"bash", "x", "tool"}, {"bash", "2", "tool"}} {
		if err := cli.PrintCompletions(app, args); !cli.IsUsage(err) {
			t.Errorf("%q: error %v, want a usage error", args, err)
		}
	}
}

// A script completes the program that it was printed for.
func TestPrintCompletion(t *testing.T) {
	for _, shell := range cli.Shells {
		var out strings.Builder
		if err := cli.PrintCompletion(&out, "tool", shell); err != nil || !strings.Contains(out.String(), "tool completion "+shell) || strings.Contains(out.String(), "PROGRAM") {
			t.Errorf("%s (%v):\n%s", shell, err, out.String())
		}
	}
	if err := cli.PrintCompletion(&strings.Builder{}, "tool", "fsh"); !cli.IsUsage(err) || !strings.Contains(err.Error(), "fish") {
		t.Errorf("fsh: error %v, want a usage error that suggests fish", err)
	}
}
