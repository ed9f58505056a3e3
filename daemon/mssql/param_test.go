package mssql

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

var (
	usesCodePage = Column{Type: "varchar", Length: 30, CodePage: latin1, ParameterCodePage: latin1}
	wide         = Column{Type: "nvarchar", Length: 30}
)

// TestDeclarations: the declared type of a parameter is that of the column, independent of
// the length of its value.
func TestDeclarations(t *testing.T) {
	for _, c := range []struct {
		param Param
		want  string
	}{
		{Text(usesCodePage, ""), "varchar(30)"},
		{Text(usesCodePage, "abc"), "varchar(30)"},
		{Text(usesCodePage, strings.Repeat("é", 30)), "varchar(30)"},
		{Text(usesCodePage, strings.Repeat("x", 31)), "varchar(8000)"}, // truncated to 30 it might equal a value
		{Text(usesCodePage, strings.Repeat("x", 8001)), "varchar(max)"},
		{Text(usesCodePage, "日本"), "nvarchar(4000)"},
		{Text(usesCodePage, "€"), "varchar(30)"},
		{Text(Column{Type: "varchar", Length: 30, CodePage: 1250, ParameterCodePage: 1250}, "é"), "nvarchar(4000)"},
		{Text(Column{Type: "varchar", Length: 30, CodePage: utf8CP, ParameterCodePage: utf8CP}, "日本"), "varchar(30)"},
		{Text(Column{Type: "varchar", Length: 30, CodePage: utf8CP, ParameterCodePage: latin1}, "日本"), "nvarchar(4000)"},
		{Text(Column{Type: "varchar", Length: 2, CodePage: utf8CP, ParameterCodePage: utf8CP}, "日"), "varchar(8000)"},
		{Text(Column{Type: "char", Length: 36, CodePage: 932}, "abc"), "varchar(36)"},
		{Text(Column{Type: "varchar", Length: -1, CodePage: latin1}, "abc"), "varchar(8000)"},
		{Text(wide, ""), "nvarchar(30)"},
		{Text(wide, "日本"), "nvarchar(30)"},
		{Text(wide, strings.Repeat("😀", 15)), "nvarchar(30)"},
		{Text(wide, strings.Repeat("😀", 16)), "nvarchar(4000)"},
		{Text(Column{Type: "nvarchar", Length: -1}, strings.Repeat("x", 4001)), "nvarchar(max)"},
		{Text(Column{}, "abc"), "nvarchar(4000)"},
		{Whole(Column{Type: "tinyint"}, 255), "tinyint"},
		{Whole(Column{Type: "tinyint"}, -1), "smallint"},
		{Whole(Column{Type: "smallint"}, 40000), "int"},
		{Whole(Column{Type: "int"}, 1<<40), "bigint"},
		{Whole(Column{Type: "bigint"}, 1), "bigint"},
		{Whole(Column{}, 1), "int"},
		{Whole(Column{Type: "decimal"}, 1<<31), "bigint"},
		{Long(1), "bigint"},
		{Bit(Column{}, 1), "bit"},
		{Bit(Column{Type: "int"}, 1), "int"},
		{Bit(Column{Type: "varchar"}, 1), "bit"},
		{Digits("12.5"), "varchar(41)"},
		{Binary(nil), "varbinary(8000)"},
		{Binary(make([]byte, 8001)), "varbinary(max)"},
		{Guid(Column{Type: "uniqueidentifier"}, aGuid), "uniqueidentifier"},
		{Guid(Column{}, aGuid), "uniqueidentifier"},
		{Guid(Column{Type: "char", Length: 36}, aGuid), "varchar(36)"},
		{JSON([]byte("[]")), "nvarchar(max)"},
	} {
		if c.param.declared != c.want {
			t.Errorf("%T %.40v: %s, want %s", c.param.value, c.param.value, c.param.declared, c.want)
		}
	}
}

const aGuid = "0f8fad5b-d9cb-469f-a165-70867728950e"

