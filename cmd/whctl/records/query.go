// Package records has the commands that query records, and prints rows for the commands
// that list or follow something else.
package records

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// ConditionExamples has examples of a condition and of query parameters for help.
type ConditionExamples struct{ Where, Json string }

var recordExamples = ConditionExamples{
	Where: "InvoiceTotal>=100",
	Json:  `{"InvoiceTotalGreaterThan":100}`,
}

// QueryFlags returns the flags of commands that list records.
func QueryFlags(examples ConditionExamples) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name:    "where",
			Aliases: []string{"w"},
			Usage: "select rows by `CONDITION`, such as \"" + examples.Where + "\"; " +
				"repeatable, combined with AND; @FILE reads one per line (whctl help filters)",
		},
		&cli.StringFlag{
			Name: "filter-json",
			Usage: "select rows by a `JSON` object of query parameters, such as " + examples.Json + "; " +
				"@FILE reads a file",
		},
		&cli.BoolFlag{Name: "unchecked", Usage: "with --filter-json, also send parameters unknown to whctl"},
		&cli.StringSliceFlag{Name: "fields", Usage: "print only the fields `A,B`, in this order"},
		&cli.StringSliceFlag{Name: "order-by", Usage: "sort by the fields `A,-B`; a leading - means descending"},
		&cli.BoolFlag{Name: "desc", Usage: "with --order-by, sort in descending order"},
		&cli.StringFlag{Name: "order", Usage: "`asc|desc`  the direction of --order-by, as in gh", Hidden: true},
		&cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "at most `N` rows"},
		&cli.Int64Flag{Name: "skip", Usage: "skip the first `N` rows"},
		&cli.BoolFlag{
			Name: "all",
			Usage: fmt.Sprintf("print all rows; a table on a terminal has %d by default",
				profile.TableRows),
		},
		&cli.BoolFlag{Name: "count", Usage: "print only the number of matching rows"},
		&cli.StringFlag{
			Name: "progress",
			Usage: "`auto|plain|none`  show the progress of an export; " +
				"auto: only on a terminal; plain: a line every 5 s; none: never",
			Value: "auto",
		},
		&cli.BoolFlag{Name: "exit-status", Usage: "exit with 10 if no row matches"},
	}
}

// Commands returns the commands on records.
func Commands() []*cli.Command {
	return []*cli.Command{
		{
			Name:      "query",
			ArgsUsage: "RECORD",
			Usage:     "query records of one kind",
			Flags:     slices.Concat(QueryFlags(recordExamples), groupFlags(), output.FlagsWithout()),
			Action: Lists(func(c *cli.Context, s *command.Session) (Listing, error) {
				kind, err := findKind(c, s, c.Args().First())
				return Listing{Kind: kind}, err
			}),
			Description: `whctl query SO_Totals --where "InvoiceTotal>=1000" --order-by -InvoiceTotal --take 10
whctl query SO_Totals --format csv -o totals.csv
whctl query SO_Totals --all --format xlsx -o totals.xlsx
whctl query SO_Totals --count
whctl query JB_EstimateResourceLines --by Units --sum Quantity --order-by -SumQuantity`,
		},
		{
			Name:      "records",
			Aliases:   []string{"record"},
			ArgsUsage: "[RECORD]",
			Usage:     "list the kinds of records, or the fields of one kind",
			Flags:     output.Flags(),
			Action:    command.With(listKinds),
			Description: `whctl records
whctl records SO_Totals`,
		},
	}
}

// findKind returns the record kind with a name. A kind that is not among those stored may be
// new. If the kinds of the service cannot be read, mistakes in the command are reported
// before the error of its request.
func findKind(c *cli.Context, s *command.Session, name string) (*record.Kind, error) {
	registry, err := s.Kinds(c, false)
	if err == nil {
		if _, ok := registry.Lookup(name); !ok {
			registry, err = s.Kinds(c, true)
		}
	}

	// These errors are returned as the query would return them.
	if client.Is(err, client.Cancelled) {
		return nil, command.Interruption{}
	}
	if client.Is(err, client.TimedOut) || registry == nil {
		return nil, err
	}
	kind, unknown := KindNamed(registry, name)
	if unknown != nil && err != nil && !client.Is(err, client.Unreachable) {
		return nil, err
	}
	return kind, unknown
}

