package erp

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// querier is implemented by *sql.DB and *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// hasRows reports whether a table has rows; false if the table does not exist.
func hasRows(ctx context.Context, db querier, t mssql.Table) (bool, error) {
	found, err := exists(ctx, db, t)
	if err != nil || !found {
		return false, err
	}
	statement := "SELECT COUNT(*) FROM (SELECT TOP 1 1 AS n FROM " + t.Quoted() + ") AS q"
	var n int
	err = db.QueryRowContext(ctx, statement).Scan(&n)
	return n > 0, err
}

func exists(ctx context.Context, db querier, t mssql.Table) (bool, error) {
	const statement = "SELECT CASE WHEN OBJECT_ID(@p1) IS NULL THEN 0 ELSE 1 END"
	var n int
	err := db.QueryRowContext(ctx, statement, t.Quoted()).Scan(&n)
	return n > 0, err
}

// tableWriter creates and fills one table.
type tableWriter struct {
	tx     *sql.Tx
	kind   *record.Kind
	name   mssql.Table
	seeded *Seeded
	types  []serverType
	batch  rowBatch
	single string // statement that inserts one row
}

// serverType is the SQL type of a column to create.
type serverType struct {
	name             string // in SQL
	precision, scale int    // for decimals
}

// seed creates the table if it is missing, and inserts the rows. It fails if the table has rows.
func (w *tableWriter) seed(ctx context.Context, rows Rows) error {
	notEmpty, err := hasRows(ctx, w.tx, w.name)
	if err != nil {
		return err
	}
	if notEmpty {
		return fault.New(fault.Conflict, "%s already has rows", w.name)
	}
	for i, size := range measureColumns(w.kind, rows) {
		w.types = append(w.types, columnType(w.kind.Fields[i].Type, size))
	}
	if err := w.create(ctx); err != nil {
		return err
	}
	w.prepare()
	for values := range rows(w.kind) {
		if err := w.add(ctx, values); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// textLengths are the sizes in characters of text columns that can be indexed. The size
// chosen exceeds the longest value, so that searches for longer texts can be tested.
var textLengths = []int{40, 100, 255, 400}

// columnType returns the type of a column for values of a size.
func columnType(t record.Type, size columnSize) serverType {
	t = t.Stored()
	switch t {
	case record.Text:
		name := "varchar"
		if size.nonASCII {
			name = "nvarchar"
		}
		for _, n := range textLengths {
			if size.length < n {
				return serverType{name: fmt.Sprintf("%s(%d)", name, n)}
			}
		}
		return serverType{name: name + "(max)"}
	case record.Decimal:
		return decimalColumn(size)
	}
	return serverType{name: createdTypes[t]}
}

// createdTypes are the types of created columns that do not depend on the size of values.
var createdTypes = map[record.Type]string{
	record.Int:      "int",
	record.Short:    "smallint",
	record.Byte:     "tinyint",
	record.Long:     "bigint",
	record.Bool:     "bit",
	record.DateTime: "datetime2(7)",
	record.Guid:     "uniqueidentifier",
	record.Double:   "float",
	record.Bytes:    "varbinary(max)",
}

// decimalColumn returns decimal(19,4), the range of money, if the values fit, else as
// many digits as they need. If these exceed the maximum, half are fractional digits.
func decimalColumn(size columnSize) serverType {
	const (
		moneyDigits = 19
		moneyScale  = 4
	)
	intDigits := max(size.intDigits, moneyDigits-moneyScale)
	scale := max(size.fractionDigits, moneyScale)
	if intDigits+scale > wire.MaxDigits {
		intDigits = size.intDigits
		scale = size.fractionDigits
	}
	if intDigits+scale > wire.MaxDigits {
		intDigits = wire.MaxDigits / 2
		scale = wire.MaxDigits / 2
	}
	precision := intDigits + scale
	return serverType{
		name:      fmt.Sprintf("decimal(%d,%d)", precision, scale),
		precision: precision,
		scale:     scale,
	}
}

// create creates the table, if it is missing, with an index on its first column, which is
// unique if it identifies a row.
func (w *tableWriter) create(ctx context.Context) error {
	found, err := exists(ctx, w.tx, w.name)
	if err != nil || found {
		return err
	}
	unique := isIdentified(w.kind)
	columns := make([]string, len(w.types))
	for i, f := range w.kind.Fields {
		isKey := unique && i == 0
		null := " NOT NULL"
		if bool(f.Null) && !isKey {
			null = " NULL"
		}
		columns[i] = mssql.Quote(f.ColumnName()) + " " + w.types[i].name + null
	}
	create := "CREATE TABLE " + w.name.Quoted() + " (" + strings.Join(columns, ", ") + ")"
	if _, err := w.tx.ExecContext(ctx, create); err != nil {
		return err
	}
	if strings.HasSuffix(w.types[0].name, "(max)") {
		return nil
	}
	first := mssql.Quote(w.kind.Fields[0].ColumnName())
	index := "CREATE " + uniqueIndex(unique) + mssql.Quote("IX_"+w.name.Name) + " ON " +
		w.name.Quoted() + " (" + first + ")"
	_, err = w.tx.ExecContext(ctx, index)
	return err
}

// prepare builds the statements that insert a batch and a single row.
func (w *tableWriter) prepare() {
	var values []string
	for i, f := range w.kind.Fields {
		value := "@p" + strconv.Itoa(i+1)
		if t := f.Type.Stored(); t != record.Text && t != record.Bytes {
			value = "CAST(" + value + " AS " + w.types[i].name + ")"
		}
		values = append(values, value)
	}
	into := "INSERT INTO " + w.name.Quoted() + " (" + strings.Join(quotedNames(w.kind), ", ") + ")"
	w.single = into + " VALUES (" + strings.Join(values, ", ") + ")"
	w.batch.prepare(into, w.kind, w.types)
}

func quotedNames(kind *record.Kind) []string {
	names := kind.ColumnNames()
	for i, name := range names {
		names[i] = mssql.Quote(name)
	}
	return names
}

// add adds a row to the batch. A row with text that JSON has to escape is inserted
// separately, because Babelfish does not decode the escapes.
func (w *tableWriter) add(ctx context.Context, values []any) error {
	values = slices.Clone(values)
	hasEscapes := false
	for i, v := range values {
		if text, ok := v.(string); ok {
			values[i] = w.fitToColumn(i, text)
			hasEscapes = hasEscapes || query.EscapedInJSON(text)
		}
	}
	if hasEscapes {
		return w.addSingle(ctx, values)
	}
	w.batch.add(values)
	if len(w.batch.json)+len(w.batch.bytes) >= batchSize {
		return w.flush(ctx)
	}
	return nil
}

// addSingle inserts a row. It changes values.
func (w *tableWriter) addSingle(ctx context.Context, values []any) error {
	for i, v := range values {
		if v != nil {
			continue
		}
		values[i] = typedNull(w.kind.Fields[i].Type.Stored())
	}
	_, err := w.tx.ExecContext(ctx, w.single, values...)
	w.seeded.Rows++
	return err
}

// typedNull returns a null of a type that the server converts to that of a column.
func typedNull(t record.Type) any {
	if t.Integer() || t == record.Bool {
		return sql.NullInt64{}
	}
	if t == record.Bytes {
		return []byte(nil)
	}
	return sql.NullString{}
}

// fitToColumn returns the decimal closest to text that column i can hold.
func (w *tableWriter) fitToColumn(i int, text string) string {
	if w.kind.Fields[i].Type != record.Decimal {
		return text
	}
	fitted := roundToFit(text, w.types[i].precision, w.types[i].scale)
	if fitted != text {
		w.seeded.Changed++
	}
	return fitted
}

func (w *tableWriter) flush(ctx context.Context) error {
	b := &w.batch
	if b.rows == 0 {
		return nil
	}
	b.json[0] = '['
	args := []any{string(b.json) + "]"}
	if len(b.blobs) > 0 {
		args = append(args, append([]byte{}, b.bytes...))
	}
	_, err := w.tx.ExecContext(ctx, b.statement, args...)
	w.seeded.Rows += b.rows
	b.json = b.json[:0]
	b.bytes = b.bytes[:0]
	b.rows = 0
	return err
}

// roundToFit returns the number closest to text that fits a decimal type. A number other
// than zero is not rounded to zero.
func roundToFit(text string, precision, scale int) string {
	intDigits, fractionDigits := digitsOf(text)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	if intDigits > precision-scale {
		return sign + strings.Repeat("9", precision-scale) + "." + strings.Repeat("9", scale)
	}
	if fractionDigits <= scale {
		return text
	}
	rounded := text[:len(text)-(fractionDigits-scale)]
	isZero := func(number string) bool { return strings.Trim(number, "-0.") == "" }
	if isZero(rounded) && !isZero(text) {
		return rounded[:len(rounded)-1] + "1"
	}
	return rounded
}
