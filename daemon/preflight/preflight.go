// Package preflight compares what the service needs with what there is: tables,
// columns, rights, room, clock, addresses. It changes nothing and prints nothing.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/storage"
)

// The states of a result.
const (
	ok      = "ok"
	warning = "warning" // the service works, perhaps not as intended
	failed  = "failed"  // the service cannot do all of its work
	skipped = "skipped" // it does not apply, or another failure keeps it from being checked
)

// Result is what one check has found.
type Result struct {
	Name   string // of the check
	Status string
	Detail string `json:",omitempty"`
}

// Skipped reports whether nothing was checked.
func (r Result) Skipped() bool { return r.Status == skipped }

// String is the result as a line for people.
func (r Result) String() string {
	return r.Name + ": " + strings.TrimSuffix(r.Status+", "+r.Detail, ", ")
}

func result(status, format string, args ...any) []Result {
	return []Result{{Status: status, Detail: fmt.Sprintf(format, args...)}}
}

// Report is what all checks have found.
type Report struct {
	storage.Report
	Warnings []string // about the settings
	Results  []Result
}

// Failed reports whether the service cannot do all of its work.
func (r Report) Failed() bool {
	return r.Report.Failed() || slices.ContainsFunc(r.Results, func(one Result) bool { return one.Status == failed })
}

// Open calls work with the store that the settings name.
type Open func(work func(*storage.Store) error) error

// Run runs all checks. Where the store cannot be opened it fails, and reports what
// can be checked without.
func Run(ctx context.Context, settings config.Config, open Open) (Report, error) {
	report := Report{Warnings: settings.Warnings()}
	err := openable(ctx, settings)
	if err == nil {
		err = open(func(s *storage.Store) (err error) {
			if report.Report, err = s.Check(ctx); err == nil {
				report.Results = (&check{config: settings, store: s}).run(ctx)
			}
			return err
		})
	}
	if err != nil {
		report.Results = (&check{config: settings, problem: err}).run(ctx)
	}
	return report, err
}

// check is one run of the checks.
type check struct {
	config  config.Config
	store   *storage.Store // nil where it cannot be opened
	problem error          // why
}

// checks is the table of what is checked beside the record kinds, in the order in
// which results are reported.
var checks = []struct {
	name string
	run  func(context.Context, *check) []Result
}{
	{"data directory", checkDirectory},
	{"store", checkStore},
	{"clock", checkClock},
	{"certificate", checkCertificate},
	{"webhooks.host_url", checkHostURL},
	{"targets", checkTargets},
}

// run runs the table. A check has one result, or one for each problem.
func (c *check) run(ctx context.Context) (all []Result) {
	for _, row := range checks {
		for _, r := range row.run(ctx, c) {
			r.Name = row.name
			all = append(all, r)
		}
	}
	return all
}

func checkStore(_ context.Context, c *check) []Result {
	if c.problem != nil {
		return result(failed, "%v", c.problem)
	}
	return result(ok, "%s", c.config.Store)
}
