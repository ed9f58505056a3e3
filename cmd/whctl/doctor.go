package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/doctor"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func doctorCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "doctor", Usage: "find out what is wrong between here and the service, and how to mend it", Action: with(diagnose),
		Flags: append(output.Flags(),
			&cli.StringFlag{Name: "bundle", Usage: "write all that was found out to `FILE`, a zip without secrets, to send to somebody who helps"},
		),
		Description: `whctl doctor
whctl doctor --bundle whctl.zip`,
	}}
}

// diagnose is whctl doctor.
func diagnose(c *cli.Context, s *session) error {
	d := doctor.Examine(c, &s.Connector, s.now)
	defer d.Close()
	if c.Context.Err() != nil {
		return interruption{}
	}
	if path := c.String("bundle"); path != "" {
		if err := d.Bundle(path); err != nil {
			return err
		}
		s.Notice(c, "written to %s", path)
	}
	if err := d.Print(s.printer(c)); err != nil {
		return err
	}
	if failed := d.Failed(); failed > 0 {
		return &partialError{fmt.Sprintf("%d of %s failed", failed, display.Count(int64(len(d.Results)), "check", "checks"))}
	}
	return nil
}
