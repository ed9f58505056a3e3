// Package prove implements `whd check --prove`. It runs the statements of real requests
// on the live servers and reports the result. The report contains no names of
// hosts, users or tables, and no data.
package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

const (
	totalLimit     = 45 * time.Second // of all checks; the scratch schema is dropped afterwards
	statementLimit = 2 * time.Second
	firstLimit     = 10 * time.Second // of the first statement, which returns the version
	lockTimeout    = time.Second
	maxRows        = 10      // rows that one statement reads
	maxSearched    = 100_000 // rows of a table; text is not searched for in larger ones
	minSeek        = 10_000  // rows of a table; smaller ones may be scanned
)

// Options selects the checks.
type Options struct {
	ERP     *erp.Records // opened with Limited; nil if they are in a file
	Kinds   []*record.Kind
	Zone    *time.Location // time zone of the times in the records
	Store   appdb.Config   // configuration of the service's own tables; without DSN they are files
	Scratch bool           // check own tables in a schema that is created and dropped
	MaxAge  time.Duration  // scratch schemas of earlier runs that are older are dropped
	Slower  time.Duration  // added to the time limits, for tests
}

// Limited returns the configuration for reading the records with few resources.
func Limited(c erp.Config) erp.Config {
	limits := executor.Limits{Row: statementLimit, Count: statementLimit}
	c.Connections = 1
	c.LockTimeout = lockTimeout
	c.Limits = func() executor.Limits { return limits }
	return c
}

// Report is the result of all checks.
type Report struct {
	Complete bool   // the servers can be used, a check succeeded, and none failed
	Server   string // product and version; empty for a file
	Checks   []Result
}

// Result is the result of one check.
type Result struct {
	check.Result
	Side   string // erp or store
	Proves string // the statement that holds if the status is ok
}

// Results returns the results of the checks.
func (r Report) Results() []check.Result {
	results := make([]check.Result, len(r.Checks))
	for i, c := range r.Checks {
		results[i] = c.Result
	}
	return results
}

const (
	erpSide   = "erp"
	storeSide = "store"
)

// definition defines a check. It has one function: server, kind or store.
type definition struct {
	name, side string
	server     func(*reader) (figure string, err error)
	kind       func(*reader, *table) (n int, err error) // is called for each record kind
	units      string                                   // unit of n
	onRows     bool                                     // only for tables with rows
	store      func(*scratch) (figure string, err error)
	needed     bool   // by all later checks of this side
	proves     string // the statement that holds if the check succeeds
}

