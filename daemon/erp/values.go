package erp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// fitting are the conditions for values of a column %s in tables of other programs: they are
// read as a type, and found by its filters. A type of SQLite does not ensure that.
var fitting = map[record.Type]string{
	record.Int:      "typeof(%s) = 'integer'",
	record.Decimal:  "typeof(%[1]s) <> 'blob' AND CAST(%[1]s AS TEXT) NOT GLOB '*[^-0-9.]*' AND CAST(%[1]s AS TEXT) NOT GLOB '.*' AND CAST(%[1]s AS TEXT) NOT GLOB '-.*' AND CAST(%[1]s AS TEXT) NOT GLOB '*.'",
	record.Double:   "typeof(%s) IN ('integer', 'real')",
	record.Bool:     "%s IN (0, 1)",
	record.DateTime: "%s GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9][0-9][0-9][0-9][0-9]'",
}

// checkValues sets Misfit of columns with values that do not fit the fields. Other columns
// hold every value of their fields.
func checkValues(conn *sqlite.Conn, kind *record.Kind, table string, columns []Column) error {
	for _, f := range kind.Fields {
		at := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, f.ColumnName()) })
		of := f.Type
		if of.Integer() {
			of = record.Int
		}
		if at < 0 || fitting[of] == "" || fileTypes.of(f.Type, columns[at].Type) == incompatible {
			continue
		}
		column := "t." + sqlite.Quote(columns[at].Name)
		n, _, err := conn.QueryInt(fmt.Sprintf("SELECT COUNT(*) FROM %s AS t WHERE %s IS NOT NULL AND NOT (%s)", sqlite.Quote(table), column, fmt.Sprintf(fitting[of], column)))
		switch {
		case err != nil:
			return err
		case n == 0:
			columns[at].Type = "none"
		case of == record.DateTime:
			columns[at].Misfit = fmt.Sprintf("filters may miss values that are not in the form 2006-01-02T15:04:05.0000000, of which there are %d", n)
		default:
			columns[at].Misfit = fmt.Sprintf("the number of values that cannot be read as %s is %d", f.Type, n)
		}
	}
	return nil
}
