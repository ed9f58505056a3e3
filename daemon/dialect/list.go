package dialect

import "github.com/bizhook/whd/client/record"

// List describes how a list of values is passed in one parameter, so that its length
// neither affects the query plan nor exceeds the number of parameters:
//
//	column Before Collate collation From parameter With type After
type List struct {
	MaxInline int // maximum length of a list passed as separate parameters; 0 for any length

	Before, Collate, From, With, After string

	Collation string                 // collation of texts if the column's is unknown
	Items     map[record.Type]string // default types of items; the type of decimals depends on their digits
}

// openJSON passes a list as a JSON array. The items get a type close to the column's, and
// its collation, since otherwise the server would convert the column, or reject the
// comparison of different collations.
func openJSON() List {
	return List{
		MaxInline: 50,
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
			record.Double:   "float",
			record.DateTime: "datetime2(7)",
			record.Guid:     "uniqueidentifier",
		},
	}
}