// KindNamed returns the record kind with a name.
func KindNamed(registry *record.Registry, name string) (*record.Kind, error) {
	if kind, ok := registry.Lookup(name); ok {
		return kind, nil
	}
	return nil, cmdline.Usagef("unknown record %q%s", name,
		record.DidYouMeanOr(registry.Suggest(name), "list them with whctl records"))
}

// Columns of whctl records.
var (
	kindColumns = []output.Column{
		{Name: "Record", Type: record.Text},
		{Name: "Area", Type: record.Text},
		{Name: "Fields", Type: record.Int},
		{Name: "Summary", Type: record.Text},
	}
	fieldColumns = []output.Column{
		{Name: "Field", Type: record.Text},
		{Name: "Type", Type: record.Text},
		{Name: "Operators", Type: record.Text},
	}
)

// listKinds runs whctl records.
func listKinds(c *cli.Context, s *command.Session) error {
	registry, err := s.Kinds(c, true)
	if registry == nil {
		return err
	}
	if err != nil {
		defer s.Notice(c, "some record kinds may be missing: %s", err)
	}
	name := c.Args().First()
	_, isKind := registry.Lookup(name)
	isList := name == "list" && !isKind // as in groups of commands
	if name == "" || isList {
		return printKinds(c, s, registry)
	}
	kind, err := KindNamed(registry, name)
	if err != nil {
		return keyHint(err, name)
	}
	return printFields(c, s, kind)
}

// keyHint adds to the error of an unknown kind the command that explains a key: with digits, the name is
// probably that of a row.
func keyHint(err error, name string) error {
	if _, ok := errors.AsType[*cmdline.UsageError](err); !ok || !strings.ContainsAny(name, "0123456789") {
		return err
	}
	return cmdline.Usagef("%s; if it is a key, its history is whctl why %s", err, name)
}

func printKinds(c *cli.Context, s *command.Session, registry *record.Registry) error {
	var lines [][]any
	for _, k := range registry.Kinds() {
		lines = append(lines, []any{k.Name, k.Area, len(k.Fields), k.Summary})
	}
	_, err := s.Printer(c).Lines(kindColumns, lines)
	return err
}

// printFields prints the fields of a kind with their operators in the syntax of --where.
func printFields(c *cli.Context, s *command.Session, kind *record.Kind) error {
	var lines [][]any
	for _, f := range kind.Fields {
		lines = append(lines, []any{f.Name, f.TypeName(), filter.Allowed(f.Filter)})
	}
	format, err := s.Printer(c).Lines(fieldColumns, lines)
	if err != nil {
		return err
	}
	if format.Name == "table" {
		s.Notice(c, "example: %s", exampleOf(kind))
	}
	return nil
}

// exampleOf returns a sample query with a condition on a number, or else on text.
func exampleOf(kind *record.Kind) string {
	first := kind.Fields[0].Name
	condition := first + "^=A"
	isNumber := func(f record.Field) bool { return f.Type.Number() }
	if i := slices.IndexFunc(kind.Fields, isNumber); i >= 0 {
		condition = kind.Fields[i].Name + ">=1"
	}
	return fmt.Sprintf("whctl query %s --where %q --order-by -%s", kind.Name, condition, first)
}

// Listing describes the records that a command lists.
type Listing struct {
	Kind  *record.Kind
	Brief []string            // default fields of a table; all if empty
	View  []output.ViewColumn // columns of a table on a terminal; Brief if there are none
	Where []client.Filter     // conditions in addition to the flags

	Opened func(*client.Client) // called with the client, which View may need; can be nil
}

// Lists returns the action of a command that lists records.
func Lists(describe func(c *cli.Context, s *command.Session) (Listing, error)) cli.ActionFunc {
	return command.With(func(c *cli.Context, s *command.Session) error {
		l, err := describe(c, s)
		if err != nil {
			return err
		}
		return List(c, s, l)
	})
}

