package encode

import (
	"bytes"
	"math"
	"mime"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode/encodetest"
	"github.com/bizhook/whd/daemon/row"
)

// golden compares got with testdata/<name>.<format>.golden.
func golden(t *testing.T, name string, f Format, got []byte) {
	t.Helper()
	got = bytes.Replace(got, []byte(style), []byte("..."), 1)
	if f.Binary {
		var err error
		if got, err = encodetest.Sheet(got); err != nil {
			t.Fatal(err)
		}
	}
	goldentest.Compare(t, filepath.Join("testdata", name+"."+f.Name+".golden"), string(got))
}

// textFormats returns the formats that can be compared as text.
func textFormats() []Format {
	return slices.DeleteFunc(slices.Clone(Formats()), func(f Format) bool { return f.Binary })
}

func text(s string) row.Cell  { return row.Cell{Data: []byte(s)} }
func number(n int64) row.Cell { return row.Cell{Int: n} }

var null = row.Cell{Null: true}

// mixed returns a shape with a column of every type, named after the type.
func mixed() Shape {
	s := Shape{
		Operation: "MixedQuery",
		Record:    "Mixed",
		Links: []Link{
			{Name: "JSON", URL: "/json/reply/MixedQuery?Take=3&Note=%22"},
			{Name: "CSV", URL: "/csv/reply/MixedQuery?Take=3"},
		},
	}
	for _, t := range record.Types() {
		s.Columns = append(s.Columns, Column{
			strings.NewReplacer("[]", "s", "<string,string>", "").Replace(t.String()),
			t,
		})
	}
	return s
}

// mixedRows returns ordinary values, nulls, and the limits of every range, each in
// the order of record.Types.
func mixedRows() [][]row.Cell {
	nulls := slices.Repeat([]row.Cell{null}, len(record.Types()))
	return [][]row.Cell{
		{
			text(`5" bolt, <A&B> \ zinc`),
			number(42),
			number(7),
			number(3),
			number(1234567890123),
			text("12.3400"),
			number(1),
			text("2019-05-01T10:11:12.1230000"),
			{Data: []byte{0, 1, 2, 0xFE, 0xFF}},
			text("0f8fad5b-d9cb-469f-a165-70867728950e"),
			number(123_000),
			text(`{"Accept":"text/csv, */*","X":"say \"hi\""}`),
			text("{\n\"Take\": 3,\n\"All\": [true, null]}"),
			text("2018-07-04T00:40:12.0000000"),
			text("0.30000000000000004"),
		},
		nulls,
		{
			text(""),
			number(math.MinInt32),
			number(math.MinInt16),
			number(0),
			number(math.MinInt64),
			text("-99999999999999999999999999999999999999"),
			number(0),
			text("0001-01-01T00:00:00.0000000"),
			text(""),
			text("00000000-0000-0000-0000-000000000000"),
			number(0),
			text("{}"),
			text("null"),
			text("0001-01-01T00:00:00.0000000"),
			text("-1.7976931348623157e+308"),
		},
		{
			text("line\r\nline\tÅ 漢 😀 \u2028 ]]> 'x' {y:z}"),
			number(math.MaxInt32),
			number(math.MaxInt16),
			number(255),
			number(math.MaxInt64),
			text("0.00000000000000000000000000000000000001"),
			number(1),
			text("9999-12-31T23:59:59.9999999"),
			{Data: bytes.Repeat([]byte{0xA5}, 16)},
			text("ffffffff-ffff-ffff-ffff-ffffffffffff"),
			number(-93_600 * 10_000_000),
			text(`{"a":"\u00e9"}`),
			text("[]"),
			text("9999-12-31T23:59:59.9999999"),
			text("5e-324"),
		},
	}
}

// result encodes a complete result.
func result(f Format, s Shape, rows [][]row.Cell, t Tail) []byte {
	e := f.New(s)
	dst := e.Begin(nil, Head{Offset: 20})
	for _, cells := range rows {
		dst = e.Row(dst, cells)
	}
	return e.End(dst, t)
}

