package erp_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

// typedColumn is a column with boundary values of its type.
type typedColumn struct {
	name   string
	of     record.Type // type of its field
	server string      // column type on a server
	why    string      // reason if a server returns other values than were stored
	values []typedValue
}

// typedValue is a value as stored, and as returned by SQL Server and Babelfish.
type typedValue struct{ stored, server, babelfish any }

func stored(v typedValue) any           { return v.stored }
func shownBySQLServer(v typedValue) any { return v.server }
func shownByBabelfish(v typedValue) any { return v.babelfish }

// same returns values that are returned as stored.
func same(values ...any) []typedValue {
	var typed []typedValue
	for _, v := range values {
		typed = append(typed, typedValue{stored: v, server: v, babelfish: v})
	}
	return typed
}

// turned returns values from pairs: as stored, and as returned by servers.
func turned(pairs ...any) []typedValue {
	var typed []typedValue
	for pair := range slices.Chunk(pairs, 2) {
		typed = append(typed, typedValue{stored: pair[0], server: pair[1], babelfish: pair[1]})
	}
	return typed
}

// TestTypedColumns: columns whose values change have a reason, and only those.
func TestTypedColumns(t *testing.T) {
	for _, c := range typedColumns {
		changed := slices.ContainsFunc(c.values, func(v typedValue) bool {
			text := encodetest.Text(c.of, v.stored)
			return text != encodetest.Text(c.of, v.server) || text != encodetest.Text(c.of, v.babelfish)
		})
		if hasReason := c.why != ""; changed != hasReason {
			t.Errorf("%s: values change: %v, but the reason is %q", c.name, changed, c.why)
		}
	}
}

var (
	nines  = strings.Repeat("9", 38)
	zeros  = strings.Repeat("0", 38)
	tenMeg = bytes.Repeat([]byte("0123456789abcde\xff"), 10<<20/16)
)

