package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// eachKind runs a check for each kind. Kinds with the same result share one.
func (p *reader) eachKind(d *definition) (results []check.Result) {
	kinds := make(map[check.Result][]string)
	total := 0
	for _, t := range p.tables {
		n, err := p.checkKind(d, t)
		if err == nil {
			total += n
		}
		r := resultOf("", err)
		if kinds[r] == nil {
			results = append(results, r)
		}
		kinds[r] = append(kinds[r], t.kind.Name)
	}
	for i, r := range results {
		if r.Status == check.OK {
			results[i].Detail = fmt.Sprintf("%d %s of %d kinds", total, d.units, len(kinds[r]))
		} else {
			results[i].Detail = listed(kinds[r]) + ": " + r.Detail
		}
	}
	return results
}

// checkKind runs a check for a kind, unless it needs rows and the table has none.
func (p *reader) checkKind(d *definition, t *table) (n int, err error) {
	if d.onRows && len(t.rows) == 0 {
		return 0, errNoRows
	}
	return d.kind(p, t)
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
	"char":             "varchar",
	"varchar":          "varchar",
	"nchar":            "nvarchar",
	"nvarchar":         "nvarchar",
	"bit":              "bit",
	"tinyint":          "tinyint",
	"smallint":         "smallint",
	"int":              "int",
	"bigint":           "bigint",
	"uniqueidentifier": "uniqueidentifier",
	"binary":           "varbinary",
	"varbinary":        "varbinary",
	"timestamp":        "varbinary",
	"rowversion":       "varbinary",
	"decimal":          "cast",
	"numeric":          "cast",
	"money":            "cast",
	"smallmoney":       "cast",
	"date":             "cast",
	"smalldatetime":    "cast",
	"datetime":         "cast",
	"datetime2":        "cast",
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
	var converted []string
	for i, f := range t.kind.Fields {
		if f.Filter != record.NoFilter && !fits(p, t, i) {
			converted = append(converted, f.Name+" ("+t.live.ByField[i].Declared()+")")
		}
	}
	if converted != nil {
		return 0, warning("%d columns are converted for comparisons: %s",
			len(converted), listed(converted))
	}
	return len(t.kind.Fields), nil
}

func roundTrip(p *reader, t *table) (n int, err error) {
	problems := make(map[check.Status][]string)
	for _, c := range t.filters() {
		if !fits(p, t, c.Field) {
			continue
		}
		n++
		r := resultOf("", verify(p, t, c.Field, c.Operator))
		if r.Status != check.OK {
			filter := t.kind.Fields[c.Field].Name + " " + c.Operator.String()
			problems[r.Status] = append(problems[r.Status], filter+": "+r.Detail)
		}
		if r.Detail == timeLimit {
			break // a slow view, which further statements would read again
		}
	}
	for _, status := range []check.Status{check.Failed, check.NotChecked} {
		if texts := problems[status]; texts != nil {
			return n, outcomef(status, "%d of %d statements: %s", len(texts), n, listed(texts))
		}
	}
	return n, nil
}

// verify runs a filter with operands of the first rows, in a large table on these rows
// only, and compares the rows found.
func verify(p *reader, t *table, field int, op record.Operator) error {
	isSlow := isSearch(op) && t.large()
	if isSlow || !t.findsKeys(p) {
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
			where = append(where, query.Condition{
				Field:    key,
				Operator: record.In,
				Operands: t.values(key, maxRows),
			})
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
	if t.size < maxSearched {
		return true
	}
	return t.leads(t.kind.KeyName()) && fits(p, t, t.kind.KeyField())
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

// pageSize is the number of rows of a page in the check of pages.
const pageSize = 4

func pages(p *reader, t *table) (n int, err error) {
	if t.large() && !t.leads(t.kind.KeyName()) {
		return 0, notChecked("size: no index starts with %s", t.kind.KeyName())
	}
	n = (maxRows + pageSize - 1) / pageSize
	return n, stable(p, t, func() error { return p.comparePages(t) })
}

// comparePages compares the first rows with the same rows in pages.
func (p *reader) comparePages(t *table) error {
	whole, _, err := p.read(t, query.Request{Take: maxRows})
	if err != nil {
		return err
	}
	var paged [][]value
	for skip := 0; skip < maxRows; skip += pageSize {
		page, _, err := p.read(t, query.Request{
			Skip:    int64(skip),
			SkipSet: true,
			Take:    int64(min(pageSize, maxRows-skip)),
		})
		if err != nil {
			return err
		}
		paged = append(paged, page...)
	}
	if !slices.Equal(t.texts(whole), t.texts(paged)) {
		return failed("pages by %s repeat or omit rows; it may not be unique", t.kind.KeyName())
	}
	return nil
}

// rowVersionColumns returns the names of the rowversion columns.
func (t *table) rowVersionColumns() (names []string) {
	for _, c := range t.columns {
		if c.Type == "timestamp" || c.Type == "rowversion" {
			names = append(names, c.Name)
		}
	}
	return names
}

func rowVersions(p *reader, t *table) (n int, err error) { return len(t.rowVersionColumns()), t.err }

func stampIndexes(p *reader, t *table) (n int, err error) {
	stamps := t.rowVersionColumns()
	for _, c := range t.columns {
		if strings.EqualFold(c.Name, "LastSavedDateTime") {
			stamps = append(stamps, c.Name)
		}
	}
	indexed := 0
	for _, name := range stamps {
		if t.leadsColumn(name) {
			indexed++
		}
	}
	scans := len(stamps) > 0 && indexed == 0
	if scans && t.size >= maxSearched {
		return 0, warning("no index starts with one of %d columns that change with the row,"+
			" so reading recent changes scans the table", len(stamps))
	}
	return indexed, t.err
}
