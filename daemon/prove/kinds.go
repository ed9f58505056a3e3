package prove

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// kindChecks are the checks of each record kind.
type kindChecks struct{ *reader }

func (p kindChecks) columns(t *table) (int, error) { return len(t.kind.Fields), p.load(t) }

// loadRows loads a table that must have rows.
func (p kindChecks) loadRows(t *table) error {
	if p.load(t) != nil || len(t.rows) == 0 {
		return notChecked("no rows were read")
	}
	return nil
}

// parameterTypes are the types of the parameters for columns, by the columns' types.
// Numbers and dates are texts, which the statement casts.
var parameterTypes = map[string]string{
	"char": "varchar", "varchar": "varchar", "nchar": "nvarchar", "nvarchar": "nvarchar", "bit": "bit",
	"tinyint": "tinyint", "smallint": "smallint", "int": "int", "bigint": "bigint", "uniqueidentifier": "uniqueidentifier",
	"binary": "varbinary", "varbinary": "varbinary", "timestamp": "varbinary", "rowversion": "varbinary",
	"decimal": "cast", "numeric": "cast", "money": "cast", "smallmoney": "cast", "date": "cast", "smalldatetime": "cast", "datetime": "cast", "datetime2": "cast",
}

// fits reports whether a parameter for a field has the type of the field's column.
func (p kindChecks) fits(t *table, field int) bool {
	operands := t.values(field, 1)
	if p.server == nil || len(operands) == 0 {
		return true
	}
	st, err := p.compile(t, first(query.Condition{Field: field, Operands: operands}))
	if err != nil {
		return false
	}
	declared, _, _ := strings.Cut(t.live.Bind(st.Args)[0].Declared(), "(")
	if strings.Contains(st.SQL, "CAST(@p1") {
		declared = "cast"
	}
	return declared == parameterTypes[t.live.ByField[field].Type]
}

func (p kindChecks) parameters(t *table) (n int, err error) {
	if err := p.loadRows(t); err != nil {
		return 0, err
	}
	var others []string
	for i, f := range t.kind.Fields {
		if n++; f.Filter != record.NoFilter && !p.fits(t, i) {
			others = append(others, f.Name+" ("+t.live.ByField[i].Declared()+")")
		}
	}
	if others != nil {
		return 0, warning("%d columns are converted for comparisons: %s", len(others), listed(others))
	}
	return n, nil
}

func (p kindChecks) roundTrip(t *table) (n int, err error) {
	if err := p.loadRows(t); err != nil {
		return 0, err
	}
	bad := make(map[check.Status][]string)
	for field, f := range t.kind.Fields {
		for op := record.Equal; op <= record.IsNotNull; op++ {
			if _, ok := t.condition(field, op); !ok || !f.Filter.Allows(op) || !p.fits(t, field) {
				continue
			}
			n++
			if r := resultOf("", p.verify(t, field, op)); r.Status != check.OK {
				bad[r.Status] = append(bad[r.Status], f.Name+" "+op.String()+": "+r.Detail)
			}
		}
	}
	for _, status := range []check.Status{check.Failed, check.NotChecked} {
		if all := bad[status]; all != nil {
			return n, outcomef(status, "%d of %d statements: %s", len(all), n, listed(all))
		}
	}
	return n, nil
}

// verify runs a filter with operands of the first rows, in a large table on these rows
// only, and compares the rows found. If they differ, it tries again with new rows, since
// other programs change them.
func (p kindChecks) verify(t *table, field int, op record.Operator) (err error) {
	if isSearch(op) && t.large() {
		return notChecked("size")
	}
	for range 3 {
		c, _ := t.condition(field, op)
		where := []query.Condition{c}
		if key := t.kind.KeyField(); t.large() {
			where = append(where, query.Condition{Field: key, Operator: record.In, Operands: t.values(key, maxRows)})
		}
		found, _, failure := p.read(t, first(where...))
		if failure != nil {
			return failure
		}
		if err = t.compare(c, found); err == nil {
			return nil
		}
		t.loaded = false
		if failure := p.loadRows(t); failure != nil {
			return failure
		}
	}
	return err
}

// compare compares the rows that a filter has found with those that match.
func (t *table) compare(c query.Condition, found [][]value) error {
	of := t.kind.Fields[c.Field].Type.Stored()
	seen := make(map[string]bool)
	for _, r := range found {
		if seen[fmt.Sprint(r)] = true; matches(of, c, r[c.Field]) == no {
			return failed("finds a row that does not match")
		}
	}
	for _, r := range t.rows {
		if len(found) < maxRows && !seen[fmt.Sprint(r)] && matches(of, c, r[c.Field]) == yes {
			return failed("misses a row that matches")
		}
	}
	return nil
}

func (p kindChecks) pages(t *table) (n int, err error) {
	const size = 4
	if err := p.loadRows(t); err != nil {
		return 0, err
	}
	if t.large() && !t.leads(t.kind.KeyName()) {
		return 0, notChecked("size: no index starts with %s", t.kind.KeyName())
	}
	for range 3 { // since other programs change rows
		whole, _, err := p.read(t, query.Request{Take: maxRows})
		var paged [][]value
		for n = 0; err == nil && n*size < maxRows; n++ {
			var page [][]value
			page, _, err = p.read(t, query.Request{Skip: int64(n * size), SkipSet: true, Take: int64(min(size, maxRows-n*size))})
			paged = append(paged, page...)
		}
		if err != nil || fmt.Sprint(whole) == fmt.Sprint(paged) {
			return n, err
		}
	}
	return n, failed("pages by %s repeat or omit rows; it may not be unique", t.kind.KeyName())
}

func isRowVersion(c mssql.Column) bool { return c.Type == "timestamp" || c.Type == "rowversion" }

func (p kindChecks) rowVersions(t *table) (n int, err error) {
	err = p.load(t)
	for _, c := range t.columns {
		if isRowVersion(c) {
			n++
		}
	}
	return n, err
}

func (p kindChecks) stampIndexes(t *table) (n int, err error) {
	err = p.load(t)
	var without []string
	for _, c := range t.columns {
		switch {
		case !isRowVersion(c) && !strings.EqualFold(c.Name, "LastSavedDateTime"):
		case t.leads(c.Name):
			n++
		default:
			without = append(without, c.Name)
		}
	}
	if err == nil && n == 0 && without != nil && t.size >= maxSearched {
		err = warning("no index starts with %s, so reading recent changes scans the table", listed(without))
	}
	return n, err
}
