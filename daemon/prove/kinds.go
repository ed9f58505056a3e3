package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// eachKind runs a check for all kinds, or those with rows. Kinds with the same result share
// one.
func (p *reader) eachKind(work func(*reader, *table) (int, error), units string, onRows bool) (all []check.Result) {
	kinds := make(map[check.Result][]string)
	total := 0
	for _, t := range p.tables {
		n, err := 0, errNoRows
		if !onRows || len(t.rows) > 0 {
			n, err = work(p, t)
		}
		if err == nil {
			total += n
		}
		r := resultOf("", err)
		if kinds[r] == nil {
			all = append(all, r)
		}
		kinds[r] = append(kinds[r], t.kind.Name)
	}
	for i, r := range all {
		if r.Status == check.OK {
			all[i].Detail = fmt.Sprintf("%d %s of %d kinds", total, units, len(kinds[r]))
		} else {
			all[i].Detail = listed(kinds[r]) + ": " + r.Detail
		}
	}
	return all
}

// stable repeats a comparison of rows that failed, with new rows, since other programs
// change them. Fields that differ in all rows of the new read are no longer compared.
func stable(p *reader, t *table, compare func() error) (err error) {
	for range 3 {
		err = compare()
		if resultOf("", err).Status != check.Failed {
			break
		}
		rows, _, failure := p.read(t, first())
		if failure != nil {
			return failure
		}
		t.findVarying(rows)
		t.rows = rows
	}
	return err
}

// findVarying marks the fields that differ in all rows from those of the read before, if
// both have the same rows by their keys.
func (t *table) findVarying(rows [][]value) {
	if len(rows) == 0 || len(rows) != len(t.rows) {
		return
	}
	differs := func(field int) (n int) {
		for i, r := range rows {
			if fmt.Sprint(r[field]) != fmt.Sprint(t.rows[i][field]) {
				n++
			}
		}
		return n
	}
	if differs(t.kind.KeyField()) > 0 {
		return
	}
	for field := range t.kind.Fields {
		if differs(field) == len(rows) {
			t.varying[field] = true
		}
	}
}

// text returns the values of a row for comparison.
func (t *table) text(r []value) string {
	compared := slices.Clone(r)
	for field, varies := range t.varying {
		if varies {
			compared[field] = value{}
		}
	}
	return fmt.Sprint(compared)
}

func (t *table) texts(rows [][]value) []string {
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = t.text(r)
	}
	return texts
}

var (
	errNoRows = notChecked("no rows were read")
	// whd check lists which tables were served before, and which remedies there are.
	errNotSeen = notChecked("no table or view is seen")
)

func columns(p *reader, t *table) (int, error) { return len(t.kind.Fields), t.err }

// parameterTypes are the types of the parameters for columns, by the columns' types.
// Numbers and dates are texts, which the statement casts.
var parameterTypes = map[string]string{
	"char": "varchar", "varchar": "varchar", "nchar": "nvarchar", "nvarchar": "nvarchar", "bit": "bit",
	"tinyint": "tinyint", "smallint": "smallint", "int": "int", "bigint": "bigint", "uniqueidentifier": "uniqueidentifier",
	"binary": "varbinary", "varbinary": "varbinary", "timestamp": "varbinary", "rowversion": "varbinary",
	"decimal": "cast", "numeric": "cast", "money": "cast", "smallmoney": "cast",
	"date": "cast", "smalldatetime": "cast", "datetime": "cast", "datetime2": "cast",
}

