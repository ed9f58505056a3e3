package mssql

import (
	"database/sql/driver"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

var (
	usesCodePage = Column{Type: "varchar", Length: 30, CodePage: latin1, ParameterCodePage: latin1}
	wide         = Column{Type: "nvarchar", Length: 30}
)

// TestDeclarations checks that the declared type of a parameter is that of the column,
// independent of the length of its value.
func TestDeclarations(t *testing.T) {
	for _, c := range []struct {
		param Param
		want  string
	}{
		{Text(usesCodePage, ""), "varchar(30)"},
		{Text(usesCodePage, "abc"), "varchar(30)"},
		{Text(usesCodePage, strings.Repeat("é", 30)), "varchar(30)"},
		// A text that is truncated to 30 characters might equal a value.
		{Text(usesCodePage, strings.Repeat("x", 31)), "varchar(8000)"},
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
			t.Errorf("%T %.40v: got the type %s, want %s",
				c.param.value, c.param.value, c.param.declared, c.want)
		}
	}
}

const aGuid = "0f8fad5b-d9cb-469f-a165-70867728950e"

// argumentText returns the text of an argument of a call.
func argumentText(t *testing.T, args []driver.NamedValue, name string) string {
	t.Helper()
	for _, a := range args {
		if a.Name != name {
			continue
		}
		switch value := a.Value.(type) {
		case string:
			return value
		case []byte:
			return string(value)
		}
	}
	t.Fatalf("the call has no text %s: %v", name, args)
	return ""
}

// TestCall checks that a statement is sent as a call of sp_executesql with our declarations,
// which are the same for values of any length.
func TestCall(t *testing.T) {
	const statement = "SELECT 1 WHERE [InvoiceID] = @p1 AND [No] = @p2"
	for _, id := range []string{"", "D100418", strings.Repeat("x", 30)} {
		q := Query{SQL: statement, Params: []Param{Text(usesCodePage, id), Long(7)}}
		text, args := q.call()
		if text != "sp_executesql" {
			t.Errorf("with the ID %q: got the call %s, want sp_executesql", id, text)
		}
		var names []string
		for _, a := range args {
			names = append(names, a.Name)
		}
		if want := []string{"stmt", "params", "p1", "p2"}; !slices.Equal(names, want) {
			t.Errorf("with the ID %q: got the arguments %q, want %q", id, names, want)
		}
		if got := argumentText(t, args, "stmt"); got != statement {
			t.Errorf("with the ID %q: got the statement %s, want %s", id, got, statement)
		}
		const declarations = "@p1 varchar(30), @p2 bigint"
		if got := argumentText(t, args, "params"); got != declarations {
			t.Errorf("with the ID %q: got the declarations %s, want %s", id, got, declarations)
		}
	}

	const want = "SET LOCK_TIMEOUT 1; SELECT 1"
	if text, args := (Query{SQL: "SELECT 1", Lock: 1}).call(); text != want || args != nil {
		t.Errorf("without parameters: got %s with %v, want %s without arguments", text, args, want)
	}
}

// TestCallWithContext checks that the caller is a parameter, so that all callers share a plan.
func TestCallWithContext(t *testing.T) {
	for _, params := range [][]Param{nil, {Long(7)}} {
		for _, info := range []string{"request=1 user=ann", "request=2"} {
			q := Query{SQL: "SELECT 1", Params: params, Lock: 1, Context: []byte(info)}
			text, args := q.call()
			if text != "sp_executesql" || len(args) != 3+len(params) {
				t.Errorf("%s: got the call %s with %d arguments, want sp_executesql with %d",
					info, text, len(args), 3+len(params))
			}
			caller := args[len(args)-1].Name
			if got := argumentText(t, args, caller); got != info {
				t.Errorf("%s: got the argument %s %q", info, caller, got)
			}
			want := "SET CONTEXT_INFO @" + caller + "; SET LOCK_TIMEOUT 1; SELECT 1"
			if got := argumentText(t, args, "stmt"); got != want {
				t.Errorf("%s: got the statement %s, want %s", info, got, want)
			}
			want = "@" + caller + " varbinary(128)"
			if got := argumentText(t, args, "params"); !strings.HasSuffix(got, want) {
				t.Errorf("%s: got the declarations %s, want %s at the end", info, got, want)
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
			t.Errorf("%s %.40v is received as %.40q, want %.40q",
				v.param.declared, v.param.value, got, v.want)
		}
	}
}
