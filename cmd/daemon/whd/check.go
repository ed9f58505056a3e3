package whd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/access"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/preflight"
	"github.com/bizhook/whd/daemon/prove"
	"github.com/bizhook/whd/daemon/service"
	"github.com/bizhook/whd/daemon/storage"
)

// checking is the command check.
type checking struct{ *base }

func (p checking) commands() []*urfave.Command {
	flags := []urfave.Flag{
		&urfave.StringFlag{
			Name:  "format",
			Value: "text",
			Usage: "output format, `text|json`",
		},
		&urfave.BoolFlag{
			Name:  "prove",
			Usage: "instead, run the statements of requests on this server and report the results; reads only",
		},
		&urfave.BoolFlag{
			Name:  "scratch",
			Usage: "with --prove: also check whd's own tables on a server, in a schema that is created and dropped",
		},
	}
	settings := append(slices.Clone(recordSettings), "demo", "webhooks.enabled", "webhooks.host_url",
		"webhooks.allow_targets", "webhooks.connect_timeout",
		"webhooks.proxy", "webhooks.proxy_resolves", "webhooks.no_proxy", "webhooks.ca_file",
		"webhooks.client_cert", "webhooks.client_key", "webhooks.client_cert_hosts",
		"tls.cert", "tls.key", "tls.password", "erp.version_source", "changes.share", "changes.sweep")
	return []*urfave.Command{{
		Name:   "check",
		Usage:  "check the prerequisites: tables, columns, permissions, disk space, clock, addresses",
		Action: p.check,
		Flags:  append(flags, p.flagsOfServe(settings)...),
	}}
}

// flagsOfServe returns the flags of all settings, so that the flags of a service can be checked
// unchanged. Those of settings that are not named, which affect no check, are not in the help.
func (p checking) flagsOfServe(named []string) []urfave.Flag {
	shown := make(map[string]bool)
	for _, f := range p.settingFlags(named...) {
		shown[f.Names()[0]] = true
	}
	flags := p.settingFlags()
	for _, f := range flags {
		setting := f.(settingFlag)
		setting.Hidden = !shown[setting.Name]
	}
	return flags
}

// errIncomplete is returned if a prerequisite is missing.
var errIncomplete = errors.New("a prerequisite is missing or wrong; see the report")

// check runs the preflight checks and prints the report. It changes nothing.
func (p checking) check(c *urfave.Context) error {
	write, err := reportWriter(c.String("format"))
	if err != nil {
		return err
	}
	if c.Bool("scratch") && !c.Bool("prove") {
		return cli.Usagef("--scratch needs --prove")
	}
	conf, err := p.config()
	if err != nil {
		return err
	}
	if c.Bool("prove") {
		return p.prove(c, conf)
	}

	withoutMigration := func(s *storage.Config) { s.Migrate = false }
	report, err := preflight.Run(c.Context, conf, func(work func(*storage.Store) error) error {
		return p.openStore(c.Context, conf, withoutMigration, work)
	})
	report.Results = append(report.Results, permissions(conf)...)
	err = errors.Join(err, write(p.Stdout, report)) // an incomplete report is printed, too
	if err != nil {
		return err
	}
	if report.Failed() {
		return errIncomplete
	}
	return nil
}

// permissions warns about settings, data and programs that others can change. On other systems
// than Windows, package preflight checks the data, and packages install the programs.
func permissions(conf config.Config) (results []check.Result) {
	var problems []error
	isWindows := runtime.GOOS == "windows"
	if conf.File != "" && (access.Privileged() || isWindows) {
		problems = append(problems, service.CheckSettings(conf.File))
	}
	if isWindows {
		problems = append(problems, service.CheckData(conf.DataDir), checkProgram())
	}
	for _, problem := range problems {
		// Another check reports that this process has no access.
		if problem != nil && !errors.Is(problem, fs.ErrPermission) {
			results = append(results, check.Result{
				Name:   "permissions",
				Status: check.Warning,
				Detail: problem.Error(),
			})
		}
	}
	return results
}

// checkProgram returns an error if others can replace this program.
func checkProgram() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return service.CheckProgram(program)
}

// reportWriter returns the function that writes a report in a format.
func reportWriter(format string) (func(io.Writer, preflight.Report) error, error) {
	switch format {
	case "", "text":
		return writeReport, nil
	case "json":
		return writeReportJSON, nil
	default:
		return nil, cli.Usagef("--format must be text or json, not %q", format)
	}
}

// proveMaxAge is the age from which the schema of an earlier run is dropped. No run takes
// as long.
const proveMaxAge = time.Hour

// prove runs the checks of package prove and prints their report. It does not open the
// service's own tables.
func (p checking) prove(c *urfave.Context, conf config.Config) error {
	store := daemon.StoreConfig(conf, 1)
	options := prove.Options{
		Kinds:   conf.ERP.Kinds.Registry().Kinds(),
		Zone:    conf.Query.TimeZone,
		Scratch: c.Bool("scratch"),
		MaxAge:  proveMaxAge,
		Store:   appdb.Config{DSN: store.DSN, LockTimeout: store.LockTimeout, Limits: store.Limits},
	}
	if store.ERP.DSN != "" {
		store.ERP.Registry = store.Registry
		records, err := erp.Open(prove.Limited(store.ERP))
		if err != nil {
			return err
		}
		defer records.Close()
		options.ERP = records
	}

	report, err := prove.Run(c.Context, options)
	// An incomplete report is printed, too.
	err = errors.Join(err, p.writeProof(c.String("format"), report))
	if err != nil {
		return err
	}
	if check.AnyFailed(report.Results()) {
		return errUnproved
	}
	if !report.Complete {
		return errNothingProved
	}
	return nil
}

