package whd

import (
	"errors"
	"fmt"
	"io"
	"os"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/compat"
	"github.com/bizhook/whd/daemon/rest"
)

// comparing is the command compat.
type comparing struct{ *base }

func (p comparing) commands() []*urfave.Command {
	basePath := &urfave.StringFlag{
		Name:  "base-path",
		Usage: "`PATH`  path of the .NET service on its host, if it is not /",
	}
	return []*urfave.Command{{
		Name:        "compat",
		ArgsUsage:   "LOGFILE...",
		Usage:       "count the requests in logs of the .NET service that whd can serve; exit code 1 if it cannot serve all",
		Action:      p.run,
		Flags:       append([]urfave.Flag{basePath}, p.settingFlags("config", "erp.kinds")...),
		Description: "whd compat requestlogs/2026-10/*.csv",
	}}
}

// run prints the operations in the logs with their counts. LOGFILE - is standard input.
func (p comparing) run(c *urfave.Context) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		return cli.Usagef("name the files of the log: " +
			"the request log of the .NET service as CSV or JSON, or logs of IIS")
	}
	conf, err := p.config()
	if err != nil {
		return err
	}
	catalogue := rest.NewCatalogue(conf.ERP.Kinds.Registry())
	counter := compat.NewCounter(c.String("base-path"), catalogue.Operation)
	var damaged []error // files that were read in part
	for _, file := range files {
		err := p.read(counter, file)
		if _, ok := errors.AsType[*compat.Damaged](err); ok {
			damaged = append(damaged, err)
			continue
		}
		if err != nil {
			return err
		}
	}

	report := counter.Report()
	if err := report.Write(p.Stdout); err != nil {
		return err
	}
	if len(damaged) > 0 {
		return errors.Join(damaged...)
	}
	if n := compat.Total(report.NotServed); n > 0 {
		return fmt.Errorf("requests that whd does not serve: %d, operations: %d", n, len(report.NotServed))
	}
	return nil
}

func (p comparing) read(counter *compat.Counter, file string) error {
	var in io.Reader = p.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if err := counter.Read(in); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
