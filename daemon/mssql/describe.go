package mssql

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// described are the columns of what the catalogue does not list, such as a
// synonym, whose table may be in any database or on another server: those that
// the server says a query would answer. There are none where it refuses to say.
func (c *Conn) described(ctx context.Context, t Table) ([]Column, error) {
	found, err := c.describe(ctx, "SELECT * FROM "+t.Quoted())
	if refused, is := errors.AsType[*Error](err); is && !refused.Away() && !refused.Busy() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var columns []Column
	for _, answer := range found {
		if hidden, _ := answer["is_hidden"].(bool); !hidden {
			columns = append(columns, describedColumn(answer))
		}
	}
	return columns, c.codePages(ctx, columns)
}

// describe asks what the columns of a query are. The answer has more columns in
// each version of the server.
func (c *Conn) describe(ctx context.Context, query string) (all []map[string]any, err error) {
	rows, err := c.lent.QueryContext(ctx, "sp_describe_first_result_set", sql.Named("tsql", query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		answer := make(map[string]any)
		for i, name := range names {
			answer[name] = values[i]
		}
		all = append(all, answer)
	}
	return all, rows.Err()
}

// describedColumn is a column as the catalogue would list it.
func describedColumn(answer map[string]any) Column {
	text := func(name string) string { s, _ := answer[name].(string); return s }
	number := func(name string) int { n, _ := answer[name].(int64); return int(n) }
	declared, _, _ := strings.Cut(text("system_type_name"), "(")
	column := Column{
		Name:      text("name"),
		Type:      strings.ToLower(declared),
		Precision: number("precision"),
		Scale:     number("scale"),
		Collation: text("collation_name"),
	}
	column.Nullable, _ = answer["is_nullable"].(bool)
	switch length := number("max_length"); column.Type {
	case "char", "varchar", "binary", "varbinary":
		column.Length = length
	case "nchar", "nvarchar":
		if column.Length = length; length > 0 {
			column.Length = length / 2 // it is in bytes
		}
	}
	return column
}

// codePages adds what only the database knows of collations.
func (c *Conn) codePages(ctx context.Context, columns []Column) error {
	known := make(map[string][2]int)
	for i := range columns {
		column := &columns[i]
		if column.Collation == "" {
			continue
		}
		pages, is := known[column.Collation]
		if !is {
			var err error
			if pages, err = c.codePage(ctx, column.Collation); err != nil {
				return err
			}
			known[column.Collation] = pages
		}
		column.CodePage, column.Spoken = pages[0], pages[1]
	}
	return nil
}

// codePage is that of a collation, and that of parameters.
func (c *Conn) codePage(ctx context.Context, collation string) (pages [2]int, err error) {
	rows, err := c.Query(ctx, Query{
		SQL:    "SELECT CAST(COLLATIONPROPERTY(@p1, 'CodePage') AS int), " + spokenSQL,
		Params: []Param{Text(Column{Type: "nvarchar", Length: 128}, collation)},
		Types:  []record.Type{record.Int, record.Int},
	})
	if err != nil {
		return pages, err
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err != nil || cells == nil {
		return pages, err
	}
	return [2]int{int(cells[0].Int), int(cells[1].Int)}, nil
}
