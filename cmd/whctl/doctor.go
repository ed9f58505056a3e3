package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/doctor"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func doctorCommands() []*cli.Command {
	return []*cli.Command{{
		Name:   "doctor",
		Usage:  "diagnose the connection to the service and suggest fixes",
		Action: command.With(diagnose),
		Flags: append(output.Flags(),
			&cli.StringFlag{
				Name:  "bundle",
				Usage: "write a diagnostics bundle without secrets to `FILE`, a zip to attach to a support request",
			},
		),
		Description: `whctl doctor
whctl doctor --bundle whctl.zip`,
	}}
}

// diagnose runs whctl doctor.
func diagnose(c *cli.Context, s *command.Session) error {
	d := doctor.Examine(c, &s.Connector, s.Now)
	defer d.Close()
	if c.Context.Err() != nil {
		return command.Interruption{}
	}
	if path := c.String("bundle"); path != "" {
		if err := d.Bundle(path); err != nil {
			return err
		}
		s.Notice(c, "written to %s", path)
	}
	if err := d.Print(s.Printer(c)); err != nil {
		return err
	}
	if failed := d.Failed(); failed > 0 {
		checks := display.Count(len(d.Results), "check", "checks")
		return &command.PartialError{Message: fmt.Sprintf("%d of %s failed", failed, checks)}
	}
	return nil
}
