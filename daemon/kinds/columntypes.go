package kinds

import (
	"strings"

	"github.com/bizhook/whd/client/record"
)

// ServerTypes and FileTypes are the types of fields by the types of columns, of SQL Server
// and of an embedded file.
var (
	ServerTypes = columnTypes(map[record.Type]string{
		record.Text:     "char varchar nchar nvarchar text ntext xml sysname",
		record.Int:      "int",
		record.Short:    "smallint",
		record.Byte:     "tinyint",
		record.Long:     "bigint",
		record.Decimal:  "decimal numeric money smallmoney",
		record.Double:   "float real",
		record.Bool:     "bit",
		record.TimeSpan: "time",
		record.DateTime: "date datetime datetime2 smalldatetime",
		record.Bytes:    "binary varbinary image timestamp rowversion",
		record.Guid:     "uniqueidentifier",
	})
	FileTypes = columnTypes(map[record.Type]string{
		record.Text:     "char varchar nchar nvarchar text ntext clob xml sysname time",
		record.Int:      "int mediumint",
		record.Short:    "smallint",
		record.Byte:     "tinyint",
		record.Long:     "integer bigint int8",
		record.Decimal:  "decimal numeric money smallmoney text_decimal",
		record.Double:   "float real double",
		record.Bool:     "bit bool boolean",
		record.TimeSpan: "timespan",
		record.DateTime: "date datetime datetime2 smalldatetime timestamp",
		record.Bytes:    "blob binary varbinary image rowversion",
		record.Guid:     "uniqueidentifier guid uuid",
	})
)

// columnTypes returns the types of fields by the names of column types.
func columnTypes(names map[record.Type]string) map[string]record.Type {
	types := make(map[string]record.Type)
	for t, list := range names {
		for name := range strings.FieldsSeq(list) {
			types[name] = t
		}
	}
	return types
}