// List validates the flags, queries the service and prints rows as they arrive.
func List(c *cli.Context, s *command.Session, l Listing) error {
	settings, err := s.Settings(c)
	if err != nil {
		return err
	}
	q, groups, err := readQuery(c, l, s.Now().In(settings.Zone()))
	if err != nil {
		return cmdline.Usagef("%s", err)
	}
	printer := s.Printer(c)
	format, err := printer.Format()
	if err != nil {
		return err
	}
	table := output.Table{Columns: groups, View: l.View}
	if groups == nil {
		table = l.table(&q, printer, format)
	}
	j := &job{
		context:     c,
		table:       table,
		printer:     printer,
		query:       q,
		format:      format,
		defaultTake: settings.Count("default_take"),
	}
	j.limit()
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	j.service = service
	if l.Opened != nil {
		l.Opened(service)
	}
	j.out, err = printer.Create()
	if err != nil {
		return err
	}
	j.progress = j.newProgress(s)
	err = j.out.Finish(j.run())
	j.progress.end()
	if err != nil {
		return command.Interrupted(err, j.rows)
	}

	j.summarize()
	if c.Bool("exit-status") && j.rows == 0 {
		return command.ErrNoRows
	}
	return nil
}

// table returns the table of a listing, and selects the fields of the query that it shows.
func (l Listing) table(q *client.Query, printer *output.Printer, format output.Format) output.Table {
	table := output.Table{View: l.View}
	isBrief := format.HumanReadable() && len(q.Fields) == 0
	hasView := len(l.View) > 0 && printer.OnScreen()
	if isBrief && hasView {
		isForeign := func(name string) bool { // a field that is added to the rows
			_, ok := q.Kind.Column(name)
			return !ok
		}
		q.Fields = slices.DeleteFunc(table.ViewFields(format.Name == "vertical"), isForeign)
		table.Columns = output.ColumnsOf(q.Kind, q.Fields)
		return table
	}
	if isBrief {
		q.Fields = l.Brief
	}
	printer.One = true // a single record is shown as a line per field
	table = table.Choose(output.ColumnsOf(q.Kind, q.Fields))
	isChosen := format.HumanReadable() && len(q.Fields) > 0
	if isChosen && hasView {
		q.Fields = table.ViewFields(true) // also those that the chosen ones depend on
	}
	return table
}

// readQuery reads the flags and checks them against the registry, so that mistakes are reported
// without a request. It also returns the columns of groups, nil if there are none.
func readQuery(
	c *cli.Context, l Listing, today time.Time,
) (q client.Query, groups []output.Column, err error) {
	q = client.Query{Kind: l.Kind, Where: l.Where, Strict: true}
	if err := ReadFilters(c, &q, today); err != nil {
		return q, nil, err
	}
	q.Fields, err = readFields(q.Kind, "fields", c.StringSlice("fields"))
	if err != nil {
		return q, nil, err
	}
	groups, err = readGroups(c, &q)
	if err != nil {
		return q, nil, err
	}
	order, err := orderTerms(c)
	if err != nil {
		return q, nil, err
	}
	switch {
	case groups == nil:
		q.OrderBy, err = readOrder(q.Kind, order)
	case q.GroupBy == "":
		err = checkTotals(c)
	default:
		q.OrderBy, err = readGroupOrder(groups, order)
	}
	if err != nil {
		return q, nil, err
	}
	return q, groups, readPaging(c, &q)
}

// readPaging reads --take and --skip and rejects flags that contradict each other.
func readPaging(c *cli.Context, q *client.Query) error {
	if c.IsSet("take") {
		q.Take = new(c.Int64("take"))
	}
	q.Skip = c.Int64("skip")
	for _, name := range []string{"take", "skip"} {
		if n := c.Int64(name); n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("--%s must be from 0 to %d", name, math.MaxInt32)
		}
	}
	if err := cmdline.OneOf(c.String("progress"), ProgressModes); err != nil {
		return fmt.Errorf("--progress %w", err)
	}
	exclusive := [][2]string{
		{"all", "take"},
		{"count", "all"},
		{"count", "take"},
		{"count", "skip"},
		{"count", "fields"},
		{"count", "order-by"},
	}
	for _, pair := range exclusive {
		if isOn(c, pair[0]) && isOn(c, pair[1]) {
			return fmt.Errorf("--%s and --%s cannot be combined", pair[0], pair[1])
		}
	}
	return nil
}

