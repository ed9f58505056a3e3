package cli_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
)

// newTool returns a program with commands, and its output.
func newTool() (*urfave.App, *strings.Builder) {
	out := new(strings.Builder)
	app := &urfave.App{
		Name:   "tool",
		Writer: out,
		Flags:  []urfave.Flag{&urfave.BoolFlag{Name: "help", Usage: "show help"}},
		Commands: []*urfave.Command{
			{
				Name:  "serve",
				Usage: "serve it",
				Flags: []urfave.Flag{
					&urfave.StringFlag{Name: "listen", Usage: "`address`"},
					&urfave.BoolFlag{Name: "old", Hidden: true},
				},
			},
			{Name: "secret", Hidden: true},
			{
				Name:  "user",
				Usage: "users",
				Subcommands: []*urfave.Command{
					{Name: "list", Usage: "list users"},
					{Name: "create", Usage: "create one"},
				},
			},
		},
	}
	return app, out
}

func TestPrintCompletions(t *testing.T) {
	app, out := newTool()
	for line, want := range map[string]string{
		"":                "serve\tserve it\nuser\tusers\n",
		"se":              "serve\tserve it\n",
		"user ":           "list\tlist users\ncreate\tcreate one\n",
		"user cr":         "create\tcreate one\n",
		"serve --":        "--help\tshow help\n--listen\taddress\n",
		"serve --li":      "--listen\taddress\n",
		"serve --listen ": "",
		"--help us":       "user\tusers\n",
		"nonsense x":      "",
	} {
		out.Reset()
		words := append([]string{"tool"}, strings.Split(line, " ")...)
		cursor := strconv.Itoa(len(words) - 1)
		err := cli.PrintCompletions(app, append([]string{"bash", cursor}, words...))
		if err != nil {
			t.Errorf("completing %q: %v", line, err)
		}
		if got := out.String(); got != want {
			t.Errorf("completing %q: got %q, want %q", line, got, want)
		}
	}
}

func TestPrintCompletionsRejectsInvalidCursor(t *testing.T) {
	app, _ := newTool()
	for _, args := range [][]string{
		{"bash", "1"},
		{"bash", "x", "tool"},
		{"bash", "2", "tool"},
	} {
		if err := cli.PrintCompletions(app, args); !cli.IsUsage(err) {
			t.Errorf("completing with the arguments %q: got error %v, want a usage error", args, err)
		}
	}
}

// A script completes the program that it was printed for.
func TestPrintCompletion(t *testing.T) {
	for _, shell := range cli.Shells {
		var out strings.Builder
		if err := cli.PrintCompletion(&out, "tool", shell); err != nil {
			t.Errorf("%s: %v", shell, err)
		}
		if want := "tool completion " + shell; !strings.Contains(out.String(), want) {
			t.Errorf("the script for %s is\n%s\nwant %q in it", shell, out.String(), want)
		}
		if strings.Contains(out.String(), "PROGRAM") {
			t.Errorf("the script for %s is\n%s\nwant tool in place of PROGRAM", shell, out.String())
		}
	}
	err := cli.PrintCompletion(io.Discard, "tool", "fsh")
	if !cli.IsUsage(err) || !strings.Contains(err.Error(), "fish") {
		t.Errorf("the script for fsh: got error %v, want a usage error that suggests fish", err)
	}
}
