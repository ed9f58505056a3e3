package mssql

import (
	"errors"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestValues reads a value of every type as its own field type, and as other field types
// that it converts to.
func TestValues(t *testing.T) {
	c := getConn(t, server(t, 1))
	for _, v := range []struct {
		sql  string
		as   record.Type
		want string
	}{
		{"CAST(255 AS tinyint)", record.Byte, "255"},
		{"CAST(-32768 AS smallint)", record.Short, "-32768"},
		{"CAST(-2147483648 AS int)", record.Int, "-2147483648"},
		{"CAST(9223372036854775807 AS bigint)", record.Long, "9223372036854775807"},
		{"CAST(1 AS bit)", record.Bool, "true"},
		{"CAST(0 AS bit)", record.Bool, "false"},
		{"CAST('99999999999999999999999999999999999999' AS decimal(38,0))", record.Decimal, "99999999999999999999999999999999999999"},
		{"CAST('-0.00000000000000000000000000000000000001' AS decimal(38,38))", record.Decimal, "-0.00000000000000000000000000000000000001"},
		{"CAST('1.5' AS numeric(10,4))", record.Decimal, "1.5000"},
		{"CAST('922337203685477.5807' AS money)", record.Decimal, "922337203685477.5807"},
		{"CAST('-0.05' AS smallmoney)", record.Decimal, "-0.0500"},
		{"CAST('0.1' AS float)", record.Decimal, "0.1"},
		{"CAST('1e22' AS float)", record.Decimal, "10000000000000000000000"},
		{"CAST('0.1' AS real)", record.Decimal, "0.1"},
		{"CAST('2019-05-01T10:11:12.123' AS datetime)", record.DateTime, "2019-05-01T10:11:12.1230000"},
		{"CAST('2019-05-01T10:11:12.127' AS datetime)", record.DateTime, "2019-05-01T10:11:12.1270000"},
		{"CAST('1753-01-01' AS datetime)", record.DateTime, "1753-01-01T00:00:00.0000000"},
		{"CAST('2019-05-01T10:11:12.123456' AS datetime2(7))", record.DateTime, "2019-05-01T10:11:12.1234560"},
		{"CAST('0001-01-01' AS datetime2(7))", record.DateTime, "0001-01-01T00:00:00.0000000"},
		{"CAST('2019-05-01T10:11:00' AS smalldatetime)", record.DateTime, "2019-05-01T10:11:00.0000000"},
		{"CAST('2024-02-29' AS date)", record.DateTime, "2024-02-29T00:00:00.0000000"},
		{"CAST('0f8fad5b-d9cb-469f-a165-70867728950e' AS uniqueidentifier)", record.Guid, "0f8fad5b-d9cb-469f-a165-70867728950e"},
		{"CAST('ab' AS char(4))", record.Text, "ab  "},
		{"CAST('Grüße' AS varchar(20))", record.Text, "Grüße"},
		{"CAST(N'日本😀' AS nvarchar(20))", record.Text, "日本😀"},
		{"CAST('' AS nvarchar(max))", record.Text, ""},
		{"REPLICATE(CAST(N'x' AS nvarchar(max)), 9000) + N'.'", record.Text, strings.Repeat("x", 9000) + "."},
		{"CAST(0x00ff10 AS varbinary(max))", record.Bytes, "AP8Q"},
		{"CAST(0x AS varbinary(10))", record.Bytes, ""},
		{"CAST(0x01 AS binary(2))", record.Bytes, "AQA="},
		{"CAST(NULL AS int)", record.Int, "NULL"},
		{"CAST(NULL AS nvarchar(5))", record.Text, "NULL"},
		// Columns of other types than the field.
		{"CAST(7 AS int)", record.Decimal, "7"},
		{"CAST(7 AS int)", record.Text, "7"},
		{"CAST('7.0' AS decimal(9,1))", record.Int, "7"},
		{"CAST('12' AS varchar(9))", record.Short, "12"},
		{"CAST('0F8FAD5B-D9CB-469F-A165-70867728950E' AS char(36))", record.Guid, "0f8fad5b-d9cb-469f-a165-70867728950e"},
		{"CAST('0f8fad5b-d9cb-469f-a165-70867728950e' AS uniqueidentifier)", record.Text, "0f8fad5b-d9cb-469f-a165-70867728950e"},
		{"CAST('2019-05-01 10:11' AS varchar(20))", record.DateTime, "2019-05-01T10:11:00.0000000"},
		{"CAST(1 AS int)", record.Bool, "true"},
	} {
		if got := selectOne(t, c, v.as, "SELECT "+v.sql+" AS v"); got != v.want {
			t.Errorf("%s as %s: got %.60q, want %.60q", v.sql, v.as, got, v.want)
		}
	}
}

// TestValuesOutOfRange checks that a number that its field cannot hold is an error with the
// number.
func TestValuesOutOfRange(t *testing.T) {
	c := getConn(t, server(t, 1))
	for _, v := range []struct {
		sql  string
		as   record.Type
		want string
	}{
		{"CAST(256 AS int)", record.Byte, `column v is INT in the database and contains "256", which does not fit byte`},
		{"CAST(-1 AS smallint)", record.Byte, `"-1"`},
		{"CAST(32768 AS int)", record.Short, `"32768"`},
		{"CAST(-2147483649 AS bigint)", record.Int, `"-2147483649"`},
		{"CAST(2 AS tinyint)", record.Bool, `"2"`},
		{"CAST(-1 AS int)", record.Bool, `"-1"`},
		{"CAST('256.0' AS decimal(9,1))", record.Byte, `"256.0"`},
		{"CAST('yes' AS varchar(9))", record.Bool, `"yes"`},
		{"REPLICATE('x', 60)", record.Int, `"` + strings.Repeat("x", 40) + `"`},
	} {
		got, err := read(c, Query{SQL: "SELECT " + v.sql + " AS v", Types: []record.Type{v.as}})
		_, isTypeError := errors.AsType[*ColumnTypeError](err)
		if !isTypeError || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s as %s: got %q and error %v, want a ColumnTypeError with %s",
				v.sql, v.as, got, err, v.want)
		}
	}
}