// TestCall: a statement is sent as a call of sp_executesql with our declarations, which
// are the same for values of any length.
func TestCall(t *testing.T) {
	call := func(id string) (string, []string) {
		text, args := Query{SQL: "SELECT 1 WHERE [InvoiceID] = @p1 AND [No] = @p2", Params: []Param{Text(usesCodePage, id), Long(7)}}.call()
		var names []string
		for _, a := range args {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, ","); got != "stmt,params,p1,p2" {
			t.Errorf("arguments %s", got)
		}
		return text, []string{args[0].Value.(string), args[1].Value.(string)}
	}
	for _, id := range []string{"", "D100418", strings.Repeat("x", 30)} {
		text, args := call(id)
		if text != "sp_executesql" || args[0] != "SELECT 1 WHERE [InvoiceID] = @p1 AND [No] = @p2" || args[1] != "@p1 varchar(30), @p2 bigint" {
			t.Errorf("%q: %s %q", id, text, args)
		}
	}
	if text, args := (Query{SQL: "SELECT 1", Lock: 1}).call(); text != "SET LOCK_TIMEOUT 1; SELECT 1" || args != nil {
		t.Errorf("%s %v", text, args)
	}
}

// TestCallWithContext: the caller is a parameter, so that all callers share a plan.
func TestCallWithContext(t *testing.T) {
	for _, params := range [][]Param{nil, {Long(7)}} {
		for _, info := range []string{"request=1 user=ann", "request=2"} {
			text, args := Query{SQL: "SELECT 1", Params: params, Lock: 1, Context: []byte(info)}.call()
			caller := args[len(args)-1]
			if text != "sp_executesql" || !strings.HasPrefix(args[0].Value.(string), "SET CONTEXT_INFO @"+caller.Name+"; SET LOCK_TIMEOUT 1; SELECT 1") ||
				!strings.HasSuffix(args[1].Value.(string), "@"+caller.Name+" varbinary(128)") || len(args) != 3+len(params) || string(caller.Value.([]byte)) != info {
				t.Errorf("%s: %s %v", info, text, args)
			}
		}
	}
}

// TestArrives sends a value of every kind and compares it with the value that the server
// received.
func TestArrives(t *testing.T) {
	c := getConn(t, server(t, 1))
	for _, v := range []struct {
		param Param
		as    record.Type
		want  string
	}{
		{Text(usesCodePage, ""), record.Text, ""},
		{Text(usesCodePage, "D100418"), record.Text, "D100418"},
		{Text(usesCodePage, "Grüße"), record.Text, "Grüße"},
		{Text(usesCodePage, "日本"), record.Text, "日本"},
		{Text(wide, ""), record.Text, ""},
		{Text(wide, "日本😀"), record.Text, "日本😀"},
		{Text(Column{}, strings.Repeat("x", 9000)), record.Text, strings.Repeat("x", 9000)},
		{Whole(Column{Type: "tinyint"}, 255), record.Byte, "255"},
		{Whole(Column{Type: "smallint"}, -32768), record.Short, "-32768"},
		{Whole(Column{Type: "int"}, -1), record.Int, "-1"},
		{Long(-1 << 63), record.Long, "-9223372036854775808"},
		{Bit(Column{}, 0), record.Bool, "false"},
		{Digits("-0.00000000000000000000000000000000000001"), record.Text, "-0.00000000000000000000000000000000000001"},
		{Binary(nil), record.Bytes, ""},
		{Binary([]byte{0, 255, 16}), record.Bytes, "AP8Q"},
		{Guid(Column{}, aGuid), record.Guid, aGuid},
		{Guid(Column{Type: "char", Length: 36}, aGuid), record.Text, aGuid},
	} {
		if got := selectOne(t, c, v.as, "SELECT @p1 AS v", v.param); got != v.want {
			t.Errorf("%s %.40v is received as %.40q", v.param.declared, v.param.value, got)
		}
	}
}
