package executor

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// Bind converts a statement's arguments to parameters, with the types of the columns that they are
// compared with.
func (c *Columns) Bind(args []query.Arg) []mssql.Param {
	params := make([]mssql.Param, len(args))
	for i, arg := range args {
		params[i] = c.param(arg)
	}
	return params
}

// param returns the parameter of an argument.
func (c *Columns) param(arg query.Arg) mssql.Param {
	if arg.Field == query.NoField {
		return mssql.Long(arg.Value.Int)
	}
	if arg.List != nil {
		return mssql.JSON(listText(arg.Type, arg.List))
	}
	return valueParam(c.ByField[arg.Field], arg.Type, arg.Value)
}

// valueParam returns the parameter of a value that is compared with a column.
func valueParam(column mssql.Column, t record.Type, v wire.Value) mssql.Param {
	switch t {
	case record.Int, record.Short, record.Byte, record.Long:
		return mssql.Whole(column, v.Int)
	case record.Bool:
		return mssql.Bit(column, v.Int)
	case record.Bytes:
		return mssql.Binary(v.Bytes)
	case record.Guid:
		return mssql.Guid(column, v.Text)
	case record.Double:
		return mssql.Double(v.Text)
	case record.Decimal:
		if column.Type == "float" || column.Type == "real" {
			return mssql.Double(v.Text)
		}
		return mssql.Digits(v.Text)
	case record.DateTime, record.TimeSpan:
		return mssql.Digits(v.Text)
	}
	return mssql.Text(column, v.Text)
}

// listText encodes a list for OPENJSON. Trailing spaces, which do not affect comparisons, are
// removed because items with them may exceed the declared length. Texts with characters that not
// every database decodes are never in a list: see query.EscapedInJSON.
func listText(t record.Type, values []wire.Value) []byte {
	items := make([]string, len(values))
	for i, v := range values {
		switch {
		case t.Integer():
			items[i] = strconv.FormatInt(v.Int, 10)
		case t == record.Text:
			items[i] = strings.TrimRight(v.Text, " ")
		default:
			items[i] = v.Text
		}
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic("executor: " + err.Error()) // strings can always be encoded
	}
	return text
}
