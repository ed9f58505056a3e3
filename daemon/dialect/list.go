package dialect

import "github.com/bizhook/whd/client/record"

// List is how a database takes a list of values in one parameter, which keeps
// it from making a plan for each length and from running out of parameters:
//
//	column Before Collate collation From parameter With type After
type List struct {
	Longest int // items that are still parameters of their own; 0 for any number

	Before, Collate, From, With, After string

	Collation string                 // of texts where the column's is not known
	Items     map[record.Type]string // the items' usual type; decimals have that of their digits
}

// openJSON takes a JSON array. Its items are given a type near the column's, and
// its collation, since the server would convert the column otherwise, or refuse to
// compare texts of two collations.
func openJSON() List {
	return List{
		Longest:   50,
		Before:    " IN (SELECT v",
		Collate:   " COLLATE ",
		From:      " FROM OPENJSON(",
		With:      ") WITH (v ",
		After:     " '$'))",
		Collation: "DATABASE_DEFAULT",
		Items: map[record.Type]string{
			record.Text:     "nvarchar(4000)",
			record.Int:      "int",
			record.Short:    "smallint",
			record.Byte:     "tinyint",
			record.Long:     "bigint",
			record.DateTime: "datetime2(7)",
			record.Guid:     "uniqueidentifier",
		},
	}
}
