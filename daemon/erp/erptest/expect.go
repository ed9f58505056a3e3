package erptest

import "github.com/bizhook/whd/client/record"

// Edges returns the boundary values of a type, which the suite stores and uses as operands.
func Edges(t record.Type) []any { return edges[t] }

// Matches reports whether a stored value matches a condition, as the suite expects it of a
// database without a collation of its own. Checks of other databases use it too, so that both
// expect the same.
func Matches(t record.Type, stored any, op record.Operator, operands []any) bool {
	return new(suite).matches(t, stored, op, operands)
}