// checks lists all checks in their order.
var checks = []definition{
	{
		name:   "version",
		side:   erpSide,
		server: selects(version),
		proves: "the server is SQL Server 2016 or later, or Babelfish",
	},
	{
		name:   "isolation",
		side:   erpSide,
		server: selects(isolation),
		proves: "it is known whether reads wait for changes in progress",
	},
	{
		name:   "collation",
		side:   erpSide,
		server: (*reader).collations,
		proves: "text is compared without regard to letter case",
	},
	{
		name:   "time zone",
		side:   erpSide,
		server: selects(timeZone),
		proves: "query.time_zone has the UTC offset of the server",
	},
	{
		name:   "OPENJSON",
		side:   erpSide,
		server: (*reader).openJSON,
		proves: "a list of any length is one parameter",
	},
	{
		name:   "MIN_ACTIVE_ROWVERSION()",
		side:   erpSide,
		server: selects(minActive),
		proves: "changes can be read by rowversion without missing an open transaction",
	},
	{
		name:   "availability group",
		side:   erpSide,
		server: selects(group),
		proves: "capture continues after a failover, since all replicas are known as the same database",
	},
	{
		name:   "columns",
		side:   erpSide,
		kind:   columns,
		units:  "columns",
		proves: "every column of the record kinds can be read",
	},
	{
		name:   "parameters",
		side:   erpSide,
		kind:   parameters,
		units:  "parameters",
		onRows: true,
		proves: "parameters have the types of their columns, so that indexes can be used",
	},
	{
		name:   "round trip",
		side:   erpSide,
		kind:   roundTrip,
		units:  "statements",
		onRows: true,
		proves: "a filter with values of a row finds this row, and only rows that match",
	},
	{
		name:   "pages",
		side:   erpSide,
		kind:   pages,
		units:  "pages",
		onRows: true,
		proves: "the pages of Skip and Take contain each row once",
	},
	{
		name:   "seeks",
		side:   erpSide,
		server: (*reader).seeks,
		proves: "equality, In, Between and StartsWith seek in indexes",
	},
	{
		name:   "rowversion",
		side:   erpSide,
		kind:   rowVersions,
		units:  "rowversion columns",
		proves: "rowversion columns can be found",
	},
	{
		name:   "stamp indexes",
		side:   erpSide,
		kind:   stampIndexes,
		units:  "indexes",
		proves: "recent changes can be found by an index",
	},
	{
		name:   "scratch schema",
		side:   storeSide,
		store:  (*scratch).create,
		needed: true,
		proves: "a schema can be created",
	},
	{
		name:   "migrations",
		side:   storeSide,
		store:  (*scratch).migrations,
		needed: true,
		proves: "two processes can migrate the own tables at the same time",
	},
	{
		name:   "batches",
		side:   storeSide,
		store:  (*scratch).batches,
		proves: "messages and their results are written and read in batches",
	},
	{
		name:   "leases",
		side:   storeSide,
		store:  (*scratch).leases,
		proves: "two processes never hold the same lease, and its earlier holder cannot write",
	},
	{
		name:   "lost races",
		side:   storeSide,
		store:  (*scratch).races,
		proves: "of concurrent writers of one key exactly one succeeds",
	},
	{
		name:   "deadlocks",
		side:   storeSide,
		store:  (*scratch).deadlocks,
		proves: "the victim of a deadlock succeeds at another attempt",
	},
	{
		name:   "locks of readers",
		side:   storeSide,
		store:  (*scratch).readers,
		proves: "a read of a row that is being changed waits, or returns the committed values",
	},
	{
		name:   "outbox",
		side:   storeSide,
		store:  (*scratch).outbox,
		proves: "a row of the outbox becomes an event once",
	},

	// Last, since Babelfish may not end these statements.
	{
		name:   "cancel",
		side:   erpSide,
		server: (*reader).cancelled,
		proves: "a cancelled statement ends on the server",
	},
	{
		name:   "time limit",
		side:   erpSide,
		server: (*reader).limited,
		proves: "a statement over its time limit ends on the server",
	},
}

// differences lists the known differences of Babelfish from SQL Server, by check.
var differences = map[string]string{
	"MIN_ACTIVE_ROWVERSION()": "Babelfish has no such function",
	"availability group":      "Babelfish has no availability groups",
	"seeks":                   "Babelfish accepts SET STATISTICS XML ON but returns no plans",
	"cancel":                  continues,
	"time limit":              continues,
}

const continues = "on Babelfish a statement continues until it has output to send," +
	" unless client_connection_check_interval is set"

// outcome is an error that is the result of a check.
type outcome struct{ check.Result }

func (o outcome) Error() string { return o.Detail }

func failed(format string, args ...any) error     { return outcomef(check.Failed, format, args...) }
func warning(format string, args ...any) error    { return outcomef(check.Warning, format, args...) }
func notChecked(format string, args ...any) error { return outcomef(check.NotChecked, format, args...) }

func outcomef(status check.Status, format string, args ...any) error {
	return outcome{check.Result{Status: status, Detail: fmt.Sprintf(format, args...)}}
}

const timeLimit = "a time limit was exceeded"

// resultOf returns the result of a check that returned an error, or nil.
func resultOf(figure string, err error) check.Result {
	if err == nil {
		return check.Result{Status: check.OK, Detail: figure}
	}
	if o, ok := errors.AsType[outcome](err); ok {
		return o.Result
	}
	return resultOf("", outcomeOf(err))
}

