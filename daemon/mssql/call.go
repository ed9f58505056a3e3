package mssql

import "database/sql"

// Call is a statement with parameters @p1, @p2 and so on as a transaction of
// database/sql runs it: see Query.call.
func Call(text string, params ...Param) (procedure string, args []any) {
	args = []any{sql.Named("stmt", text), sql.Named("params", declarations(params))}
	for i, p := range params {
		args = append(args, sql.Named(parameter(i), p.value))
	}
	return "sp_executesql", args
}
