package whd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/preflight"
	"github.com/bizhook/whd/daemon/prove"
	"github.com/bizhook/whd/daemon/storage"
)

// checking is the command check.
type checking struct{ *base }

func (p checking) commands() []*urfave.Command {
	flags := []urfave.Flag{
		&urfave.StringFlag{Name: "format", Value: "text", Usage: "output format, `text|json`"},
		&urfave.BoolFlag{Name: "prove", Usage: "instead, run the statements of requests on this server and report the results; reads only"},
		&urfave.BoolFlag{Name: "scratch", Usage: "with --prove: also check whd's own tables on a server, in a schema that is created and dropped"},
	}
	settings := append(slices.Clone(recordSettings), "webhooks.enabled", "webhooks.host_url",
		"webhooks.allow_targets", "tls.cert", "tls.key", "erp.version_source", "changes.share", "changes.sweep")
	return []*urfave.Command{{
		Name: "check", Usage: "check the prerequisites: tables, columns, permissions, disk space, clock, addresses",
		Action: p.check, Flags: append(flags, p.settingFlags(settings...)...),
	}}
}

// errIncomplete is returned if a prerequisite is missing.
var errIncomplete = errors.New("a prerequisite is missing or wrong; see the report")

// check runs the preflight checks and prints the report. It changes nothing.
func (p checking) check(c *urfave.Context) error {
	write := writeReport
	switch format := c.String("format"); format {
	case "", "text":
	case "json":
		write = writeReportJSON
	default:
		return cli.Usagef("--format must be text or json, not %q", format)
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
	found, err := preflight.Run(c.Context, conf, func(work func(*storage.Store) error) error {
		return p.openStore(c.Context, conf, func(s *storage.Config) { s.Migrate = false }, work)
	})
	if writing := write(p.Stdout, found); writing != nil || err != nil {
		return errors.Join(err, writing)
	}
	if found.Failed() {
		return errIncomplete
	}
	return nil
}

// proveMaxAge is the age from which the schema of an earlier run is dropped. No run takes
// as long.
const proveMaxAge = time.Hour

// prove runs the checks of package prove and prints their report. It does not open the
// service's own tables.
func (p checking) prove(c *urfave.Context, conf config.Config) (err error) {
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
		if options.ERP, err = erp.Open(prove.Limited(store.ERP)); err != nil {
			return err
		}
		defer options.ERP.Close()
	}
	report, err := prove.Run(c.Context, options)
	if writing := p.writeProof(c.String("format"), report); writing != nil || err != nil {
		return errors.Join(err, writing)
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
	// errNothingProved is returned if no check could be run, for example because a line is
	// slower than the time limits.
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

// writeReport writes the report as text. It leaves out the store if the store
// could not be opened.
func writeReport(w io.Writer, r preflight.Report) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Findings) > 0 {
		fmt.Fprintln(columns, "RECORD\tTABLE OR VIEW\tFIELD\tPROBLEM")
	}
	incomplete := make(map[string]bool)
	bills := make(map[string]bool)
	for _, f := range r.Findings {
		problem := f.Problem
		_, isBill := erp.BillTables().Lookup(f.Kind)
		switch {
		case f.Warning:
			problem = "warning: " + problem
		case isBill:
			bills[f.Kind] = true
		default:
			incomplete[f.Kind] = true
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", f.Kind, f.Table, cmp.Or(f.Field, "-"), problem)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	text := ""
	if r.Kinds+r.Bills+r.Absent > 0 {
		text = fmt.Sprintf("records: %d of %d kinds are complete\nbills: %d of %d tables are complete\n",
			r.Kinds-len(incomplete), r.Kinds, r.Bills-len(bills), r.Bills)
	}
	if r.Absent > 0 {
		text += fmt.Sprintf("not seen and not served: %d tables\n", r.Absent)
	}
	if r.Migration.Name != "" {
		text += fmt.Sprintf("%s: %s\n", r.Migration.Name, state(r.Migration))
	}
	for _, problem := range r.Rights {
		text += problem + "\n"
	}
	if grants := r.Grants(); len(grants) > 0 {
		text += "missing permissions, for an administrator of the database, if the tables exist:\n  " +
			strings.Join(grants, "\n  ") + "\n"
	}
	if r.ERP != nil {
		text += "ERP: " + hostState(r.ERP) + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	isSkipped := func(result check.Result) bool { return result.Status == check.Skipped }
	return cli.PrintChecks(w, slices.DeleteFunc(slices.Clone(r.Results), isSkipped))
}

// hostState returns the version of the ERP and its source.
func hostState(h *erp.Version) string {
	text := "no version"
	if h.Version != "" {
		text = "version " + h.Version
	}
	if h.Problem != "" {
		text += "; warning: " + h.Problem
	}
	return text + " (" + h.Source + ")"
}

// state returns whether the version of the daemon's own tables is current.
func state(m appdb.Migration) string {
	if m.After < m.Latest {
		return fmt.Sprintf("version %d of %d; run whd migrate", m.After, m.Latest)
	}
	return fmt.Sprintf("version %d, up to date", m.After)
}

// writeReportJSON writes the report as JSON. Its members are documented in
// ../docs/verify.md.
func writeReportJSON(w io.Writer, r preflight.Report) error {
	type tables struct {
		Name            string
		Version, Needed int64
		Problems        []string
	}
	type report struct {
		Complete bool
		Records  int
		Bills    int
		Own      tables
		Host     *erp.Version `json:",omitempty"`
		Findings []erp.Finding
		Grants   []string
		Checks   []check.Result
		Warnings []string
	}

	// An empty list is [], not null.
	return writeJSON(w, report{
		Complete: !r.Failed(),
		Records:  r.Kinds,
		Bills:    r.Bills,
		Own: tables{
			Name:     r.Migration.Name,
			Version:  r.Migration.After,
			Needed:   r.Migration.Latest,
			Problems: append([]string{}, r.Rights...),
		},
		Host:     r.ERP,
		Findings: append([]erp.Finding{}, r.Findings...),
		Grants:   append([]string{}, r.Grants()...),
		Checks:   r.Results,
		Warnings: append([]string{}, r.Warnings...),
	})
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
