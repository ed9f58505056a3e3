package odata

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// TestRows writes a value of each type, and nulls.
func TestRows(t *testing.T) {
	kind := everyType(t)
	shape := encode.Shape{Columns: make([]encode.Column, len(kind.Fields))}
	nulls := make([]row.Cell, len(kind.Fields))
	for i, f := range kind.Fields {
		shape.Columns[i] = encode.Column{Name: f.Name, Type: f.Type}
		nulls[i] = row.Cell{Null: true}
	}

	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	cells := []row.Cell{
		text("a\"\u2028"),
		{Int: -5},
		{Int: 255},
		{Int: 9007199254740993},
		text("12345678901234567890.1230"),
		text("0.1"),
		{Int: 1},
		text("2019-05-01T10:11:12.1230000"),
		text("\xfb\xff"),
		text("0f8fad5b-d9cb-469f-a165-70867728950e"),
		{Int: 123000},
	}

	const (
		start  = `{"Text":"a\"\u2028","Int":-5,"Byte":255,"Long":`
		middle = `,"Double":0.1,"Bool":true,"At":"2019-05-01T10:11:12.1230000+10:00","Bytes":"-_8","Guid":"0f8fad5b-d9cb-469f-a165-70867728950e","Span":"PT0.0123S"}`
		none   = `{"Text":null,"Int":null,"Byte":null,"Long":null,"Decimal":null,"Double":null,"Bool":null,"At":null,"Bytes":null,"Guid":null,"Span":null}`
	)
	r := Response{
		Context: "http://h/$metadata#Every",
		Count:   7,
		Zone:    time.FixedZone("", 36000),
		Next:    func(cursor string) string { return "http://h/Every?$skiptoken=" + cursor },
	}

	for _, c := range []struct {
		media Media
		want  string
	}{
		{
			media: Media{},
			want:  `{"@odata.context":"http://h/$metadata#Every","@odata.count":7,"value":[` + start + `9007199254740993,"Decimal":12345678901234567890.1230` + middle + "," + none + `],"@odata.nextLink":"http://h/Every?$skiptoken=x"}`,
		},
		{
			media: Media{Bare: true, Compatible: true},
			want:  `{"@odata.count":"7","value":[` + start + `"9007199254740993","Decimal":"12345678901234567890.1230"` + middle + "," + none + `],"@odata.nextLink":"http://h/Every?$skiptoken=x"}`,
		},
	} {
		r.Media = c.media
		e := r.Format().New(shape)
		b := e.Row(e.Row(e.Begin(nil, encode.Head{}), cells), nulls)
		b = e.End(b, encode.Tail{Meta: []encode.Pair{
			{Name: "TotalAge", Value: "1"},
			{Name: query.Next, Value: "x"},
		}})
		if string(b) != c.want {
			t.Errorf("%s\nwant %s", b, c.want)
		}
	}

	r = Response{Context: "c", Count: -1, Zone: time.UTC}
	got, err := r.Entity(encode.Shape{Columns: shape.Columns[:1]}, cells)
	if err != nil || string(got) != `{"@odata.context":"c","Text":"a\"\u2028"}` {
		t.Error(got)
	}
}

