package daemon

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/bizhook/whd/daemon/config"
)

// help prints the commands, or what one of them takes.
func help(_ context.Context, c *call) error {
	if len(c.args) == 0 {
		return overview(c.Stdout)
	}
	about, rest, err := findCommand(c.args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return config.Usagef("unexpected argument %q of whd help %s", rest[0], about.name)
	}
	return (&call{command: about}).help(c.Stdout)
}

func overview(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(columns, "whd serves the records of a business management system over HTTP.\n\nUsage: whd COMMAND [flags]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(columns, "  %s\t%s\n", c.usage(), c.summary)
	}
	fmt.Fprint(columns, "\nExit status:\n")
	for _, e := range []exit{exitDone, exitFailure, exitUsage, exitUnreachable} {
		fmt.Fprintf(columns, "  %d\t%s\n", e.status, e.means)
	}
	fmt.Fprint(columns, "\nwhd help COMMAND lists a command's flags. To try the service: whd serve --demo --data-dir ./.whd\n")
	return columns.Flush()
}

// usage is the command's name with those of its arguments.
func (c command) usage() string { return strings.TrimSpace(c.name + " " + c.args) }

// help prints what the call's command takes.
func (c *call) help(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	options := c.options()
	line := "whd " + c.command.usage()
	if len(options) > 0 {
		line += " [flags]"
	}
	fmt.Fprintf(columns, "%s.\n\nUsage: %s\n", c.command.summary, line)
	if len(options) > 0 {
		fmt.Fprint(columns, "\nFlags:\n")
	}
	for _, o := range options {
		fmt.Fprintf(columns, "  %s\t%s\n", strings.TrimSpace("--"+o.Name+" "+o.Argument), o.Help)
	}
	if len(c.command.settings) > 0 {
		fmt.Fprint(columns, "\nSettings may also stand in a TOML file or in variables; whd config shows them.\n")
	}
	return columns.Flush()
}
