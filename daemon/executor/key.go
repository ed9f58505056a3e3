package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Key returns the fields that identify a row of a kind: the declared key, or else the
// primary key or a unique index without nulls in the catalogue of the database. It is nil
// if none is proven.
func Key(ctx context.Context, db Database, kind *record.Kind) ([]int, error) {
	if declared := kind.KeyFields(); declared != nil {
		return declared, nil
	}
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	columns, err := s.keys()
	return FindKey(columns, kind.ByColumn), err
}

// PageKey returns the fields of Key, and which of them can be null although they are in the primary
// key: SQLite allows this. Pages need both, which one session reads.
func PageKey(ctx context.Context, db Database, kind *record.Kind) (key, unchecked []int, err error) {
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	columns, err := s.keys()
	if err != nil {
		return nil, nil, err
	}
	key = kind.KeyFields()
	if key == nil {
		key = FindKey(columns, kind.ByColumn)
	}
	for _, c := range columns {
		field, found := kind.ByColumn(c.Name)
		isOfKey := found && slices.Contains(key, field)
		if isOfKey && c.Unchecked {
			unchecked = append(unchecked, field)
		}
	}
	return key, unchecked, nil
}

// KeyColumnsError returns an error if a kind has no proven key although the catalogue has one,
// because the values of its columns are compared in another way than its index does. It is nil
// if there is no such key.
func KeyColumnsError(ctx context.Context, db Database, kind *record.Kind) error {
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return err
	}
	defer s.close()
	columns, err := s.keys()
	if err != nil {
		return err
	}
	for _, c := range columns {
		field, found := kind.ByColumn(c.Name)
		if found && c.Texts {
			f := kind.Fields[field]
			return query.CursorError("has no effect here: the index of the key of %s distinguishes the texts of %s, "+
				"such as 9 and 9.00, which are the same decimal. Declare the field as string or the column as %s COLLATE DEC, "+
				"or use Skip and Take",
				kind.Name, f.Name, sqlite.DecimalType)
		}
	}
	return nil
}

// ColumnsOf returns the columns of a kind's table by field, as far as the database knows them.
func ColumnsOf(ctx context.Context, db Database, kind *record.Kind) ([]dialect.Column, error) {
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	d, _ := s.table()
	return d.Columns, nil
}

// Leads reports whether an index of a kind's table, with all of its rows, starts with a field.
func Leads(ctx context.Context, db Database, kind *record.Kind, field int) (bool, error) {
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return false, err
	}
	defer s.close()
	columns, err := s.leading()
	leads := slices.ContainsFunc(columns, func(c string) bool {
		return strings.EqualFold(c, kind.Fields[field].ColumnName())
	})
	return leads, err
}

// Limits of the check of a declared key.
const (
	maxKeyRows = 100_000          // a table with as many rows is not checked
	keyLimit   = 10 * time.Second // time limit of each statement
)

// KeyProblem returns why the declared key of a kind does not identify its rows, or was not
// checked. It is empty if no key is declared, or an index of the table proves it.
func KeyProblem(ctx context.Context, db Database, kind *record.Kind) (problem string, err error) {
	declared := kind.KeyFields()
	if declared == nil {
		return "", nil
	}
	s, err := db.Session(ctx, kind, false)
	if err != nil {
		return "", err
	}
	defer s.close()
	columns, err := s.keys()
	if err != nil {
		return "", err
	}
	proven := FindKey(columns, func(column string) (int, bool) {
		field, found := kind.ByColumn(column)
		return field, found && slices.Contains(declared, field)
	})
	if proven != nil {
		return "", nil
	}

	problem, err = checkSize(s)
	if err != nil || problem != "" {
		return problem, err
	}
	return findDuplicate(s, kind)
}

// checkSize returns the problem of a table that is too large for a check of its key, empty for
// others.
func checkSize(s Session) (problem string, err error) {
	d, table := s.table()
	top, limit := firstRows(d, maxKeyRows)
	size := fmt.Sprintf("SELECT %s FROM (SELECT %s1 AS one FROM %s%s) AS q", d.CountAll, top, table, limit)
	st := query.Statement{SQL: size, Types: []record.Type{record.Long}}
	err = readRow(s, st, keyLimit, func(cells []row.Cell) {
		if cells[0].Int == maxKeyRows {
			problem = "the declared key was not checked: size"
		}
	})
	return problem, err
}

