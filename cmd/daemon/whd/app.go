package whd

import (
	"slices"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
)

// newApp returns the program with its table of commands.
func newApp(p Process) *urfave.App {
	b := &base{Process: p}
	app := &urfave.App{
		Name:      "whd",
		Usage:     "HTTP API and webhooks for the records of a business management system",
		Writer:    p.Stdout,
		ErrWriter: p.Stderr,
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: cli.HelpFlag, Aliases: []string{"h"}, Usage: "show help"},
			&urfave.BoolFlag{Name: cli.VersionFlag, Aliases: []string{"V"}, Usage: "show the version"},
		},
		Commands: slices.Concat(
			serving{b}.commands(),
			storeCommands{b}.commands(),
			copying{b}.commands(),
			checking{b}.commands(),
			kindCommands{b}.commands(),
			backups{b}.commands(),
			importing{b}.commands(),
			comparing{b}.commands(),
			users{accounts{b}}.commands(),
			keys{accounts{b}}.commands(),
			printing{b}.commands(),
			services{b}.commands(),
			versions{b}.commands(),
			helping{b}.commands(),
		),
	}
	cli.Decorate(app)
	return app
}
