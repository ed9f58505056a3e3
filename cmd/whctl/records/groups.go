package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// groupFunctions are the flags that name fields for a function of --by.
var groupFunctions = []string{"sum", "avg", "min", "max"}

// functionNouns are the functions in words, for help texts.
var functionNouns = map[string]string{
	"sum": "sum",
	"avg": "average",
	"min": "minimum",
	"max": "maximum",
}

func groupFlags() []cli.Flag {
	flags := []cli.Flag{&cli.StringFlag{
		Name: "by",
		Usage: "print one row for each value of a `FIELD`, " +
			"or of a date as DATE:day, DATE:month or DATE:year, with the number of records",
	}}
	for _, name := range groupFunctions {
		usage := "print the " + functionNouns[name] +
			" of the fields `A,B`, with all digits, over all records or, with --by, in each group"
		flags = append(flags, &cli.StringSliceFlag{Name: name, Usage: usage})
	}
	return flags
}

// readGroups reads the flags of groups and functions. It returns the columns of their rows,
// nil without these flags.
func readGroups(c *cli.Context, q *client.Query) ([]output.Column, error) {
	by, period, _ := strings.Cut(c.String("by"), ":")
	if by == "" && !slices.ContainsFunc(groupFunctions, c.IsSet) {
		return nil, nil
	}
	if c.IsSet("fields") {
		return nil, errors.New("--by, --sum, --avg, --min and --max cannot be combined with --fields")
	}
	columns, err := readGroupField(q, by, period)
	if err != nil {
		return nil, err
	}
	q.Include = []string{"COUNT(*)"}
	columns = append(columns, output.Column{Name: record.GroupColumn("COUNT", ""), Type: record.Long})

	for _, name := range groupFunctions {
		fields, err := readFields(q.Kind, name, c.StringSlice(name))
		if err != nil {
			return nil, err
		}
		for _, field := range fields {
			q.Include = append(q.Include, strings.ToUpper(name)+"("+field+")")
			columns = append(columns, functionColumn(q.Kind, name, field))
		}
	}
	return columns, nil
}

// readGroupField sets the field by which a query is grouped, and returns its column. Both texts are
// parts of --by and can be empty.
func readGroupField(q *client.Query, by, period string) ([]output.Column, error) {
	if by == "" {
		return nil, nil
	}
	if strings.Contains(by, ",") {
		return nil, fmt.Errorf("--by takes one field, not %q", by)
	}
	field, err := fieldName(q.Kind, "by", by)
	if err != nil {
		return nil, err
	}
	columns := output.ColumnsOf(q.Kind, []string{field})
	q.GroupBy = field
	if period != "" {
		q.GroupBy = field + ":" + period
		columns[0].Type = record.Text
	}
	return columns, nil
}

// functionColumn returns the column of a function of a field. Sums and averages of exact numbers
// are decimals.
func functionColumn(kind *record.Kind, function, field string) output.Column {
	column := output.ColumnsOf(kind, []string{field})[0]
	column.Name = record.GroupColumn(function, field)
	isComputed := function == "sum" || function == "avg"
	if isComputed && column.Type != record.Double {
		column.Type = record.Decimal
	}
	return column
}

// checkTotals rejects flags that have no meaning for a single row.
func checkTotals(c *cli.Context) error {
	for _, name := range []string{"order-by", "take", "skip", "all", "count"} {
		if isOn(c, name) {
			return fmt.Errorf(
				"--%s cannot be combined with --sum, --avg, --min or --max without --by", name)
		}
	}
	return nil
}

// readGroupOrder returns the terms of --order-by for columns of groups.
func readGroupOrder(columns []output.Column, lists []string) ([]string, error) {
	known := record.Texts(columns, func(c output.Column) string { return c.Name })
	var terms []string
	for _, term := range names(lists, ",;") {
		name, prefix := splitOrder(term)
		isNamed := func(column string) bool { return strings.EqualFold(column, name) }
		if !slices.ContainsFunc(known, isNamed) {
			return nil, fmt.Errorf("--order-by: the rows have no column %s; they have %s",
				name, strings.Join(known, ", "))
		}
		terms = append(terms, prefix+name)
	}
	return terms, nil
}