// firstRows returns the SQL that limits a statement to its first n rows: after the word SELECT,
// and at its end. One of them is empty.
func firstRows(d *dialect.Dialect, n int) (top, limit string) {
	if d.Page.TakeFirst {
		return "", fmt.Sprintf(" LIMIT %d", n)
	}
	return fmt.Sprintf("TOP %d ", n), ""
}

// findDuplicate returns the problem of rows with the same declared key, or with a null in it. It
// is empty if there are none.
func findDuplicate(s Session, kind *record.Kind) (problem string, err error) {
	st := query.Statement{
		SQL:   duplicateSQL(s, kind),
		Types: []record.Type{record.Long},
		Blobs: []record.BlobForm{""},
	}
	for _, field := range kind.KeyFields() {
		st.Types = append(st.Types, kind.Fields[field].Type)
		st.Blobs = append(st.Blobs, kind.Fields[field].Blob)
	}
	err = readRow(s, st, keyLimit, func(cells []row.Cell) {
		problem = fmt.Sprintf("the declared key does not identify the rows: "+
			"the number of rows with %s is %d; correct key in the file of the kind",
			describeKey(kind, cells[1:]), cells[0].Int)
	})
	return problem, err
}

// duplicateSQL returns the statement that selects the number of rows of the declared key with
// most of them, and the key, if it has several rows or a null.
func duplicateSQL(s Session, kind *record.Kind) string {
	d, table := s.table()
	var key, nulls []string
	for _, field := range kind.KeyFields() {
		around := d.Column(field).Compared
		column := string(d.Quote(nil, kind.Fields[field].ColumnName()))
		compared := around.Before + column + around.After
		key = append(key, compared)
		nulls = append(nulls, compared+" IS NULL")
	}
	list := strings.Join(key, ", ")
	top, limit := firstRows(d, 1)
	return fmt.Sprintf("SELECT %s%s AS n, %s FROM %s GROUP BY %s", top, d.CountAll, list, table, list) +
		fmt.Sprintf(" HAVING %s > 1 OR %s", d.CountAll, strings.Join(nulls, " OR ")) +
		" ORDER BY n DESC" + limit
}

// describeKey returns the names and the values of a declared key.
func describeKey(kind *record.Kind, values []row.Cell) string {
	parts := make([]string, len(values))
	for i, field := range kind.KeyFields() {
		value := "null"
		if !values[i].Null {
			value = values[i].Text(kind.Fields[field].Type)
		}
		parts[i] = kind.Key[i] + " = " + value
	}
	return strings.Join(parts, ", ")
}

// FindKey returns the fields of the first index that has only fields and no nulls. field
// returns the field of a column.
func FindKey(columns []mssql.KeyColumn, field func(column string) (int, bool)) []int {
	for len(columns) > 0 {
		n := 1
		for n < len(columns) && columns[n].Index == columns[0].Index {
			n++
		}
		key := indexKey(columns[:n], field)
		if key != nil {
			return key
		}
		columns = columns[n:]
	}
	return nil
}

// indexKey returns the fields of the columns of one index, nil if a column is no field or may be
// null.
func indexKey(columns []mssql.KeyColumn, field func(column string) (int, bool)) []int {
	key := make([]int, len(columns))
	for i, c := range columns {
		f, ok := field(c.Name)
		if !ok || c.Nullable {
			return nil
		}
		key[i] = f
	}
	return key
}

// keys returns the columns from the cache as long as those of the table are in it.
func (s *serverSession) keys() ([]mssql.KeyColumn, error) {
	if known := s.live.keys.Load(); known != nil {
		return *known, nil
	}
	columns, err := readFacts(s, s.conn.Keys)
	if err == nil {
		s.live.keys.Store(&columns)
	}
	return columns, err
}

