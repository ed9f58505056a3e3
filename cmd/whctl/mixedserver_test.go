package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// serverRows is the number of rows of the table on a server.
const serverRows = 60

// serverValue is a value as SQL has it, and as executortest reads stored values.
type serverValue struct {
	sql    string
	stored any
}

var (
	blankDates = []serverValue{
		{"'17530101'", "1753-01-01"},
		{"'19000101'", "1900-01-01"},
		{"'20260102'", "2026-01-02"},
		{"'20251231'", "2025-12-31"},
		{"'99991231'", "9999-12-31"},
	}
	dateTimes = append([]serverValue{
		{"'2026-01-02T10:11:12'", "2026-01-02T10:11:12.0000000"},
		{"'2026-01-02T10:11:00'", "2026-01-02T10:11:00.0000000"},
	}, blankDates...)
	guids = []serverValue{
		{"'0F8FAD5B-D9CB-469F-A165-70867728950E'", "0f8fad5b-d9cb-469f-a165-70867728950e"},
		{"'0f8fad5b-d9cb-469f-a165-70867728950f'", "0f8fad5b-d9cb-469f-a165-70867728950f"},
		{"'00000000-0000-0000-0000-000000000000'", "00000000-0000-0000-0000-000000000000"},
	}
	texts = []serverValue{
		{"N''", ""},
		{"N'10'", "10"},
		{"N'010'", "010"},
		{"N'abc'", "abc"},
		{"N'ABC'", "ABC"},
		{"N'aBc'", "aBc"},
		{"N'2.5'", "2.5"},
		{"N'2.50'", "2.50"},
		{"N'x'", "x"},
		{"N'true'", "true"},
		{"N'n/a'", "n/a"},
	}
	decimals = []serverValue{
		{"0", "0"},
		{"2.5", "2.5"},
		{"-2.5", "-2.5"},
		{"2.4999", "2.4999"},
		{"12.5", "12.5"},
		{"10", "10"},
		{"99999.9999", "99999.9999"},
	}
)

var (
	floats = []serverValue{
		{"0", 0.0},
		{"2.5", 2.5},
		{"-1", -1.0},
		{"1e300", 1e300},
		{"0.1", 0.1},
		{"0.30000000000000004", 0.30000000000000004},
	}
	reals        = []serverValue{{"0", 0.0}, {"2.5", 2.5}, {"-1", -1.0}, {"1024", 1024.0}}
	preciseTimes = []serverValue{{"'2025-12-31T23:59:59.9999999'", "2025-12-31T23:59:59.9999999"}}
	binaries     = []serverValue{
		{"0x", []byte{}},
		{"0x00", []byte{0}},
		{"0x3130", []byte("10")},
		{"0xff00", []byte{0xff, 0}},
	}
	spans = []serverValue{ // stored in ticks of 100 ns
		{"'00:00:00'", int64(0)},
		{"'00:00:00.0000010'", int64(10)},
		{"'10:11:12'", int64(366720000000)},
	}
)

// wholes returns whole numbers.
func wholes(numbers ...int64) (values []serverValue) {
	for _, n := range numbers {
		values = append(values, serverValue{fmt.Sprint(n), n})
	}
	return values
}

// serverColumn is a column with values, of which each is repeated.
type serverColumn struct {
	declared  string
	fieldType record.Type
	values    []serverValue
}

// serverColumns are columns of every declared type. A third of their rows have NULL.
var serverColumns = []serverColumn{
	{"int", record.Int, wholes(0, 1, -1, 10, math.MaxInt32, math.MinInt32)},
	{"smallint", record.Int, wholes(0, 1, -1, 10, math.MaxInt16, math.MinInt16)},
	{"tinyint", record.Byte, wholes(0, 1, 10, math.MaxUint8)},
	{"bigint", record.Long, wholes(0, 10, exactFloat+1, exactFloat, math.MinInt64, math.MaxInt64)},
	{"decimal(18,4)", record.Decimal, decimals},
	{"decimal(38,10)", record.Decimal, decimals},
	{"money", record.Decimal, decimals},
	{"float", record.Double, floats},
	{"real", record.Double, reals},
	{"bit", record.Bool, wholes(0, 1)},
	{"nvarchar(40)", record.Text, texts},
	{"varchar(40)", record.Text, texts},
	{"nvarchar(40) COLLATE Latin1_General_CS_AS", record.Text, texts},
	{"datetime2(7)", record.DateTime, append(slices.Clone(preciseTimes), dateTimes...)},
	{"datetime", record.DateTime, dateTimes},
	{"date", record.DateTime, blankDates},
	{"uniqueidentifier", record.Guid, guids},
	{"varbinary(20)", record.Bytes, binaries},
	{"time(7)", record.TimeSpan, spans},
}

// exactFloat is the largest number up to which a float has all whole numbers.
const exactFloat = 1 << 53

// startMixedServer starts a daemon with the kind Mixed on a server.
func startMixedServer(t *testing.T) *mixedPrograms {
	t.Helper()
	dsn := mssqltest.Database(t)
	m := &mixedPrograms{rows: serverRows}
	columns := []string{"ID bigint NOT NULL PRIMARY KEY"}
	rows := make([]string, serverRows)
	for i := range rows {
		rows[i] = fmt.Sprint(i + 1)
	}
	for n, c := range serverColumns {
		f := mixedField{
			name:     fmt.Sprintf("Held%d", n),
			typ:      c.fieldType,
			declared: c.declared,
			stored:   make(map[int64]any),
		}
		if c.fieldType == record.Text && !strings.Contains(c.declared, "_CS_") {
			f.fold = strings.ToLower
		}
		columns = append(columns, f.name+" "+c.declared+" NULL")
		for i := range rows {
			v := serverValue{sql: "NULL"}
			if (i+n)%3 != 0 {
				v = c.values[(i/3+n)%len(c.values)]
			}
			rows[i] += ", " + v.sql
			f.stored[int64(i+1)] = v.stored
		}
		m.fields = append(m.fields, f)
	}
	mssqltest.Exec(t, dsn,
		"CREATE TABLE Mixed ("+strings.Join(columns, ", ")+")",
		"INSERT INTO Mixed VALUES ("+strings.Join(rows, "), (")+")")
	file := writeMixedKind(t, m.fields)
	m.serve(t, daemontest.Start(t, "--erp", dsn, "--erp-kinds", file, "--auth-queries", "anonymous"))
	return m
}