var (
	// errUnproved is returned if a check of --prove failed.
	errUnproved = errors.New("a check failed; see the report")
	// errNothingProved is returned if no check succeeded, for example because the network is
	// too slow for the time limits.
	errNothingProved = errors.New("nothing was proven: no check succeeded; see the report for the reasons")
)

// writeProof writes the report of --prove. In JSON it has no names of hosts, users or
// tables, and no data.
func (p checking) writeProof(format string, r prove.Report) error {
	if format != "json" {
		return cli.PrintChecks(p.Stdout, r.Results())
	}
	return writeJSON(p.Stdout, struct {
		Program string
		prove.Report
	}{cli.Version(), r})
}

// writeReport writes the report as text, without the checks that were skipped.
func writeReport(w io.Writer, r preflight.Report) error {
	err := writeFindings(w, r.Findings)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, summary(r))
	if err != nil {
		return err
	}
	isSkipped := func(result check.Result) bool { return result.Status == check.Skipped }
	return cli.PrintChecks(w, slices.DeleteFunc(slices.Clone(r.Results), isSkipped))
}

// writeFindings writes a table of the findings.
func writeFindings(w io.Writer, findings []erp.Finding) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(findings) > 0 {
		fmt.Fprintln(columns, "RECORD\tTABLE OR VIEW\tFIELD\tPROBLEM")
	}
	for _, f := range findings {
		problem := f.Problem
		if f.Warning {
			problem = "warning: " + problem
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", f.Kind, f.Table, cmp.Or(f.Field, "-"), problem)
	}
	return columns.Flush()
}

// summary returns the lines between the findings and the results of the checks.
func summary(r preflight.Report) string {
	var text strings.Builder
	if r.Kinds+r.Bills+r.Absent > 0 {
		kinds, bills := incomplete(r.Findings)
		fmt.Fprintf(&text, "records: %d of %d kinds are complete\n", r.Kinds-kinds, r.Kinds)
		fmt.Fprintf(&text, "bills: %d of %d tables are complete\n", r.Bills-bills, r.Bills)
	}
	if r.Absent > 0 {
		fmt.Fprintf(&text, "not seen and not served: %d tables\n", r.Absent)
	}
	if r.Migration.Name != "" {
		fmt.Fprintf(&text, "%s: %s\n", r.Migration.Name, migrationState(r.Migration))
	}
	for _, problem := range r.Rights {
		text.WriteString(problem + "\n")
	}
	if grants := r.Grants(); len(grants) > 0 {
		text.WriteString("missing permissions, for an administrator of the database, if the tables exist:\n")
		for _, grant := range grants {
			text.WriteString("  " + grant + "\n")
		}
	}
	if r.ERP != nil {
		text.WriteString("ERP: " + versionState(r.ERP) + "\n")
	}
	return text.String()
}

// incomplete counts the record kinds and the tables of bills with at least one finding that is not
// a warning.
func incomplete(findings []erp.Finding) (kinds, bills int) {
	counted := make(map[string]bool) // by kind or table
	for _, f := range findings {
		if f.Warning || counted[f.Kind] {
			continue
		}
		counted[f.Kind] = true
		if _, isBill := erp.BillTables().Lookup(f.Kind); isBill {
			bills++
		} else {
			kinds++
		}
	}
	return kinds, bills
}

// versionState returns the version of the ERP and its source.
func versionState(v *erp.Version) string {
	text := "no version"
	if v.Version != "" {
		text = "version " + v.Version
	}
	if v.Problem != "" {
		text += "; warning: " + v.Problem
	}
	return text + " (" + v.Source + ")"
}

// migrationState returns whether the version of the daemon's own tables is current.
func migrationState(m appdb.Migration) string {
	if m.After < m.Latest {
		return fmt.Sprintf("version %d of %d; run whd migrate", m.After, m.Latest)
	}
	return fmt.Sprintf("version %d, up to date", m.After)
}

// ownTables and reportJSON are the report in JSON. Its members are documented in
// ../docs/operate.md.
type (
	ownTables struct {
		Name            string
		Version, Needed int64
		Problems        []string
	}
	reportJSON struct {
		Complete bool
		Records  int
		Bills    int
		Own      ownTables
		Host     *erp.Version `json:",omitempty"`
		Findings []erp.Finding
		Grants   []string
		Checks   []check.Result
		Warnings []string
	}
)

// writeReportJSON writes the report as JSON.
func writeReportJSON(w io.Writer, r preflight.Report) error {
	return writeJSON(w, reportJSON{
		Complete: !r.Failed(),
		Records:  r.Kinds,
		Bills:    r.Bills,
		Own: ownTables{
			Name:     r.Migration.Name,
			Version:  r.Migration.After,
			Needed:   r.Migration.Latest,
			Problems: notNil(r.Rights),
		},
		Host:     r.ERP,
		Findings: notNil(r.Findings),
		Grants:   notNil(r.Grants()),
		Checks:   r.Results,
		Warnings: notNil(r.Warnings),
	})
}

// notNil returns a list that is [] in JSON if it is empty, not null.
func notNil[T any](list []T) []T { return append([]T{}, list...) }

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
