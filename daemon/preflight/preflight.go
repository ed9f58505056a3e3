// Package preflight compares what the service needs with what there is: tables,
// columns, rights, room, clock, addresses. It changes nothing and prints nothing.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

func result(status check.Status, format string, args ...any) []check.Result {
	return []check.Result{{Status: status, Detail: fmt.Sprintf(format, args...)}}
}

// Report is what all checks have found.
type Report struct {
	storage.Report
	Warnings []string // about the settings
	Results  []check.Result
}

// Failed reports whether the service cannot do all of its work.
func (r Report) Failed() bool {
	return r.Report.Failed() || check.AnyFailed(r.Results)
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
				report.Results = (&run{config: settings, store: s}).checks(ctx)
			}
			return err
		})
	}
	if err != nil {
		report.Results = (&run{config: settings, problem: err}).checks(ctx)
	}
	return report, err
}

// run is one run of the checks.
type run struct {
	config  config.Config
	store   *storage.Store // nil where it cannot be opened
	problem error          // why
}

// table is what is checked beside the record kinds, in the order in
// which results are reported.
var table = []struct {
	name string
	run  func(context.Context, *run) []check.Result
}{
	{"data directory", checkDirectory},
	{"store", checkStore},
	{"clock", checkClock},
	{"certificate", checkCertificate},
	{"webhooks.host_url", checkHostURL},
	{"targets", checkTargets},
}

// checks runs the table. A check has one result, or one for each problem.
func (r *run) checks(ctx context.Context) (all []check.Result) {
	for _, row := range table {
		for _, one := range row.run(ctx, r) {
			one.Name = row.name
			all = append(all, one)
		}
	}
	return all
}

func checkStore(_ context.Context, r *run) []check.Result {
	if r.problem != nil {
		return result(check.Failed, "%v", r.problem)
	}
	return result(check.OK, "%s", r.config.Store)
}

// openable refuses to open an embedded store where that would change something:
// make what is missing, perhaps in a directory that is not meant, or bring tables
// up to date of which there is no backup yet.
func openable(ctx context.Context, c config.Config) error {
	if c.Store != config.Embedded || datadir.ReplaceInterrupted(c.DataDir) { // which opening it says
		return nil
	}
	files, err := storage.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.Required {
			continue // a daemon makes it when it has something to write
		}
		path := filepath.Join(c.DataDir, f.Name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "there is no store in %s, since %s is missing; whd serve makes one, where there was one before with --new-store", c.DataDir, f.Name)
		}
		version, err := backup.Version(ctx, path)
		if err == nil && version < f.MaxSchema { // else opening it says what is wrong
			return fault.New(fault.Unavailable, "%s has version %d of %d; make a backup, then run whd migrate or whd serve", path, version, f.MaxSchema)
		}
	}
	return nil
}
