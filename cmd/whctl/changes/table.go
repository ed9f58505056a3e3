package changes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// table is a copy of a kind.
type table struct {
	name    string
	columns []record.Field
	key     []int  // indexes of columns
	put     string // statement that adds or replaces a row
	remove  string // statement that deletes the row with a key
}

// newTable returns the table of a kind without the omitted fields.
func newTable(kind *record.Kind, name string, key, omitted []string) (*table, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("the service returned no key of %s", kind.Name)
	}
	isOmitted := func(f record.Field) bool { return slices.Contains(omitted, f.Name) }
	columns := slices.DeleteFunc(slices.Clone(kind.Fields), isOmitted)

	t := &table{name: name, columns: columns}
	var where []string
	for n, fieldName := range key {
		i := slices.IndexFunc(columns, func(f record.Field) bool { return f.Name == fieldName })
		if i < 0 {
			return nil, fmt.Errorf("the key field %s of %s is not among its fields", fieldName, kind.Name)
		}
		f := columns[i]
		parameter := fmt.Sprintf("?%d", n+1)
		t.key = append(t.key, i)
		where = append(where, keyTerm(f, sqlite.Quote(f.Name))+" = "+keyTerm(f, parameter))
	}
	values := "?" + strings.Repeat(", ?", len(columns)-1)
	t.put = "INSERT OR REPLACE INTO " + sqlite.Quote(name) + " VALUES (" + values + ")"
	t.remove = "DELETE FROM " + sqlite.Quote(name) + " WHERE " + strings.Join(where, " AND ")
	return t, nil
}

// columnType returns the type of a column for values of a type. Columns of numbers have none:
// with one, SQLite would convert a text such as 010, which the service cannot read as a number,
// and it would no longer be the value of the record, nor its key. Decimals are texts, which have
// all digits.
func columnType(t record.Type) string {
	switch t {
	case record.Int, record.Short, record.Byte, record.Long, record.Bool, record.Double:
		return ""
	case record.Bytes:
		return "BLOB"
	}
	return "TEXT"
}

// createStatements returns the statements that create the table. A primary key cannot have
// expressions, so a key with decimals gets a unique index instead.
func (t *table) createStatements() []string {
	columns := record.Texts(t.columns, func(f record.Field) string {
		return strings.TrimSpace(sqlite.Quote(f.Name) + " " + columnType(f.Type))
	})
	var key []string
	hasDecimal := false
	for _, i := range t.key {
		f := t.columns[i]
		key = append(key, keyTerm(f, sqlite.Quote(f.Name)))
		hasDecimal = hasDecimal || f.Type == record.Decimal
	}

	name := sqlite.Quote(t.name)
	definitions := strings.Join(columns, ", ")
	keyList := "(" + strings.Join(key, ", ") + ")"
	if !hasDecimal {
		return []string{"CREATE TABLE " + name + " (" + definitions + ", PRIMARY KEY " + keyList + ")"}
	}
	return []string{
		"CREATE TABLE " + name + " (" + definitions + ")",
		"CREATE UNIQUE INDEX " + sqlite.Quote(t.name+"_key") + " ON " + name + " " + keyList,
	}
}

// keyTerm returns the SQL expression by which a value of a key is compared: a column or a
// parameter.
func keyTerm(f record.Field, sql string) string {
	if f.Type == record.Decimal {
		return withoutTrailingZeros(sql)
	}
	return sql
}

// withoutTrailingZeros returns the SQL expression of a decimal without the zeros at its end, so
// that 1.5 and 1.50 are the same key after the scale of the column has changed. Texts that are no
// decimals stay as they are: A.0 and A.00 are different keys, and so are 01.5 and 01.50.
func withoutTrailingZeros(sql string) string {
	const stripped = `CASE WHEN ` +
		// One point, between digits: not 100, x. or 1.0.0.
		`%[1]s GLOB '*[0-9].[0-9]*' AND %[1]s NOT GLOB '*.*.*' AND ` +
		// Only digits, after at most one sign: not A.0, 1-2.0 or --1.0.
		`%[1]s GLOB '[-0-9]*' AND %[1]s NOT GLOB '?*[^0-9.]*' AND ` +
		// No zeros before other digits: not 01.5, but 0.5.
		`ltrim(%[1]s, '-') NOT GLOB '0[0-9]*' ` +
		`THEN rtrim(rtrim(%[1]s, '0'), '.') ELSE %[1]s END`
	return fmt.Sprintf(stripped, sql)
}

// values returns the values of a row for the columns. Those of the key are read from another row:
// changes have a key with all its fields, but records may lack some.
func (t *table) values(row, key client.Row) ([]any, error) {
	values := make([]any, len(t.columns))
	for i, f := range t.columns {
		if slices.Contains(t.key, i) {
			continue
		}
		v, err := valueOf(f.Type, row.Value(f.Name))
		if err != nil {
			return nil, unexpectedValue(f)
		}
		values[i] = v
	}
	keyValues, err := t.keyValues(key)
	if err != nil {
		return nil, err
	}
	for n, i := range t.key {
		values[i] = keyValues[n]
	}
	return values, nil
}

// keyValues returns the values of a key, which are not null.
func (t *table) keyValues(key client.Row) ([]any, error) {
	var values []any
	for _, i := range t.key {
		f := t.columns[i]
		v, err := valueOf(f.Type, key.Value(f.Name))
		if err != nil || v == nil {
			return nil, unexpectedValue(f)
		}
		values = append(values, v)
	}
	return values, nil
}

// Errors of a copy that has to be loaded again.
var (
	errFields = errors.New("its fields have changed")
	errValue  = errors.New("a value is not of the type of its field") // which has changed, probably
)

func unexpectedValue(f record.Field) error { return fmt.Errorf("%w: %s", errValue, f.Name) }

// valueOf converts a value to that of a column.
func valueOf(t record.Type, v client.Value) (any, error) {
	if v.Null() {
		return nil, nil
	}
	text := v.String()
	if v[0] == '"' && (t.Number() || t == record.Bool) {
		return text, nil // a value that the service cannot read as the type either
	}
	switch t {
	case record.Bool:
		n, err := wire.ParseBool(text)
		return int64(n), err
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.ParseInt(text, 10, 64)
	case record.Double:
		return strconv.ParseFloat(text, 64)
	case record.Bytes:
		return bytesOf(text), nil
	}
	return text, nil
}

// bytesOf decodes a text in base64. A text that is no base64 was stored as text; keep it.
func bytesOf(text string) any {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return append([]byte{}, b...) // not nil, which would be a null
}

// apply applies changes to a table.
func (t *table) apply(conn *sqlite.Conn, changes []wire.Change) error {
	for _, c := range changes {
		if err := t.applyChange(conn, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) applyChange(conn *sqlite.Conn, c wire.Change) error {
	key, err := client.ParseRow(c.KeyFields)
	if err != nil {
		return err
	}
	if c.Op == wire.OpDeleted {
		values, err := t.keyValues(key)
		if err != nil {
			return err
		}
		return conn.Query(t.remove, nil, values...)
	}

	row, err := client.ParseRow(c.Record)
	if err != nil {
		return err
	}
	values, err := t.values(row, key)
	if err != nil {
		return err
	}
	return conn.Query(t.put, nil, values...)
}