// outcomeOf returns the outcome for another error. It does not contain the server's message,
// which may contain names and values.
func outcomeOf(err error) error {
	refused, isServer := errors.AsType[*mssql.Error](err)
	isCancelled := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case isCancelled, fault.Is(err, fault.Timeout):
		return notChecked(timeLimit)
	case isServer && refused.Busy():
		return notChecked("locked by another transaction")
	case isServer && refused.Forbidden():
		return notChecked("the login lacks a permission (server error %d)", refused.Number)
	case isServer:
		return failed("server error %d", refused.Number)
	case errors.Is(err, mssql.ErrLost):
		return notChecked("the connection was lost") // by load or the network: nothing is disproved
	}
	return failed("%T", err)
}

// runner runs the checks.
type runner struct {
	ctx    context.Context
	erp    *reader
	store  *scratch
	unable map[string]string // why the checks of a side cannot run, by side
}

// Run runs all checks. It returns an error, with the results of the other checks, if the
// ERP's server cannot be reached.
func Run(ctx context.Context, o Options) (report Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, totalLimit+o.Slower)
	defer cancel()
	r := &runner{
		ctx:    ctx,
		erp:    &reader{ctx: ctx, limit: statementLimit + o.Slower, zone: o.Zone},
		store:  &scratch{Options: o, ctx: ctx},
		unable: make(map[string]string),
	}
	defer r.erp.close()
	defer r.store.close()
	if o.ERP == nil {
		r.unable[erpSide] = "embedded"
	} else if err = r.erp.open(o.ERP.Server(), o.Kinds); err != nil {
		r.unable[erpSide] = "the server cannot be used"
	}
	if o.Store.DSN == "" {
		r.unable[storeSide] = "embedded"
	} else if !o.Scratch {
		r.unable[storeSide] = "--scratch is not given"
	}

	for i := range checks {
		d := &checks[i]
		for _, result := range r.check(d) {
			report.Checks = append(report.Checks, Result{Result: result, Side: d.side, Proves: d.proves})
		}
	}
	report.Server = r.erp.product
	proven := slices.ContainsFunc(report.Checks, func(c Result) bool { return c.Status == check.OK })
	report.Complete = err == nil && proven && !check.AnyFailed(report.Results())
	return report, executor.Classify(err)
}

// check returns the results of a check. Failures that are known on Babelfish are known
// differences, unless a time limit may have caused them.
func (r *runner) check(d *definition) []check.Result {
	results := r.run(d)
	reason := differences[d.name]
	mayDiffer := reason != "" && strings.HasPrefix(r.erp.product, "Babelfish")
	for i := range results {
		result := &results[i]
		result.Name = d.name
		isComplete := result.Detail != timeLimit && r.ctx.Err() == nil
		if mayDiffer && result.Status != check.OK && isComplete {
			result.Status = check.KnownDifference
			result.Detail = reason + " (" + result.Detail + ")"
		}
	}
	return results
}

// run runs a check, unless its side cannot be used or no time is left.
func (r *runner) run(d *definition) []check.Result {
	if reason := r.unable[d.side]; reason != "" {
		return []check.Result{resultOf("", notChecked("%s", reason))}
	}
	if r.ctx.Err() != nil {
		return []check.Result{resultOf("", notChecked("no time left"))}
	}
	if d.kind != nil {
		return r.erp.eachKind(d)
	}
	if d.server != nil {
		return []check.Result{resultOf(d.server(r.erp))}
	}
	start := time.Now()
	figure, err := d.store(r.store)
	took := time.Since(start).Round(time.Millisecond)
	if d.needed && err != nil {
		r.unable[d.side] = "no scratch schema"
	}
	return []check.Result{resultOf(fmt.Sprintf("%s, %v", figure, took), err)}
}

// listed returns up to five of the names, and the number of the others.
func listed(names []string) string {
	const maxListed = 5
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}
