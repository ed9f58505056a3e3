package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// Statement is SQL with its arguments and the types of the selected columns.
type Statement struct {
	SQL      string
	Args     []Arg
	Types    []record.Type
	Blobs    []record.BlobForm // forms of the columns; nil if no column has one
	Computes bool              // it selects values computed by the database
}

// Evaluates reports whether the statement compares or computes field values. Such a
// statement can fail because of the request.
func (s Statement) Evaluates() bool {
	return s.Computes || slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Field != NoField })
}

// Arg is the value of one parameter. Field is the column that it is compared with,
// so that a store can bind it with the column's type, or NoField. List has the
// values of a parameter that is a list.
type Arg struct {
	Field int
	Type  record.Type
	Class row.Class // class of the value as it is stored in a file
	Value wire.Value
	List  []wire.Value
}

// NoField is the Field of an argument that is not compared with a column.
const NoField = -1
