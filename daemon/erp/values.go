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
		t := f.Type.Stored()
		if i < 0 || t == record.Text || fileTypes.ofField(f, columns[i].Type) == incompatible {
			continue
		}
		column := "t." + sqlite.Quote(columns[i].Name)
		count := fmt.Sprintf("SELECT COUNT(*) FROM %s AS t WHERE ", sqlite.Quote(table))
		wrong, _, err := conn.QueryInt(count + column + " <> '' AND " + query.TypedValue(f, column) + " IS NULL")
		if err != nil {
			return err
		}
		empty, _, err := conn.QueryInt(count + column + " = ''")
		if err != nil {
			return err
		}
		blobs := int64(0)
		if f.Type == record.Guid && f.Blob == "" {
			blobs, _, err = conn.QueryInt(count + fmt.Sprintf("typeof(%s) = 'blob' AND length(%[1]s) = 16", column))
			if err != nil {
				return err
			}
		}
		columns[i].Misfit = misfits(f.Type, wrong, empty, blobs)
		if columns[i].Misfit == "" {
			columns[i].Type = "none"
		}
	}
	return nil
}

// misfits describes the numbers of values that are not of a type, of empty texts, and of blobs
// that may be GUIDs.
func misfits(t record.Type, wrong, empty, blobs int64) string {
	var all []string
	if wrong > 0 {
		all = append(all, fmt.Sprintf("the number of values that cannot be read as %s is %d: "+
			"they are returned as their own texts, and meet no condition", t, wrong))
	}
	if blobs > 0 {
		all = append(all, fmt.Sprintf(`the number of blobs of 16 bytes among them is %d: `+
			`if these are GUIDs, declare the order of their bytes in the file of the kind, `+
			`by blob = "net" (as .NET writes them) or blob = "rfc" (in the order of the text)`, blobs))
	}
	if empty > 0 {
		all = append(all, fmt.Sprintf("the number of empty texts, which are null, is %d", empty))
	}
	return strings.Join(all, "; ")
}
