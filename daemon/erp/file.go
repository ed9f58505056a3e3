package erp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// fileRecords is the backend for records in an embedded SQLite file.
type fileRecords struct {
	*executor.File
	kinds []*record.Kind
}

func newFileRecords(c Config) (*fileRecords, error) {
	pool, err := openRecords(c)
	if err != nil {
		return nil, err
	}
	return &fileRecords{
		File:  executor.NewFile(pool, c.fileTable, c.isOwn, nil),
		kinds: c.tables(),
	}, nil
}

// declaredTypes maps field types to the column types of tables in the embedded file.
// Values are stored as in JSON: text, digits, dates with seven fractional digits,
// hyphenated GUIDs. A type name contains TEXT if SQLite must not convert digits to a
// float.
var declaredTypes = map[record.Type]string{
	record.Text:     "TEXT COLLATE TSQL",
	record.Int:      "INTEGER",
	record.Short:    "INTEGER",
	record.Byte:     "INTEGER",
	record.Long:     "INTEGER",
	record.Decimal:  sqlite.DecimalType + " COLLATE DEC",
	record.Double:   "REAL",
	record.Bool:     "INTEGER",
	record.DateTime: "TEXT",
	record.Bytes:    "BLOB",
	record.Guid:     "TEXT",
}

// openRecords opens the file and creates the missing tables of the registered kinds.
func openRecords(c Config) (*sqlite.Pool, error) {
	pool, err := sqlite.NewPool(c.Path, recordOptions(), max(1, c.Connections))
	if err != nil {
		return nil, err
	}
	conn, err := pool.Get(context.Background())
	if err == nil {
		err = prepareRecords(conn, c)
		pool.Put(conn)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

func prepareRecords(conn *sqlite.Conn, c Config) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, kind := range c.tables() {
		if c.Sources[kind.Name] != "" {
			continue // not our table
		}
		if err := createTable(conn, kind); err != nil {
			return err
		}
	}
	if err := indexBills(conn, c); err != nil {
		return err
	}
	if err := errors.Join(identify(conn), followUnicode(conn)); err != nil {
		return err
	}
	return conn.Exec("COMMIT")
}

// createTable creates a kind's table and adds the columns that an older file lacks. Views of
// others are left unchanged.
func createTable(conn *sqlite.Conn, kind *record.Kind) error {
	const isViewQuery = "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ?1 COLLATE NOCASE"
	_, isView, err := conn.QueryInt(isViewQuery, kind.Name)
	if err != nil || isView {
		return err
	}
	existing, err := columnsOf(conn, kind.Name)
	if err != nil {
		return err
	}
	var columns, statements []string
	for i, f := range kind.Fields {
		column := sqlite.Quote(f.ColumnName()) + " " + declaredTypes[f.Type.Stored()]
		_, exists := existing[strings.ToLower(f.ColumnName())]
		if !exists && len(existing) > 0 {
			statements = append(statements, "ALTER TABLE "+sqlite.Quote(kind.Name)+" ADD COLUMN "+column)
		}
		if i == 0 && isIdentified(kind) {
			column += " NOT NULL"
		}
		columns = append(columns, column)
	}
	if len(existing) == 0 {
		create := "CREATE TABLE " + sqlite.Quote(kind.Name) + " (" + strings.Join(columns, ", ") + ")"
		statements = append(statements, create)
	}
	key := keyColumns(kind)
	isUnique := len(existing) == 0 && isIdentified(kind)
	statements = append(statements, createIndex(kind.Name, kind.Name+"_"+strings.Join(key, "_"), isUnique, key))
	for _, statement := range statements {
		if err := conn.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// keyColumns returns the columns of the declared key, or else of the first field: they
// complete the order of pages.
func keyColumns(kind *record.Kind) []string {
	if kind.Key == nil {
		return kind.ColumnNames()[:1]
	}
	return fieldColumns(kind, kind.Key)
}

func fieldColumns(kind *record.Kind, fields []string) (columns []string) {
	for _, field := range fields {
		index, _ := kind.Column(field) // exists
		columns = append(columns, kind.Fields[index].ColumnName())
	}
	return columns
}

func createIndex(table, name string, unique bool, columns []string) string {
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = sqlite.Quote(column)
	}
	return fmt.Sprintf("CREATE %sIF NOT EXISTS %s ON %s (%s)",
		uniqueIndex(unique), sqlite.Quote(name), sqlite.Quote(table), strings.Join(quoted, ", "))
}

// createIndexes creates indexes on columns of a table, followed by the columns of the key.
func createIndexes(conn *sqlite.Conn, table string, kind *record.Kind, names []string) error {
	for _, name := range names {
		columns := append([]string{name}, keyColumns(kind)...)
		if err := conn.Exec(createIndex(table, table+"_"+name, false, columns)); err != nil {
			return err
		}
	}
	return nil
}

func (b *fileRecords) CreateIndexes(ctx context.Context, kind *record.Kind) error {
	if len(kind.Index) == 0 {
		return nil
	}
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return executor.Classify(err)
	}
	defer b.Pool.Put(conn)
	existing, err := columnsOf(conn, b.Name(kind))
	if err != nil || len(existing) == 0 {
		return executor.Classify(err)
	}
	return createIndexes(conn, b.Name(kind), kind, fieldColumns(kind, kind.Index))
}

// orderedColumns returns the columns of the fields that have an order, without the first,
// which always has an index.
func orderedColumns(kind *record.Kind) (names []string) {
	for _, f := range kind.Fields[1:] {
		if f.Filter == record.OrderedFilter {
			names = append(names, f.ColumnName())
		}
	}
	return names
}

// fileTable returns the name of a kind's table or view, which has no schema in the file.
func (c Config) fileTable(kind *record.Kind) string {
	if source := c.Sources[kind.Name]; source != "" {
		return source
	}
	if table, ok := mssql.ParseTable(kind.Table, ""); ok {
		return table.Name
	}
	return kind.Name
}

// isOwn reports whether the table of a kind has been created here and has our column types.
// Tables of other programs may have others, and no index on the first field.
func (c Config) isOwn(conn *sqlite.Conn, kind *record.Kind) (bool, error) {
	if _, created := c.Registry.Lookup(kind.Name); !created || c.fileTable(kind) != kind.Name {
		return false, nil
	}
	types, err := columnsOf(conn, kind.Name)
	hasOtherType := func(f record.Field) bool {
		declared, _, _ := strings.Cut(declaredTypes[f.Type.Stored()], " ")
		return types[strings.ToLower(f.ColumnName())] != declared
	}
	return !slices.ContainsFunc(kind.Fields, hasOtherType), err
}

// columnsOf returns the declared types of a table's columns by name in lower case.
func columnsOf(conn *sqlite.Conn, table string) (map[string]string, error) {
	types := make(map[string]string)
	columns, err := conn.Columns(table)
	for _, c := range columns {
		types[strings.ToLower(c.Name)] = c.Type
	}
	return types, err
}

// followUnicode rebuilds the indexes if the file was last opened with another version
// of the Unicode tables, which define the sort order of text.
func followUnicode(conn *sqlite.Conn) error {
	var major, minor, patch int
	if _, err := fmt.Sscanf(unicode.Version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return err
	}
	current := int64(major*10000 + minor*100 + patch)
	indexed, _, err := conn.QueryInt("PRAGMA user_version")
	if err != nil {
		return err
	}
	if indexed != 0 && indexed != current {
		if err := conn.Exec("REINDEX"); err != nil {
			return err
		}
	}
	// It is always written, so that the file has a log: see sqlite.Conn.LogState.
	return conn.Exec(fmt.Sprintf("PRAGMA user_version = %d", current))
}

func (b *fileRecords) Empty(ctx context.Context) (bool, error) {
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return false, executor.Classify(err)
	}
	defer b.Pool.Put(conn)
	for _, kind := range b.kinds {
		_, notEmpty, err := conn.QueryInt("SELECT 1 FROM " + b.Table(kind) + " LIMIT 1")
		if err != nil || notEmpty {
			return false, executor.Classify(err)
		}
	}
	return true, nil
}