// fits reports whether a parameter for a field has the type of the field's column.
func fits(p *reader, t *table, field int) bool {
	operands := t.values(field, 1)
	if len(operands) == 0 {
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

func parameters(p *reader, t *table) (n int, err error) {
	var others []string
	for i, f := range t.kind.Fields {
		if f.Filter != record.NoFilter && !fits(p, t, i) {
			others = append(others, f.Name+" ("+t.live.ByField[i].Declared()+")")
		}
	}
	if others != nil {
		return 0, warning("%d columns are converted for comparisons: %s", len(others), listed(others))
	}
	return len(t.kind.Fields), nil
}

func roundTrip(p *reader, t *table) (n int, err error) {
	bad := make(map[check.Status][]string)
	for _, c := range t.filters() {
		if !fits(p, t, c.Field) {
			continue
		}
		n++
		r := resultOf("", verify(p, t, c.Field, c.Operator))
		if r.Status != check.OK {
			bad[r.Status] = append(bad[r.Status], t.kind.Fields[c.Field].Name+" "+c.Operator.String()+": "+r.Detail)
		}
		if r.Detail == timeLimit {
			break // a slow view, which further statements would read again
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
// only, and compares the rows found.
func verify(p *reader, t *table, field int, op record.Operator) error {
	if isSearch(op) && t.large() || !t.findsKeys(p) {
		return notChecked("size")
	}
	return stable(p, t, func() error {
		if t.varying[field] {
			return notChecked("differs with each read")
		}
		c, ok := t.condition(field, op)
		if !ok {
			return errNoRows
		}
		where := []query.Condition{c}
		if t.large() {
			key := t.kind.KeyField()
			where = append(where, query.Condition{Field: key, Operator: record.In, Operands: t.values(key, maxRows)})
		}
		found, _, err := p.read(t, first(where...))
		if err != nil {
			return err
		}
		return t.compare(c, found)
	})
}

// findsKeys reports whether rows can be found by their keys without reading a table that is
// known to be large.
func (t *table) findsKeys(p *reader) bool {
	return t.size < maxSearched || t.leads(t.kind.KeyName()) && fits(p, t, t.kind.KeyField())
}

// compare compares the rows that a filter has found with those that match.
func (t *table) compare(c query.Condition, found [][]value) error {
	fieldType := t.kind.Fields[c.Field].Type.Stored()
	seen := make(map[string]bool)
	for _, r := range found {
		seen[t.text(r)] = true
		if matches(fieldType, c, r[c.Field]) == no {
			return failed("finds a row that does not match")
		}
	}
	for _, r := range t.rows {
		isMissing := len(found) < maxRows && !seen[t.text(r)]
		if isMissing && matches(fieldType, c, r[c.Field]) == yes {
			return failed("misses a row that matches")
		}
	}
	return nil
}

func pages(p *reader, t *table) (n int, err error) {
	const size = 4
	if t.large() && !t.leads(t.kind.KeyName()) {
		return 0, notChecked("size: no index starts with %s", t.kind.KeyName())
	}
	return (maxRows + size - 1) / size, stable(p, t, func() error {
		whole, _, err := p.read(t, query.Request{Take: maxRows})
		if err != nil {
			return err
		}
		var paged [][]value
		for skip := 0; skip < maxRows; skip += size {
			take := min(size, maxRows-skip)
			page, _, err := p.read(t, query.Request{Skip: int64(skip), SkipSet: true, Take: int64(take)})
			if err != nil {
				return err
			}
			paged = append(paged, page...)
		}
		if !slices.Equal(t.texts(whole), t.texts(paged)) {
			return failed("pages by %s repeat or omit rows; it may not be unique", t.kind.KeyName())
		}
		return nil
	})
}

// stamps returns the rowversion columns, and a column with a given name.
func (t *table) stamps(name string) (all []string) {
	for _, c := range t.columns {
		if c.Type == "timestamp" || c.Type == "rowversion" || strings.EqualFold(c.Name, name) {
			all = append(all, c.Name)
		}
	}
	return all
}

func rowVersions(p *reader, t *table) (n int, err error) { return len(t.stamps("")), t.err }

func stampIndexes(p *reader, t *table) (n int, err error) {
	stamps := t.stamps("LastSavedDateTime")
	indexed := slices.DeleteFunc(slices.Clone(stamps), func(name string) bool { return !t.leads(name) })
	scans := len(stamps) > 0 && len(indexed) == 0
	if scans && t.size >= maxSearched {
		return 0, warning("no index starts with one of %d columns that change with the row, so reading recent changes scans the table", len(stamps))
	}
	return len(indexed), t.err
}
