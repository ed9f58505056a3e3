// Package preflight implements `whd check`: it checks tables, columns, permissions,
// disk space, clock, certificate and addresses. It changes nothing; the caller prints the
// report.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// result returns one result, which gets its name later.
func result(status check.Status, format string, args ...any) []check.Result {
	return []check.Result{{Status: status, Detail: fmt.Sprintf(format, args...)}}
}

// Report contains the results of all checks.
type Report struct {
	storage.Report
	Warnings []string // about the settings
	Results  []check.Result
}

// Failed reports whether a check failed.
func (r Report) Failed() bool {
	return r.Report.Failed() || check.AnyFailed(r.Results)
}

// Open opens the configured store and calls work with it.
type Open func(work func(*storage.Store) error) error

// Run runs all checks. If the store cannot be opened, or the ERP's database cannot be
// read, it returns an error and the results of the checks that do not need it.
func Run(ctx context.Context, settings config.Config, open Open) (Report, error) {
	report := Report{Warnings: settings.Warnings()}
	err := Openable(ctx, settings)
	if err == nil {
		err = open(func(s *storage.Store) error { return report.checkStore(ctx, settings, s) })
	}
	if err != nil && report.Results == nil {
		r := &run{config: settings, problem: err}
		report.Results = r.checks(ctx)
	}
	return report, err
}

// checkStore runs all checks with an open store. If the store is damaged or its own tables
// cannot be checked, there are no results.
func (r *Report) checkStore(ctx context.Context, settings config.Config, s *storage.Store) error {
	isComplete, err := readContent(ctx, s)
	if err != nil {
		return err
	}
	r.Report, err = s.Check(ctx)
	hasChecked := r.Migration.Name != ""
	if err != nil && !hasChecked {
		return err
	}
	checks := &run{
		config:     settings,
		store:      s,
		found:      r.Report,
		partly:     !isComplete,
		erpProblem: err,
	}
	r.Results = checks.checks(ctx)
	return err
}

// contentTimeout limits the search for damage in the files of the store.
const contentTimeout = 20 * time.Second

// readContent looks for damage in the files of the store, and reports whether it has read
// them completely.
func readContent(ctx context.Context, s *storage.Store) (complete bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, contentTimeout)
	defer cancel()
	return s.CheckContent(ctx)
}

// run is one run of the checks.
type run struct {
	config     config.Config
	store      *storage.Store // nil if it cannot be opened
	found      storage.Report // report of the store
	problem    error          // why the store cannot be opened
	partly     bool           // the files of the store have not been read completely
	erpProblem error          // why the ERP's database cannot be read
}

// table lists the checks other than those of the record kinds, in the order of the
// results.
var table = []struct {
	name string
	run  func(context.Context, *run) []check.Result
}{
	{"data directory", checkDirectory},
	{"descriptors", checkDescriptors},
	{"store", checkStore},
	{"erp", checkERP},
	{"erp.kinds", checkKinds},
	{"changes", checkChanges},
	{"clock", checkClock},
	{"certificate", checkCertificate},
	{"webhooks.host_url", checkHostURL},
	{"targets", checkTargets},
	{"webhooks.ca_file", checkCAFile},
	{"webhooks.proxy", checkProxy},
	{"webhooks.client_cert", checkClientCertificate},
	{"events", checkEvents},
}

// checks runs the table. A check has one result, or one for each problem.
func (r *run) checks(ctx context.Context) (results []check.Result) {
	for _, row := range table {
		for _, result := range row.run(ctx, r) {
			result.Name = row.name
			results = append(results, result)
		}
	}
	return results
}

func checkStore(_ context.Context, r *run) []check.Result {
	if r.problem != nil {
		return result(check.Failed, "%v", r.problem)
	}
	if r.partly {
		return result(check.Warning, "%s; its files are too large to look for damage in all of them within %v",
			r.config.Store, contentTimeout)
	}
	return result(check.OK, "%s", r.config.Store)
}

func checkERP(_ context.Context, r *run) []check.Result {
	switch {
	case r.store == nil:
		return result(check.Skipped, "")
	case r.erpProblem != nil:
		return result(check.Failed, "%v", r.erpProblem)
	case r.found.NothingServed && r.found.SeesTables:
		return result(check.Warning,
			"%s; no table of a record kind is seen; whd kinds discover makes kinds of other tables",
			r.config.ERP.DSN)
	case r.found.NothingServed:
		return result(check.Failed,
			"%s; no table at all is seen; check the name of the database, and the rights of the login",
			r.config.ERP.DSN)
	}
	return result(check.OK, "%s", r.config.ERP.DSN)
}

// checkKinds returns the mistakes in files of record kinds.
func checkKinds(_ context.Context, r *run) (results []check.Result) {
	kinds := r.config.ERP.Kinds
	if kinds == nil || len(kinds.Declared)+len(kinds.Problems) == 0 {
		return result(check.Skipped, "")
	}
	for _, p := range kinds.Problems {
		status := check.Failed
		if p.Warning {
			status = check.Warning
		}
		results = append(results, result(status, "%s", p)...)
	}
	if names := kinds.MistakenNames(); names != "" {
		results = append(results, result(check.Failed,
			"not served because of mistakes, since the files may require a role: %s", names)...)
	}
	return append(results, result(check.OK, "%d kinds from files", kinds.Served())...)
}

// Openable returns an error if opening the embedded store would change something: create
// missing files, perhaps in a mistyped directory, or migrate tables that have not been
// backed up.
func Openable(ctx context.Context, c config.Config) error {
	if datadir.ReplaceInterrupted(c.DataDir) { // opening the store reports that
		return nil
	}
	files, err := storage.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		needed := f.Required && !c.Store.OnServer() // others are created when needed
		if f.Name == storage.RecordsFile {
			needed = !c.ERP.DSN.OnServer()
		}
		if !needed {
			continue
		}
		path := filepath.Join(c.DataDir, f.Name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "there is no store in %s: %s is missing;"+
				" run whd serve to create a store, with --new-store to replace one that was lost",
				c.DataDir, f.Name)
		}
		version, err := backup.Version(ctx, path)
		if err == nil && version < f.MaxSchema { // opening the store reports other problems
			return fault.New(fault.Unavailable,
				"%s has schema version %d, this whd needs version %d;"+
					" make a backup, then run whd migrate or whd serve",
				path, version, f.MaxSchema)
		}
	}
	return nil
}