// rowOf encodes one row.
func rowOf(f Format, s Shape, cells ...row.Cell) string {
	e := f.New(s)
	e.Begin(nil, Head{})
	return string(e.Row(nil, cells))
}

func format(t testing.TB, name string) Format {
	t.Helper()
	f, ok := ByName(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	return f
}

func TestGoldens(t *testing.T) {
	tail := Tail{Total: 2345, Meta: []Pair{{"Next", `a"b,<c>`}, {"COUNT(*)", "2345"}, {"Empty", ""}}}
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			shape := mixed()
			golden(t, "mixed", f, result(f, shape, mixedRows(), tail))
			shape.Nulls = true
			golden(t, "nulls", f, result(f, shape, mixedRows()[:2], tail))
			golden(t, "empty", f, result(f, mixed(), nil, Tail{}))
		})
	}
}

// TestEveryType checks the encoding of every type in every format. It fails for a
// type that is missing in its table or unknown to an encoder.
func TestEveryType(t *testing.T) {
	type forms struct {
		cell                      row.Cell
		json, csv, xml, jsv, html string
	}
	const date, guid = "2019-05-01T10:11:12.1230000", "0f8fad5b-d9cb-469f-a165-70867728950e"
	want := map[record.Type]forms{
		record.Text: {
			cell: text("a,b"),
			json: `"a,b"`,
			csv:  `"a,b"`,
			xml:  "a,b",
			jsv:  `"a,b"`,
			html: "a,b",
		},
		record.Int:   {cell: number(-5), json: "-5", csv: "-5", xml: "-5", jsv: "-5", html: "-5"},
		record.Short: {cell: number(6), json: "6", csv: "6", xml: "6", jsv: "6", html: "6"},
		record.Byte:  {cell: number(255), json: "255", csv: "255", xml: "255", jsv: "255", html: "255"},
		record.Long: {
			cell: number(1 << 40),
			json: "1099511627776",
			csv:  "1099511627776",
			xml:  "1099511627776",
			jsv:  "1099511627776",
			html: "1099511627776",
		},
		record.Decimal: {
			cell: text("1.5000"),
			json: "1.5000",
			csv:  "1.5000",
			xml:  "1.5000",
			jsv:  "1.5000",
			html: "1.5000",
		},
		record.Bool: {
			cell: number(1),
			json: "true",
			csv:  "True",
			xml:  "true",
			jsv:  "True",
			html: "True",
		},
		record.DateTime: {
			cell: text(date),
			json: `"` + date + `"`,
			csv:  date,
			xml:  date,
			jsv:  date,
			html: date,
		},
		record.Bytes: {
			cell: text("\xff\xfe"),
			json: `"//4="`,
			csv:  "//4=",
			xml:  "//4=",
			jsv:  "//4=",
			html: "//4=",
		},
		record.Guid: {
			cell: text(guid),
			json: `"` + guid + `"`,
			csv:  guid,
			xml:  guid,
			jsv:  guid,
			html: guid,
		},
		record.TimeSpan: {
			cell: number(600_000_000),
			json: `"PT1M"`,
			csv:  "PT1M",
			xml:  "PT1M",
			jsv:  "PT1M",
			html: "PT1M",
		},
		record.Dictionary: {
			cell: text(`{"a":"b"}`),
			json: `{"a":"b"}`,
			csv:  `"{""a"":""b""}"`,
			xml:  "{&quot;a&quot;:&quot;b&quot;}",
			jsv:  "{a:b}",
			html: "{&quot;a&quot;:&quot;b&quot;}",
		},
		record.Object: {
			cell: text(`[1,true]`),
			json: `[1,true]`,
			csv:  `"[1,true]"`,
			xml:  "[1,true]",
			jsv:  "[1,True]",
			html: "[1,true]",
		},
		record.Double: {
			cell: text("-1.5e+300"),
			json: "-1.5e+300",
			csv:  "-1.5e+300",
			xml:  "-1.5e+300",
			jsv:  "-1.5e+300",
			html: "-1.5e+300",
		},
		record.Epoch: {
			cell: text(date),
			json: `"/Date(1556705472123+0000)/"`,
			csv:  date,
			xml:  date,
			jsv:  date,
			html: date,
		},
	}

	for _, typ := range record.Types() {
		w, known := want[typ]
		if !known {
			t.Errorf("%s: not in the table of this test", typ)
			continue
		}
		class := ""
		if typ.Number() {
			class = ` class="n"`
		}
		rows := map[string]string{
			"json":   `{"V":` + w.json + `}`,
			"ndjson": `{"V":` + w.json + "}\n",
			"csv":    w.csv + "\r\n",
			"xml":    "<R><V>" + w.xml + "</V></R>",
			"jsv":    "{V:" + w.jsv + "}",
			"html":   "<tr><td" + class + ">" + w.html + "</td></tr>\n",
		}
		for _, f := range textFormats() {
			got := rowOf(f, Shape{Record: "R", Columns: []Column{{"V", typ}}}, w.cell)
			if got != rows[f.Name] {
				t.Errorf("%s as %s: got %q, want %q", typ, f.Name, got, rows[f.Name])
			}
		}
	}
}