func (s *serverSession) leading() ([]string, error) { return readFacts(s, s.conn.Leading) }

// readFacts reads facts about the kind's table from the catalogue.
func readFacts[T any](
	s *serverSession, read func(context.Context, mssql.Table) ([]T, error),
) (facts []T, err error) {
	err = s.guarded(func() (err error) {
		facts, err = read(s.ctx, s.source.Name)
		return err
	})
	return facts, err
}

// RowID is the index of an integer that is the primary key in a SQLite file, which has no
// index and is never null.
const RowID = -1

// keySQL selects the columns of the unique indexes of a table. Expressions have no name. SQLite
// lets the columns of a primary key be null, for which pages are checked: see pageable.
const keySQL = `SELECT -1, name, 0, 0, ''
FROM pragma_table_info(?1)
WHERE pk = 1 AND type = 'INTEGER' COLLATE NOCASE AND (SELECT MAX(pk) FROM pragma_table_info(?1)) = 1
UNION ALL
SELECT * FROM (
	SELECT i.seq,
		coalesce(c.name, ''),
		coalesce(t."notnull", 0) = 0 AND i.origin <> 'pk',
		coalesce(t."notnull", 0) = 0 AND i.origin = 'pk',
		c.coll
	FROM pragma_index_list(?1) i
	JOIN pragma_index_xinfo(i.name) c ON c.key
	LEFT JOIN pragma_table_info(?1) t ON t.cid = c.cid
	WHERE i."unique" AND NOT i.partial
	ORDER BY i.origin <> 'pk', i.seq, c.seqno
)`

// FileKeys returns the columns of the unique indexes of a table in a SQLite file, starting with the
// primary key.
func FileKeys(conn *sqlite.Conn, table string) ([]mssql.KeyColumn, error) {
	var columns []mssql.KeyColumn
	var collations []string // collations of the columns in the index; empty for the row ID
	err := conn.Query(keySQL, func(r *sqlite.Stmt) error {
		columns = append(columns, mssql.KeyColumn{
			Index:     r.Int(0),
			Name:      r.Text(1),
			Nullable:  r.Int(2) != 0,
			Unchecked: r.Int(3) != 0,
		})
		collations = append(collations, r.Text(4))
		return nil
	}, table)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if c.Name == "" || collations[i] == "" {
			continue
		}
		compared, err := conn.Collation(table, c.Name)
		if err != nil {
			return nil, err
		}
		// An index that distinguishes more values than comparisons do, such as A and a in a
		// column with NOCASE, proves no key. It is like an index of an expression.
		if compared != "BINARY" && compared != collations[i] {
			columns[i].Name = ""
		}
	}
	return columns, nil
}

func (s *fileSession) keys() ([]mssql.KeyColumn, error) {
	table, err := s.source.read(s.conn)
	if err != nil {
		return nil, s.classify(err)
	}
	columns := slices.Clone(table.keys)
	for i, c := range columns {
		field, found := s.source.kind.ByColumn(c.Name)
		isConverted := found && s.dialect.Column(field).Compared != (dialect.Cast{})
		if isConverted {
			columns[i].Texts = !c.Nullable
			columns[i].Nullable = true // not proven: different texts such as 9 and 9.00 are equal
		}
	}
	return columns, nil
}

// fileLeading selects the first columns of the indexes of a table with all of its rows.
const fileLeading = `SELECT c.name
FROM pragma_index_list(?1) i
JOIN pragma_index_info(i.name) c
WHERE NOT i.partial AND c.seqno = 0 AND c.name IS NOT NULL`

// FileLeading returns the first columns of the indexes of a table in a SQLite file that have
// all of its rows.
func FileLeading(conn *sqlite.Conn, table string) (names []string, err error) {
	err = conn.Query(fileLeading, func(r *sqlite.Stmt) error {
		names = append(names, r.Text(0))
		return nil
	}, table)
	return names, err
}

func (s *fileSession) leading() ([]string, error) {
	table, err := s.source.read(s.conn)
	if err != nil {
		return nil, s.classify(err)
	}
	return table.leading, nil
}