// typedColumns lists the columns. Texts in a code page contain letters of its script and
// some of the characters in which code pages differ.
var typedColumns = []typedColumn{
	{"Whole", record.Decimal, "decimal(38,0)", "", same("0", "1", "-1", nines, "-"+nines)},
	{"Mixed", record.Decimal, "decimal(38,10)", "", same(
		"0.0000000000", "1.5000000000", "-0.0000000001", nines[:28]+"."+nines[:10], "-"+nines[:28]+"."+nines[:10],
	)},
	{"Fraction", record.Decimal, "decimal(38,38)", "", same(
		"0."+zeros, "0."+nines, "-0."+nines, "0."+zeros[:37]+"1", "-0."+zeros[:37]+"1",
	)},
	{"Usual", record.Decimal, "decimal(19,4)", "", same("0.0000", "12.5000", "-999999999999999.9999", "999999999999999.9999")},
	{"Money", record.Decimal, "money", "", same("0.0000", "-0.0001", "922337203685477.5807", "-922337203685477.5808")},
	{"Coins", record.Decimal, "smallmoney", "", same("0.0000", "214748.3647", "-214748.3648")},

	{"Binary", record.Double, "float", "", same(0.0, 0.1, 0.1+0.2, -1.5, 1e21, 1e-7, 5e-324, math.MaxFloat64, -math.MaxFloat64, 9007199254740993.0)},
	{"Small32", record.Double, "real", "", same(0.0, 0.1, -1.5, 1e-7, 16777216.0, 3.4028235e38)},
	{"Clock", record.TimeSpan, "time(7)", "Babelfish stores microseconds, like PostgreSQL", append(same(
		int64(0), int64(863999999990), int64(366721234560),
	), typedValue{int64(366721234567), int64(366721234567), int64(366721234570)})},

	{"Exact", record.DateTime, "datetime2(7)", "Babelfish stores microseconds, like PostgreSQL", append(same(
		"0001-01-01T00:00:00.0000000", "9999-12-31T23:59:59.9999990", "2019-05-01T10:11:12.1234560",
	), typedValue{"2019-05-01T10:11:12.1234567", "2019-05-01T10:11:12.1234567", "2019-05-01T10:11:12.1234570"})},
	{"Old", record.DateTime, "datetime", "it stores multiples of 1/300 s, returned as 0, 3 and 7 ms", turned(
		"1753-01-01T00:00:00.0000000", "1753-01-01T00:00:00.0000000",
		"9999-12-31T23:59:59.9970000", "9999-12-31T23:59:59.9970000",
		"2019-05-01T10:11:12.1230000", "2019-05-01T10:11:12.1230000",
		"2019-05-01T10:11:12.1240000", "2019-05-01T10:11:12.1230000",
		"2019-05-01T10:11:12.1250000", "2019-05-01T10:11:12.1270000",
		"2019-05-01T23:59:59.9990000", "2019-05-02T00:00:00.0000000",
	)},
	{"Minute", record.DateTime, "smalldatetime", "", same("1900-01-01T00:00:00.0000000", "2079-06-06T23:59:00.0000000")},
	{"Day", record.DateTime, "date", "", same("0001-01-01T00:00:00.0000000", "9999-12-31T00:00:00.0000000", "2024-02-29T00:00:00.0000000")},

	{"ID", record.Guid, "uniqueidentifier", "", same(
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "0f8fad5b-d9cb-469f-a165-70867728950e",
	)},
	{"Yes", record.Bool, "bit", "", same(int64(0), int64(1))},
	{"Tiny", record.Byte, "tinyint", "", same(int64(0), int64(1), int64(255))},
	{"Small", record.Short, "smallint", "", same(int64(-1<<15), int64(0), int64(1<<15-1))},
	{"Normal", record.Int, "int", "", same(int64(-1<<31), int64(0), int64(1<<31-1))},
	{"Big", record.Long, "bigint", "", same(int64(-1<<63), int64(0), int64(1<<63-1))},

	{"Code", record.Text, "char(10)", "it is padded to its length", turned(
		"", "          ", "a", "a         ", "ab ", "ab        ", "1234567890", "1234567890",
	)},
	{"WideCode", record.Text, "nchar(10)", "it is padded to its length, in which a character outside the BMP counts twice", turned(
		"", "          ", "日本", "日本        ", "😀", "😀        ", "1234567890", "1234567890", "😀😀😀😀😀", "😀😀😀😀😀",
	)},
	{"CyrillicCode", record.Text, "char(10) COLLATE Cyrillic_General_CI_AS", "it is padded to its length", turned(
		"", "          ", "Болт", "Болт      ", "Подшипник1", "Подшипник1",
	)},
	{"Latin", record.Text, "varchar(40) COLLATE Latin1_General_CI_AS", "", same("", " ", "trailing  ", "Größe, naïve: 5 €", "„Ž”…")},
	{"Cyrillic", record.Text, "varchar(40) COLLATE Cyrillic_General_CI_AS", "", same("", "Съешь же ещё этих мягких булок", "Їжак ґава №1 «»")},
	{"Greek", record.Text, "varchar(40) COLLATE Greek_CI_AS", "", same("", "Ο καλύτερος, ΟΔΟΣ ΐ", "΅€")},
	{"Japanese", record.Text, "varchar(40) COLLATE Japanese_CI_AS", "", same("", "東京都 カタカナ ｶﾀｶﾅ", "表ソ能")},
	{"Arabic", record.Text, "varchar(40) COLLATE Arabic_CI_AS", "", same("", "شركة النور للتجارة، ؟", "پچژگ€")},
	{"Hebrew", record.Text, "varchar(40) COLLATE Hebrew_CI_AS", "", same("", "שלום עולם ₪")},
	{"Turkish", record.Text, "varchar(40) COLLATE Turkish_CI_AS", "", same("", "İstanbul ışık ğüşöç")},
	{"Thai", record.Text, "varchar(40) COLLATE Thai_CI_AS", "", same("", "ภาษาไทย ๑๒๓")},
	{"Chinese", record.Text, "varchar(40) COLLATE Chinese_PRC_CI_AS", "", same("", "简体中文，测试")},
	{"Korean", record.Text, "varchar(40) COLLATE Korean_Wansung_CI_AS", "", same("", "한국어 시험")},
	{"Polish", record.Text, "varchar(40) COLLATE SQL_Latin1_General_CP1250_CI_AS", "", same("", "Zażółć gęślą jaźń")},
	{"Baltic", record.Text, "varchar(40) COLLATE SQL_Latin1_General_CP1257_CI_AS", "", same("", "Šķēle ąčęėįšųūž")},
	{"Vietnamese", record.Text, "varchar(40) COLLATE SQL_Latin1_General_CP1258_CI_AS", "", same("", "ă â đ ê ô ơ ư ₫")},
	{"LongLatin", record.Text, "varchar(max) COLLATE Latin1_General_CI_AS", "", same("", strings.Repeat("ä€", 5000))},
	{"Note", record.Text, "nvarchar(max)", "", same(
		"", " ", "👩‍🔧🧵🇦🇺", "e\u0301 A\u030a", "日本語 𠮷", `"quoted", 'single', back\slash`, "line\r\nbreak\nand\rmore\t.", controls(),
		"00123", "=1+1", "-1", "1e5", "NULL", "true", "{brackets},[more]:\"", "<&>]]>", "\u2028\u2029\ufeff\u00a0", strings.Repeat("x", 5000)+"é",
	)},
	{"OldNote", record.Text, "ntext", "", same("", "日本語 😀")},

	{"Content", record.Bytes, "varbinary(max)", "", same([]byte{}, []byte{0}, []byte{0, 0}, []byte("\xff\x00\xfe"), tenMeg)},
	{"Hash", record.Bytes, "binary(4)", "it is padded to its length", turned(
		[]byte{}, []byte{0, 0, 0, 0}, []byte{1, 2}, []byte{1, 2, 0, 0}, []byte{255, 255, 255, 255}, []byte{255, 255, 255, 255},
	)},
}

// controls returns the control characters except NUL, which not every database stores
// in texts.
func controls() string {
	var b strings.Builder
	for r := rune(1); r < 0xa0; r++ {
		if r < ' ' || r > '~' {
			b.WriteRune(r)
		}
	}
	return b.String()
}
