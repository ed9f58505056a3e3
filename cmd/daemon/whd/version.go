package whd

import (
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/sqlite"
)

// versions is the command version.
type versions struct{ *base }

func (p versions) commands() []*urfave.Command {
	return []*urfave.Command{{
		Name:   "version",
		Usage:  "print the versions of whd, Go and SQLite",
		Action: p.version,
	}}
}

func (p versions) version(*urfave.Context) error {
	if err := cli.PrintVersion(p.Stdout, "whd"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "SQLite %s\n", sqlite.Version)
	return err
}