// TestDatesOfTexts reads texts of a database file as dates. Some have the length and the digits
// of a date.
func TestDatesOfTexts(t *testing.T) {
	shape := encode.Shape{Columns: []encode.Column{{Name: "At", Type: record.DateTime}}}
	r := Response{Media: Media{Bare: true}, Zone: time.UTC, Record: "Every"}
	for _, tt := range []struct {
		text string
		want string // empty for an error
	}{
		{"2019-05-01T10:11:12.1230000", `{"At":"2019-05-01T10:11:12.1230000Z"}`},
		{"2019-05-01 10:11:12.1230000", `{"At":"2019-05-01T10:11:12.1230000Z"}`},
		{"2019-05-01", `{"At":"2019-05-01T00:00:00.0000000Z"}`},
		{"2020-02-29T23:59:59.9999999", `{"At":"2020-02-29T23:59:59.9999999Z"}`},
		{"2019-99-99T00:00:00.0000000", ""},
		{"2019-00-01T00:00:00.0000000", ""},
		{"2019-01-00T00:00:00.0000000", ""},
		{"2019-02-29T00:00:00.0000000", ""},
		{"2019-05-01T24:00:00.0000000", ""},
		{"2019-05-01T00:60:00.0000000", ""},
		{"2019-05-01T00:00:60.0000000", ""},
		{"2019x05x01T00:00:00.0000000", ""},
		{"2019-05-01T00.00.00.0000000", ""},
		{"2019-05-01T00:00:00,0000000", ""},
		{"2019-05-01T00:00:00.00000x0", ""},
	} {
		got, err := r.Entity(shape, []row.Cell{{Class: row.Text, Data: []byte(tt.text)}})
		if tt.want == "" && err == nil {
			t.Errorf("the date %s is written as %s, want an error", tt.text, got)
		}
		if tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("the date %s is written as %s (error %v), want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestFailure(t *testing.T) {
	status := wire.ResponseStatus{
		ErrorCode: "X",
		Message:   "a \"b\"",
		Meta:      map[string]string{"RequestId": "1"},
		Errors: []wire.FieldError{
			{ErrorCode: "X", FieldName: "$top", Message: "m"},
			{ErrorCode: "X", Message: "n"},
		},
	}
	want := `{"error":{"code":"X","message":"a \"b\"","target":"$top","details":[{"code":"X","message":"m","target":"$top"},{"code":"X","message":"n"}],"innererror":{"requestId":"1"}}}`
	if got := string(Response{}.Format().Failure(nil, status, nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMedia(t *testing.T) {
	for text, want := range map[string]Media{
		"json":                                 {},
		"application/json":                     {},
		"application/json;odata.metadata=full": {},
		"APPLICATION/JSON; odata.metadata=None; IEEE754Compatible=TRUE": {Bare: true, Compatible: true},
		"*/*":                            {},
		"application/json;metadata=none": {Bare: true, Compatible: false},
	} {
		if got, ok := ParseMedia(text); !ok || got != want {
			t.Errorf("ParseMedia(%q) is %+v, %t; want %+v", text, got, ok, want)
		}
	}
	if _, ok := ParseMedia("application/atom+xml"); ok {
		t.Error("atom is JSON")
	}
}

func TestOptions(t *testing.T) {
	kind := everyType(t)
	read := func(resource Resource, text string) (Options, error) {
		members, err := query.ReadForm(text)
		if err != nil {
			t.Fatal(err)
		}
		return ParseOptions(resource, kind, NewClock(time.UTC), members)
	}
	o, err := read(Rows, "$select=Int,Text,Int&$orderby=Int desc,Text asc,Int&$top=5&$skip=2&$count=true&x=1&$filter=Int+gt+1")
	if err != nil || len(o.Select) != 2 || len(o.Order) != 2 || !o.Order[0].Desc || o.Order[1].Desc || o.Top != 5 ||
		o.Skip != 2 || !o.Count || len(o.Filter.Where) != 1 || strings.Join(o.Ignored, "") != "x" {
		t.Errorf("got the options %+v (%v)", o, err)
	}

	token := Token{Rest: 7, Count: -1, Cursor: "a.b"}
	if o, err := read(Rows, "$format=json&$skiptoken="+token.String()); err != nil || *o.Token != token {
		t.Errorf("the token is read as %+v (%v), want %+v", o.Token, err, token)
	}

	for text, want := range map[string]string{
		"$search=a":               "$search is not supported",
		"$expand=A":               "$expand is not supported",
		"$apply=x":                "$apply is not supported",
		"$compute=x":              "$compute is not an option here",
		"$Top=1":                  "$Top is not an option here",
		"$top=1&$top=2":           "$top is given more than once",
		"$top=-1":                 "$top must be",
		"$skip=a":                 "$skip must be",
		"$count=1":                "$count must be",
		"$select=Nope":            "$select has Nope",
		"$select=Int,":            "$select has an empty name",
		"$orderby=Int up":         "$orderby must be",
		"$orderby=":               "$orderby must be",
		"$orderby=length(Text)":   "$orderby is offered for fields only",
		"$skiptoken=x":            "$skiptoken is not",
		"$skiptoken=0.0.x":        "$skiptoken is not",
		"$skiptoken=1.1.x&$top=1": "$skiptoken has",
	} {
		if _, err := read(Rows, text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got the error %v, want %s", text, err, want)
		}
	}

	for text, resource := range map[string]Resource{
		"$top=1":       Entity,
		"$select=Int":  Count,
		"$filter=Bool": Document,
	} {
		if _, err := read(resource, text); err == nil {
			t.Errorf("%s is an option of %d", text, resource)
		}
	}
}

// TestMetadata: the metadata of a kind with a field of each type.
func TestMetadata(t *testing.T) {
	kind := everyType(t)
	kind.Fields[0].Null = record.Nullable
	container := *kind
	container.Name = "Container"
	got := string(Metadata([]Set{
		{Kind: kind, Key: []int{0}},
		{Kind: &container, Columns: []string{"", "", "", "", "decimal(19,4)"}},
	}))
	for _, want := range []string{
		"<EntityType Name=\"Every\">\n<Key><PropertyRef Name=\"Text\"/></Key>\n<Property Name=\"Text\" Type=\"Edm.String\" Nullable=\"false\"/>\n<Property Name=\"Int\" Type=\"Edm.Int32\" Nullable=\"false\"/>",
		"<EntityType Name=\"Container\">\n<Property Name=\"Text\" Type=\"Edm.String\"/>",
		`<Property Name="Decimal" Type="Edm.Decimal" Precision="38" Scale="variable" Nullable="false"/>`,
		`<Property Name="Decimal" Type="Edm.Decimal" Precision="19" Scale="4" Nullable="false"/>`,
		`"At" Type="Edm.DateTimeOffset" Precision="7"`,
		`"Bytes" Type="Edm.Binary"`,
		`"Guid" Type="Edm.Guid"`,
		`"Byte" Type="Edm.Byte"`,
		`"Span" Type="Edm.Duration" Precision="7"`,
		"<EntityContainer Name=\"Container_\">\n<EntitySet Name=\"Every\" EntityType=\"whd.Every\"/>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metadata lacks %s:\n%s", want, got)
		}
	}

	for column, want := range map[string]string{
		"numeric(9,0)": "9 0",
		"money":        "19 4",
		"smallmoney":   "10 4",
		"":             "38 variable",
		"float":        "38 variable",
	} {
		precision, scale, _ := strings.Cut(want, " ")
		if got := decimalFacets(column); got != ` Precision="`+precision+`" Scale="`+scale+`"` {
			t.Errorf("the facets of %s are %s, want precision %s and scale %s", column, got, precision, scale)
		}
	}

	for _, typ := range record.Types() {
		if edmTypes[typ].name == "" {
			t.Errorf("%s has no type in OData", typ)
		}
	}
	if EntityKey(kind, []int{0, 5}) != nil || EntityKey(kind, []int{0, 1}) == nil {
		t.Error("a double identifies records, or a text does not")
	}
}