// isOn reports whether a flag is set to another value than false.
func isOn(c *cli.Context, flag string) bool { return c.IsSet(flag) && c.Value(flag) != false }

// readFields returns the fields of a flag in canonical letter case.
func readFields(kind *record.Kind, flag string, lists []string) ([]string, error) {
	var fields []string
	for _, name := range names(lists, ",") {
		field, err := fieldName(kind, flag, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(fields, field) {
			return nil, fmt.Errorf("--%s: duplicate field %s", flag, field)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// orderTerms returns the terms of --order-by, with the direction of --desc or --order. The latter can
// also have the terms.
func orderTerms(c *cli.Context) ([]string, error) {
	terms := c.StringSlice("order-by")
	isDescending := c.Bool("desc")
	direction := strings.ToLower(c.String("order"))
	isAscending := direction != "" && strings.HasPrefix("ascending", direction)
	switch {
	case isAscending && isDescending:
		return nil, fmt.Errorf("--order %s and --desc cannot be combined", direction)
	case direction == "" || isAscending:
	case strings.HasPrefix("descending", direction):
		isDescending = true
	case len(terms) == 0:
		terms = []string{c.String("order")}
	default:
		return nil, fmt.Errorf("--order is asc or desc; --order-by has the fields")
	}
	if len(terms) == 0 && (isDescending || direction != "") {
		return nil, fmt.Errorf("--desc and --order need the fields to sort by: --order-by FIELD")
	}
	if !isDescending {
		return terms, nil
	}
	terms = names(terms, ",;")
	for i, term := range terms {
		if name, prefix := splitOrder(term); prefix == "" && name == strings.TrimPrefix(term, ".") {
			terms[i] = "-" + name
		} else if prefix == "" {
			return nil, fmt.Errorf("--order-by %q and --desc contradict each other", term)
		}
	}
	return terms, nil
}

// readOrder returns the terms of --order-by in canonical letter case.
func readOrder(kind *record.Kind, lists []string) ([]string, error) {
	var terms []string
	for _, term := range names(lists, ",;") {
		name, prefix := splitOrder(term)
		field, err := fieldName(kind, "order-by", name)
		if err != nil {
			return nil, err
		}
		terms = append(terms, prefix+field)
	}
	return terms, nil
}

// splitOrder returns the field of a term of --order-by, and its prefix: - if the order is
// descending. Terms can have the form of SQL, as in "InvoiceTotal desc", or start with a point as
// in kubectl.
func splitOrder(term string) (field, prefix string) {
	field, isDescending := strings.CutPrefix(term, "-")
	field = strings.TrimPrefix(strings.TrimSpace(field), ".")
	name, direction, hasDirection := strings.Cut(field, " ")
	if hasDirection && strings.EqualFold(strings.TrimSpace(direction), "desc") {
		return name, "-"
	}
	if hasDirection && strings.EqualFold(strings.TrimSpace(direction), "asc") {
		field = name
	}
	if isDescending {
		return field, "-"
	}
	return field, ""
}

// names splits lists at separators and drops empty names.
func names(lists []string, separators string) []string {
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	var split []string
	for _, text := range lists {
		for _, name := range strings.FieldsFunc(text, isSeparator) {
			name = strings.TrimSpace(name)
			if name != "" {
				split = append(split, name)
			}
		}
	}
	return split
}

// fieldName returns a field's name in canonical letter case.
func fieldName(kind *record.Kind, flag, name string) (string, error) {
	i, ok := kind.Column(name)
	if !ok {
		near := record.Suggest(name, kind.FieldNames())
		hint := record.DidYouMean(near)
		if kind.Database == record.RecordsDB {
			hint = record.DidYouMeanOr(near, "list them with whctl records "+kind.Name)
		} else if len(near) == 0 {
			hint = "; it has " + strings.Join(kind.FieldNames(), ", ")
		}
		return "", fmt.Errorf("--%s: %s has no field %s%s", flag, kind.Name, name, hint)
	}
	return kind.Fields[i].Name, nil
}

// ListFlags returns the flags of commands that list the service's own records.
func ListFlags(kind *record.Kind, examples ConditionExamples) []cli.Flag {
	return slices.Concat(ShorthandFlags(kind), QueryFlags(examples), output.Flags())
}
