package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// printCompletion runs whctl completion. On a terminal, it also prints how to load the script.
func printCompletion(c *cli.Context, s *command.Session) error {
	shell := c.Args().First()
	if shell == "" {
		shell = cmdline.LoginShell(s.Env)
		if shell == "" {
			return cmdline.Usagef("completion needs the name of the shell: %s",
				strings.Join(cmdline.Shells, ", "))
		}
	}
	if err := cmdline.PrintCompletion(s.Stdout, c.App.Name, shell); err != nil {
		return err
	}
	if s.Terminal.IsTerminal {
		s.Notice(c, "this is the script for %s; whctl help completion shows how to load it", shell)
	}
	return nil
}