func TestNulls(t *testing.T) {
	columns := []Column{{"A", record.Text}, {"B", record.Int}, {"C", record.Text}}
	cells := []row.Cell{null, number(1), null}
	tests := []struct{ format, out, in string }{
		{format: "json", out: `{"B":1}`, in: `{"A":null,"B":1,"C":null}`},
		{format: "ndjson", out: "{\"B\":1}\n", in: "{\"A\":null,\"B\":1,\"C\":null}\n"},
		{format: "csv", out: ",1,\r\n", in: ",1,\r\n"},
		{format: "xml", out: "<R><B>1</B></R>", in: `<R><A xsi:nil="true"/><B>1</B><C xsi:nil="true"/></R>`},
		{format: "jsv", out: "{B:1}", in: "{A:,B:1,C:}"},
		{
			format: "html",
			out:    "<tr><td></td><td class=\"n\">1</td><td></td></tr>\n",
			in:     "<tr><td></td><td class=\"n\">1</td><td></td></tr>\n",
		},
	}
	for _, test := range tests {
		f := format(t, test.format)
		shape := Shape{Record: "R", Columns: columns}
		if got := rowOf(f, shape, cells...); got != test.out {
			t.Errorf("%s omitted: got %q, want %q", f.Name, got, test.out)
		}
		shape.Nulls = true
		if got := rowOf(f, shape, cells...); got != test.in {
			t.Errorf("%s with nulls: got %q, want %q", f.Name, got, test.in)
		}
	}
}

// TestFlush empties the buffer after every call, as a writer to a socket may do.
func TestFlush(t *testing.T) {
	tail := Tail{Total: 9, Meta: []Pair{{"a", "b"}, {"c", "d"}}}
	for _, f := range Formats() {
		var got []byte
		e := f.New(mixed())
		got = append(got, e.Begin(nil, Head{Offset: 20})...)
		for _, cells := range mixedRows() {
			got = append(got, e.Row(nil, cells)...)
		}
		got = append(got, e.End(nil, tail)...)
		if want := result(f, mixed(), mixedRows(), tail); !bytes.Equal(got, want) {
			t.Errorf("%s: got %s\nwant %s", f.Name, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	formatOf := make(map[string]string)
	for _, f := range Formats() {
		if f.Suffix != "."+f.Name {
			t.Errorf("%s: suffix %s", f.Name, f.Suffix)
		}
		base, _, err := mime.ParseMediaType(f.ContentType)
		if err != nil || !slices.Contains(f.MediaTypes, base) {
			t.Errorf("%s: content type %s is not among %v (%v)", f.Name, f.ContentType, f.MediaTypes, err)
		}
		for _, m := range f.MediaTypes {
			if formatOf[m] != "" {
				t.Errorf("%s selects both %s and %s", m, formatOf[m], f.Name)
			}
			formatOf[m] = f.Name
		}
		if got, ok := ByName(strings.ToUpper(f.Name)); !ok || got.Name != f.Name {
			t.Errorf("%s: not found by its upper-case name", f.Name)
		}
	}
	if f, ok := ByName("yaml"); ok {
		t.Errorf("yaml is %v", f)
	}
}
