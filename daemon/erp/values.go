package erp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkValues sets Misfit of columns with values that cannot be read as their fields' types, or
// are empty texts. Other columns are as good as those of the fields' types.
func checkValues(conn *sqlite.Conn, kind *record.Kind, table string, columns []Column) error {
	for _, f := range kind.Fields {
		i := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, f.ColumnName()) })
		if i < 0 || f.Type.Stored() == record.Text {
			continue
		}
		if fileTypes.ofField(f, columns[i].Type) == incompatible {
			continue
		}
		misfit, err := findMisfits(conn, f, table, columns[i].Name)
		if err != nil {
			return err
		}
		columns[i].Misfit = misfit
		if misfit == "" {
			columns[i].Type = "none"
		}
	}
	return nil
}

// findMisfits counts the values of a column that cannot be read as the type of a field, and
// describes them; empty if there are none.
func findMisfits(conn *sqlite.Conn, f record.Field, table, columnName string) (string, error) {
	column := "t." + sqlite.Quote(columnName)
	count := func(condition string) (int64, error) {
		n, _, err := conn.QueryInt("SELECT COUNT(*) FROM " + sqlite.Quote(table) + " AS t WHERE " + condition)
		return n, err
	}
	wrong, err := count(column + " <> '' AND " + query.TypedValue(f, column) + " IS NULL")
	if err != nil {
		return "", err
	}
	empty, err := count(column + " = ''")
	if err != nil {
		return "", err
	}
	blobs := int64(0)
	if f.Type == record.Guid && f.Blob == "" {
		blobs, err = count("typeof(" + column + ") = 'blob' AND length(" + column + ") = 16")
		if err != nil {
			return "", err
		}
	}
	return misfits(f.Type, wrong, empty, blobs), nil
}

// misfits describes the numbers of values that are not of a type, of empty texts, and of blobs
// that may be GUIDs.
func misfits(t record.Type, wrong, empty, blobs int64) string {
	var texts []string
	if wrong > 0 {
		texts = append(texts, fmt.Sprintf("the number of values that cannot be read as %s is %d: "+
			"they are returned as their own texts, and meet no condition", t, wrong))
	}
	if blobs > 0 {
		texts = append(texts, fmt.Sprintf(`the number of blobs of 16 bytes among them is %d: `+
			`if these are GUIDs, declare the order of their bytes in the file of the kind, `+
			`by blob = "net" (as .NET writes them) or blob = "rfc" (in the order of the text)`, blobs))
	}
	if empty > 0 {
		texts = append(texts, fmt.Sprintf("the number of empty texts, which are null, is %d", empty))
	}
	return strings.Join(texts, "; ")
}
