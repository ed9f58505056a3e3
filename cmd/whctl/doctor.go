package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func (p *program) doctorCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "doctor", Usage: "find out what is wrong between here and the service, and how to mend it", Action: p.doctor,
		Flags: append(output.Flags(),
			&cli.StringFlag{Name: "bundle", Usage: "write all that was found out to `FILE`, a zip without secrets, to send to somebody who helps"},
		),
		Description: `whctl doctor
whctl doctor --bundle whctl.zip`,
	}}
}

// The results of a check.
const (
	fine  = "ok"
	odd   = "warn"
	wrong = "fail"
)

// finding is what a check found.
type finding struct{ Check, Result, Detail, Fix string }

var findingColumns = []output.Column{{Name: "Check", Type: record.Text}, {Name: "Result", Type: record.Text}, {Name: "Detail", Type: record.Text}, {Name: "Fix", Type: record.Text}}

// patient is what the checks are of.
type patient struct {
	*program
	c        *cli.Context
	settings *profile.Settings
	service  *client.Client // nil where it could not even be made
	info     *wire.Info     // nil where the service does not answer
	admin    bool
	found    []finding
}

// checks are made in this order. Those behind one that failed may have nothing
// to go by, and then say nothing.
var checks = []struct {
	name string
	run  func(*patient) finding
}{
	{"configuration", (*patient).configuration},
	{"address", (*patient).address},
	{"certificate", (*patient).certificate},
	{"service", (*patient).answers},
	{"clock", (*patient).offset},
	{"sign-in", (*patient).signedIn},
	{"stream", (*patient).streams},
	{"host url", (*patient).hostURL},
	{"keyring", (*patient).keyringWorks},
}

// doctor is whctl doctor.
func (p *program) doctor(c *cli.Context) error {
	d := &patient{program: p, c: c}
	for _, check := range checks {
		found := check.run(d)
		if c.Context.Err() != nil {
			return interruption{}
		}
		if found.Check = check.name; found.Result != "" {
			d.found = append(d.found, found)
		}
	}
	if d.service != nil {
		defer d.service.Close()
	}
	if path := c.String("bundle"); path != "" {
		if err := d.bundle(path); err != nil {
			return err
		}
		p.notice(c, "written to %s", path)
	}
	if err := d.tell(); err != nil {
		return err
	}
	failed := 0
	for _, f := range d.found {
		if f.Result == wrong {
			failed++
		}
	}
	if failed > 0 {
		return &partialError{fmt.Sprintf("%d of %s failed", failed, display.Count(int64(len(d.found)), "check", "checks"))}
	}
	return nil
}

// tell prints what was found. For people each finding is a line, of which
// nothing is cut.
func (d *patient) tell() error {
	f, err := d.printer(d.c).Format()
	if err != nil {
		return err
	}
	var lines [][]any
	for _, f := range d.found {
		lines = append(lines, []any{f.Check, f.Result, f.Detail, nilIfEmpty(f.Fix)})
	}
	if f.Name != "table" {
		_, err = d.printer(d.c).Lines(findingColumns, lines)
		return err
	}
	out, err := d.printer(d.c).Create()
	if err != nil {
		return err
	}
	for _, f := range d.found {
		line := fmt.Sprintf("%-4s  %-13s  %s", f.Result, f.Check, display.Sanitize(f.Detail))
		if f.Fix != "" {
			line += "  (" + display.Sanitize(f.Fix) + ")"
		}
		fmt.Fprintln(out, line)
	}
	return out.Finish(nil)
}
