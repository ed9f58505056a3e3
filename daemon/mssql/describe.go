package mssql

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// describeColumns returns the columns of an object that is not in INFORMATION_SCHEMA, such as a
// synonym for a table in another database or on another server. They are the columns of
// a SELECT from it; there are none if the server refuses to describe them.
func (c *Conn) describeColumns(ctx context.Context, t Table) ([]Column, error) {
	found, err := c.describe(ctx, "SELECT * FROM "+t.Quoted())
	if refused, ok := errors.AsType[*Error](err); ok && !refused.Unavailable() && !refused.Busy() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var columns []Column
	for _, properties := range found {
		if hidden, _ := properties["is_hidden"].(bool); !hidden {
			columns = append(columns, describedColumn(properties))
		}
	}
	return columns, c.setCodePages(ctx, columns)
}

// describe returns the columns of a query's result set. Later versions of the server
// return more properties of a column.
func (c *Conn) describe(ctx context.Context, query string) (all []map[string]any, err error) {
	ctx, cancel := c.withLimit(ctx)
	defer cancel()
	defer func() { err = limitError(ctx, err) }()
	rows, err := c.pooled.QueryContext(ctx, "sp_describe_first_result_set", sql.Named("tsql", query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]any, len(names))
		pointers := make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		properties := make(map[string]any)
		for i, name := range names {
			properties[name] = values[i]
		}
		all = append(all, properties)
	}
	return all, rows.Err()
}

// describedColumn converts the properties to the form of the catalogue.
func describedColumn(properties map[string]any) Column {
	text := func(name string) string {
		s, _ := properties[name].(string)
		return s
	}
	number := func(name string) int {
		n, _ := properties[name].(int64)
		return int(n)
	}
	declared, _, _ := strings.Cut(text("system_type_name"), "(")
	column := Column{
		Name:      text("name"),
		Type:      strings.ToLower(declared),
		Precision: number("precision"),
		Scale:     number("scale"),
		Collation: text("collation_name"),
	}
	column.Nullable, _ = properties["is_nullable"].(bool)

	length := number("max_length")
	switch column.Type {
	case "char", "varchar", "binary", "varbinary":
		column.Length = length
	case "nchar", "nvarchar":
		column.Length = length
		if length > 0 {
			column.Length = length / 2 // max_length is in bytes
		}
	}
	return column
}

// setCodePages sets the code pages, which depend on the collation.
func (c *Conn) setCodePages(ctx context.Context, columns []Column) error {
	known := make(map[string][2]int)
	for i := range columns {
		column := &columns[i]
		if column.Collation == "" {
			continue
		}
		pages, ok := known[column.Collation]
		if !ok {
			var err error
			pages, err = c.codePage(ctx, column.Collation)
			if err != nil {
				return err
			}
			known[column.Collation] = pages
		}
		column.CodePage, column.ParameterCodePage = pages[0], pages[1]
	}
	return nil
}

// codePage returns the code page of a collation and that of varchar parameters.
func (c *Conn) codePage(ctx context.Context, collation string) (pages [2]int, err error) {
	rows, err := c.Query(ctx, Query{
		SQL:    "SELECT CAST(COLLATIONPROPERTY(@p1, 'CodePage') AS int), " + parameterCodePageSQL,
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
