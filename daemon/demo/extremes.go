package demo

import (
	"bytes"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/record"
)

// extremesKind is the name of the kind of extreme values.
const extremesKind = "Demo_Extremes"

// Kinds returns the kinds that have demo records: the built-in ones, and Extremes.
func Kinds() *record.Registry { return allKinds() }

// Extremes returns the kind of extreme values: a field of each type, with the values at the
// limits of the type and those that programs often handle incorrectly. The ERP has no such
// table. The kind is served if the file extremes.toml is one of those in the setting erp.kinds.
func Extremes() *record.Kind {
	kind, _ := Kinds().Lookup(extremesKind)
	return kind
}

var allKinds = sync.OnceValue(func() *record.Registry {
	all, err := record.Builtin().With(record.Kind{
		Name:    extremesKind,
		Area:    "Demo",
		Summary: "Values that programs often handle incorrectly",
		Key:     []string{"RecID"},
		Fields: []record.Field{
			extremesField("RecID", record.Text),
			extremesField("TextValue", record.Text),
			extremesField("DateValue", record.DateTime),
			extremesField("DecimalValue", record.Decimal),
			extremesField("MoneyValue", record.Decimal),
			extremesField("IntValue", record.Int),
			extremesField("ShortValue", record.Short),
			extremesField("ByteValue", record.Byte),
			extremesField("BytesValue", record.Bytes),
			extremesField("RowHash", record.Bytes),
		},
	})
	if err != nil {
		panic("demo: " + err.Error()) // a mistake in this file, found by each test
	}
	return all
})

// extremesField returns a field of the kind, which can be null as in files of record kinds.
func extremesField(name string, t record.Type) record.Field {
	return record.Field{Name: name, Type: t, Filter: t.Filter(), Null: record.Nullable}
}

// extremes defines the records of the kind Extremes: each value once, and null in the rows after
// the last one.
var extremes = []table{
	{extremesKind, len(texts), []field{
		{"RecID", numbered("X%03d")},
		{"TextValue", each(texts)},
		{"DateValue", each(dates)},
		{"DecimalValue", each(decimals)},
		{"MoneyValue", each(sums)},
		{"IntValue", each(ints)},
		{"ShortValue", each(shorts)},
		{"ByteValue", each(octets)},
		{"BytesValue", each(blobs)},
		{"RowHash", each(hashes)},
	}},
}

// texts are texts that are often processed incorrectly by encoders, spreadsheets, patterns,
// collations or terminals.
var texts = []any{
	"",
	nil,
	"=SUM(A1)",                     // formula in a spreadsheet
	"+61 3 5550 0137",              // like the next two
	"-12,50 EUR",                   //
	"@today",                       //
	"100% cotton",                  // LIKE wildcards
	"size_7 [boxed] 50%_[a-c][^d]", //
	"%", "_", "[",
	`12" pipe, 5' long, "as new"; per metre`, // every delimiter of CSV
	"Ring first.\r\nGate code 0042.\nLeave at the door.\n",
	"left\tright",
	"trailing spaces   ",
	"   leading spaces",
	" ",
	"Straße, Ärmel & Größe: STRASSE",
	"Ο ΟΔΟΣ, ο οδός, ὁ ὁδός", // both small forms of sigma
	"İstanbul ısı Iğdır",     // letters that fold differently in Turkish
	"東京都港区 山田太郎 様　ガギグ ｶﾞｷﾞｸﾞ",
	"شركة النور للتجارة، الطلب ١٢٣",             // right to left
	"👩‍🔧🧵📦🇦🇺👍🏽",                                 // beyond 16 bits, joined, flagged, tinted
	"Zoe\u0308 Noe\u0308l A\u030angstro\u0308m", // combining marks
	"Zo\u00eb No\u00ebl \u00c5ngstr\u00f6m",     // the same, composed
	"<script>alert('stock')</script> &amp; ]]>",
	`C:\Temp\new\table.txt`,
	`{"Name":"brackets first","List":[1,2]}`,
	"[a,b]",
	"word\u000bprocessor\u2028line\u2029ends", // U+000B is not allowed in XML
	"\ufeffbyte order mark, zero\u200bwidth",
	"'; DROP TABLE SO_Totals; --",
	"NULL", "true", "00123", "1e5", "2019-05-01", // may be converted to other types
	strings.Repeat("A long remark about nothing at all. ", 150) + "End.",
}

// dates are the limits of .NET and SQL Server, and dates on which calendar calculations
// often fail.
var dates = []any{
	"0001-01-01T00:00:00.0000000",
	"9999-12-31T23:59:59.9999999",
	"1753-01-01T00:00:00.0000000", // minimum of datetime
	"9999-12-31T23:59:59.9970000", // maximum of datetime
	"1899-12-30T00:00:00.0000000", // zero of OLE automation
	"1900-01-01T00:00:00.0000000", // zero of SQL Server
	"1969-12-31T23:59:59.9990000",
	"2000-02-29T12:34:56.1234567",
	"2024-02-29T00:00:00.0000001",
	"2025-03-30T02:30:00.0000000", // skipped by summer time in Europe
	"2038-01-19T03:14:08.0000000", // after the end of 31-bit seconds
}

// decimals have up to 38 digits. Except for zeros and ones, each has a negative
// counterpart, so that sums are not affected.
var decimals = []any{
	"99999999999999999999999999999999999999",
	"-99999999999999999999999999999999999999",
	"0.00000000000000000000000000000000000001",
	"-0.00000000000000000000000000000000000001",
	"9999999999999999999.9999999999999999999",
	"-9999999999999999999.9999999999999999999",
	"9007199254740993", // neither is exact as a float
	"-9007199254740993",
	"0.0000",
	"0",
	"1", // the same number in three scales
	"1.0",
	"1.0000",
}

// sums are decimals at the limits of money columns.
var sums = []any{
	"922337203685477.5807", // maximum and minimum plus one of money
	"-922337203685477.5807",
	"0.0000",
	"0.0001",
	"-0.0001",
	"-15.0000",
	"15.0000",
}

// Integers at the limits of their types.
var (
	ints   = []any{int64(-1 << 31), int64(1<<31 - 1), int64(0), int64(-1), int64(1)}
	shorts = []any{int64(-1 << 15), int64(1<<15 - 1), int64(0), int64(-1)}
	octets = []any{int64(0), int64(255), int64(1), int64(127), int64(128)}
)

// blobs are binary values other than documents.
var blobs = []any{
	[]byte{},
	nil,
	everyByte(),
	[]byte{0},
	[]byte("\xff\xfe\xfd not UTF-8 \xc3\x28"),
}

// hashes are row versions.
var hashes = []any{
	make([]byte, 8),
	bytes.Repeat([]byte{0xff}, 8),
	[]byte{0, 1, 2, 3, 4, 5, 6, 7},
	nil,
}

func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}