func (b *fileRecords) Load(ctx context.Context, kinds []*record.Kind, rows Rows) (int64, error) {
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return 0, executor.Classify(err)
	}
	defer b.Pool.Put(conn) // rolls back an uncommitted transaction
	defer conn.InterruptOn(ctx)()
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return 0, executor.Classify(err)
	}
	var count int64
	for _, kind := range kinds {
		n, err := loadKind(conn, b.Table(kind), len(kind.Fields), rows(kind))
		if err != nil {
			return 0, executor.Classify(fmt.Errorf("loading %s: %w", kind.Name, err))
		}
		count += n
		isOwn, err := b.Own(conn, kind)
		if isOwn {
			err = createIndexes(conn, kind.Name, kind, orderedColumns(kind))
		}
		if err != nil {
			return 0, executor.Classify(fmt.Errorf("indexing %s: %w", kind.Name, err))
		}
	}
	return count, executor.Classify(conn.Exec("COMMIT"))
}

func (b *fileRecords) Seed(ctx context.Context, kinds []*record.Kind, rows Rows) (Seeded, error) {
	n, err := b.Load(ctx, kinds, rows)
	return Seeded{Rows: n}, err
}

// loadKind inserts rows into a table with a number of columns, and returns how many they are.
func loadKind(conn *sqlite.Conn, source string, width int, rows iter.Seq[[]any]) (n int64, err error) {
	stmt, err := conn.Prepare("INSERT INTO " + source + " VALUES (?1" + strings.Repeat(", ?", width-1) + ")")
	if err != nil {
		return 0, err
	}
	defer stmt.Reset() // repeats the error of a step
	for values := range rows {
		stmt.Bind(values...)
		if _, err := stmt.Step(); err != nil {
			return n, err
		}
		if err := stmt.Reset(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (b *fileRecords) typeCompatibility() compatibilities { return fileTypes }

// probe always succeeds: the embedded file has no access rights, and its tables
// are created by this package.
func (b *fileRecords) probe(context.Context, *record.Kind, []string) (string, error) {
	return "", nil
}

func (b *fileRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.Name(kind)
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return table, nil, err
	}
	defer b.Pool.Put(conn)
	listed, err := conn.Columns(table)
	columns := make([]Column, len(listed))
	for i, c := range listed {
		columns[i] = Column{
			Name:     c.Name,
			Type:     sqlite.Affinity(c.Type),
			Declared: cmp.Or(c.Type, "without a type"),
		}
	}
	if _, builtin := record.Builtin().Lookup(kind.Name); !builtin && err == nil {
		err = checkValues(conn, kind, table, columns)
	}
	return table, columns, err
}

func (b *fileRecords) columnValues(ctx context.Context, source string) (texts []string, problem string, err error) {
	table, column, _ := mssql.ParseColumn(source, "") // validated by CheckVersionSource
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return nil, "", err
	}
	defer b.Pool.Put(conn)
	// Without the qualifier t, SQLite would read an unknown quoted name as a string.
	versions := fmt.Sprintf("SELECT t.%s FROM %s AS t LIMIT %d",
		sqlite.Quote(column), sqlite.Quote(table.Name), maxVersions)
	err = conn.Query(versions, func(s *sqlite.Stmt) error {
		texts = append(texts, s.Text(0))
		return nil
	})
	if e, ok := errors.AsType[*sqlite.Error](err); ok && (e.NoTable() || e.NoColumn()) {
		return nil, "it cannot be read: " + e.Message, nil
	}
	return texts, "", err
}

// billSession opens a connection and, to write, begins a write transaction. It needs no lock:
// SQLite allows one writer at a time.
func (b *fileRecords) billSession(ctx context.Context, access billAccess) (billSession, error) {
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return nil, err
	}
	s := &fileBills{
		billDialect:   fileBillDialect(func(table string) string { return b.Table(billTable(table)) }),
		ctx:           ctx,
		backend:       b,
		conn:          conn,
		stopInterrupt: conn.InterruptOn(ctx),
	}
	if access == readWrite {
		if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
			s.close()
			return nil, s.failed(err)
		}
	}
	return s, nil
}

func (b *fileRecords) grant(context.Context, *record.Kind) (string, error) { return "", nil }

func (b *fileRecords) writeProblem(ctx context.Context) (*Finding, error) {
	s, err := b.billSession(ctx, readOnly)
	if err != nil {
		return nil, err
	}
	defer s.close()
	views, err := s.rows("SELECT name FROM sqlite_schema WHERE type = 'view' AND lower(name) = lower(?)",
		billArg{text: b.Name(billTable(ValuesTable))})
	if err != nil || len(views) == 0 {
		return nil, err
	}
	return &Finding{Problem: "it is a view, and values can only be written to a table"}, nil
}

// indexBills creates the index that finds the values of a stage. It is not unique:
// BEGIN IMMEDIATE prevents new duplicates, but an older file may contain some.
func indexBills(conn *sqlite.Conn, c Config) error {
	if c.Sources[ValuesTable] != "" {
		return nil // not our table
	}
	return conn.Exec("CREATE INDEX IF NOT EXISTS " + sqlite.Quote(ValuesTable+"_Stage") +
		" ON " + sqlite.Quote(ValuesTable) + " (BM_Stages_RecID, BM_StageCustomFields_RecID)")
}
