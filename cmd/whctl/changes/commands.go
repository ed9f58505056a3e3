// Package changes has the commands that follow the changes of records, keep copies of them,
// and manage their capture.
package changes

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// Commands returns the commands on changes.
func Commands() []*cli.Command {
	once := &cli.BoolFlag{Name: "once", Usage: "stop when all changes until now have arrived"}
	return []*cli.Command{
		{
			Name:      "follow",
			ArgsUsage: "RECORD",
			Usage:     "print the changes of records as NDJSON, in order",
			Action:    untilStopped(follow),
			Flags: []cli.Flag{
				&cli.StringFlag{
					Name:  "since",
					Usage: "start after `TOKEN`, which an earlier run has printed; default: now",
				},
				&cli.StringFlag{
					Name:  "state",
					Usage: "continue from the token in `FILE`, if it exists, and store the token of each page there",
				},
				once,
			},
			Description: `whctl follow SO_Totals --state totals.token
whctl follow SO_Totals --since 3f1c29d0a7b45e86-1042 --once`,
		},
		{
			Name:      "mirror",
			ArgsUsage: "RECORD...",
			Usage:     "keep exact copies of records in a SQLite file",
			Action:    untilStopped(mirrorRecords),
			Flags: []cli.Flag{
				&cli.StringFlag{
					Name: "to",
					Usage: "keep the copies in the database `FILE`, a table for each kind; " +
						"decimals are text with all digits: CAST(A AS REAL) compares them",
				},
				once,
			},
			Description: `whctl mirror SO_Totals CR_Classification --to copy.db
whctl mirror SO_Totals --to copy.db --once`,
		},
		{
			Name:  "changes",
			Usage: "show and resume the capture of changes",
			Subcommands: []*cli.Command{
				{
					Name:   "list",
					Usage:  "list the captured kinds with their state",
					Flags:  output.Flags(),
					Action: command.ShowsAll(captureTable, (*client.Client).Captures),
				},
				{
					Name:      "resume",
					ArgsUsage: "RECORD",
					Usage:     "resume the capture of a kind that has stopped",
					Action:    command.Changes(resume),
					Flags: append([]cli.Flag{
						&cli.BoolFlag{
							Name:    "publish",
							Aliases: []string{"raise"},
							Usage:   "deliver all changes since the stop",
						},
						&cli.BoolFlag{
							Name:  "silent",
							Usage: "forget the rows known so far: no changes, and followers load the records again",
						},
					}, command.ChangeFlags()...),
					Description: "whctl changes resume SO_Totals --publish",
				},
			},
		},
	}
}

var captureTable = output.Table{
	Columns: []output.Column{
		{Name: "Kind", Type: record.Text},
		{Name: "Mode", Type: record.Text},
		{Name: "Phase", Type: record.Text},
		{Name: "Reason", Type: record.Text},
		{Name: "Rows", Type: record.Long},
		{Name: "Lag", Type: record.TimeSpan},
		{Name: "Swept", Type: record.Epoch},
		{Name: "Kept", Type: record.Long},
		{Name: "Needed", Type: record.Epoch},
		{Name: "Events", Type: record.Text},
	},
	View: []output.ViewColumn{
		{Title: "Kind", Fields: "Kind", As: output.Words},
		{Title: "State", Fields: "Phase", As: output.Words},
		{Title: "Lag", Fields: "Lag", As: output.Duration},
		{Title: "Rows", Fields: "Rows", As: output.Count, Rank: 1},
		{Title: "Swept", Fields: "Swept", As: output.Age, Rank: 2},
		{Title: "Reason", Fields: "Reason", As: output.Words, Rank: 3},
		{Title: "Events", Fields: "Events", As: output.Words, Rank: 4},
		{Title: "Changes kept", Fields: "Kept", As: output.Count, Rank: 5},
		{Title: "Needed", Fields: "Needed", As: output.Age, Rank: 6},
		{Title: "Mode", Fields: "Mode", As: output.Words, Rank: 7},
	},
}

// resume runs whctl changes resume.
func resume(c *cli.Context, _ *command.Session) (command.Change, error) {
	kind := c.Args().First()
	if c.Bool("silent") == c.Bool("publish") {
		return command.Change{}, cmdline.Usagef("give --publish or --silent")
	}
	request := wire.ResumeRequest{Mode: wire.ResumePublish}
	effect := "deliver all changes since the stop"
	if c.Bool("silent") {
		request.Mode = wire.ResumeSilent
		effect = "forget its known rows"
	}
	return command.Change{
		Text:     fmt.Sprintf("resume the capture of %s and %s", kind, effect),
		Sweeping: true,
		Do: func(out *output.Printer, service *client.Client) error {
			if err := service.ResumeCaptureWith(c.Context, kind, request); err != nil {
				return err
			}
			out.Notice("capture of %s resumed", kind)
			return nil
		},
	}, nil
}
