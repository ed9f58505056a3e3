package query

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// samples are values of each type as encoding/json writes them.
var samples = map[record.Type]any{
	record.Text:     "Text",
	record.Int:      2147483647,
	record.Short:    -32768,
	record.Byte:     255,
	record.Decimal:  json.Number("12345678901234567890.1234"),
	record.Bool:     true,
	record.DateTime: "2019-05-01T10:11:12.1230000",
	record.Bytes:    []byte{1, 2, 3},
	record.Guid:     "7c9e6679742540de944be07fc1f90ae7",
}

// TestAllMembers reads all members of a kind from one JSON object, as the samples of
// the published interface send them.
func TestAllMembers(t *testing.T) {
	for _, kind := range registry.Kinds() {
		body := map[string]any{
			Skip:        0,
			Take:        10,
			OrderBy:     kind.Fields[0].Name,
			OrderByDesc: "",
			Include:     "Total",
			Fields:      strings.Join(kind.FieldNames(), ","),
			Meta:        map[string]string{"String": "String"},
		}
		for _, name := range kind.Members() {
			target, _ := kind.Member(name)
			sample := samples[kind.Fields[target.Field].Type]
			switch {
			case target.Operator.Arity() == record.One:
				body[name] = sample
			case kind.Fields[target.Field].Type == record.Byte:
				body[name] = []byte{1, 2} // base64 text
			default:
				body[name] = []any{sample, sample}
			}
		}
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		members, err := ReadJSON(raw)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		request, err := Parse(kind, members, inUTC)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		if len(request.Where) != len(kind.Members()) || len(request.Ignored) > 0 {
			t.Errorf("%s: got %d conditions for %d members, and %v ignored, want one for each and none ignored",
				kind.Name, len(request.Where), len(kind.Members()), request.Ignored)
		}
		compileAll(t, request)
	}
}

// TestOnlyWrongMembersAreReported checks that a mistake in one member of a request with groups is
// not reported as one of OrderBy, which refers to the columns of the groups.
func TestOnlyWrongMembersAreReported(t *testing.T) {
	kind, _ := registry.Lookup("DB_Class")
	for text, want := range map[string]string{
		"GroupBy=Class&OrderBy=-Count&Skip=x":              "Skip",
		"GroupBy=Class&OrderBy=-Count&Strict=true&Bogus=1": "Bogus",
		"GroupBy=Bogus&OrderBy=-Count":                     "GroupBy",
		"Skip=x&OrderBy=Bogus":                             "Skip OrderBy",
		"Strict=maybe":                                     "Strict",
	} {
		members, err := ReadForm(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(kind, members, inUTC)
		var names []string
		if err != nil {
			for _, f := range fault.From(err).Fields {
				names = append(names, f.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got errors of the members %q (%v), want %q", text, got, err, want)
		}
	}
}

// TestNamesOfParameters checks that a parameter has its name in any letter case, by the one rule of
// all members: ſ is another letter than s.
func TestNamesOfParameters(t *testing.T) {
	kind, _ := registry.Lookup("DB_Class")
	for _, tt := range []struct {
		text    string
		skip    int64
		ignored string
	}{
		{text: "sKIP=5", skip: 5},
		{text: "ſkip=3", ignored: "?kip"},
		{text: "Skip=5&ſkip=3", skip: 5, ignored: "?kip"},
		{text: "ſtrict=true", ignored: "?trict"},
	} {
		members, err := ReadForm(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		req, err := Parse(kind, members, inUTC)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := strings.Join(req.Ignored, " "); got != tt.ignored || req.Skip != tt.skip {
			t.Errorf("%s: got Skip %d and the ignored members %q, want %d and %q",
				tt.text, req.Skip, got, tt.skip, tt.ignored)
		}
	}
}

// TestPeriodOfGroups checks that blanks around a field and its period have no effect.
func TestPeriodOfGroups(t *testing.T) {
	kind, _ := registry.Lookup("IN_KitStockTakeMain")
	for _, text := range []string{"KitStockTakeDate:month", "KitStockTakeDate: month", " KitStockTakeDate : month "} {
		req, err := Parse(kind, Members{{Name: GroupBy, Texts: []string{text}}}, inUTC)
		if err != nil || req.Group == nil || req.Group.Period == 0 {
			t.Errorf("GroupBy=%q: got %+v (%v), want groups by month", text, req, err)
		}
	}
}

// TestListOfGroups checks that GroupBy accepts a JSON list of one field, and no longer one.
func TestListOfGroups(t *testing.T) {
	kind, _ := registry.Lookup("DB_Class")
	for _, tt := range []struct {
		body      string
		isInvalid bool
	}{
		{body: `{"GroupBy":["Class"]}`},
		{body: `{"GroupBy":["Class","Class"]}`, isInvalid: true},
	} {
		members, err := ReadJSON([]byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req, err := Parse(kind, members, inUTC)
		if fault.Is(err, fault.Invalid) != tt.isInvalid {
			t.Errorf("%s: got error %v, want an invalid request: %v", tt.body, err, tt.isInvalid)
		}
		if err == nil && req.Group == nil {
			t.Errorf("%s: got %+v, want groups", tt.body, req)
		}
	}
}

// TestPeriodsOfMessages checks that the dates of messages can be grouped by a period, although they
// are written in another notation.
func TestPeriodsOfMessages(t *testing.T) {
	kind, _ := record.System().Lookup("Message")
	req, err := Parse(kind, Members{{Name: GroupBy, Texts: []string{"AddedDateTime:day"}}}, inUTC)
	if err != nil || req.Group == nil || req.Group.Period == 0 {
		t.Errorf("GroupBy=AddedDateTime:day of messages: got %+v (%v), want groups by day", req, err)
	}
}

// TestSameInEveryFormat checks that a request means the same in every format.
func TestSameInEveryFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		members := drawMembers(t, kind)
		for i, m := range members {
			for j, text := range m.Texts {
				// Outside of JSON an empty text is not given; CSV has no carriage
				// returns without line feeds.
				text = strings.ReplaceAll(text, "\r", "")
				if text == "" {
					text = "x"
				}
				members[i].Texts[j] = text
			}
		}
		want, err := Parse(kind, members, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		if len(members) == 0 {
			return
		}
		for format, body := range map[string]string{
			"json":  asJSON(members),
			"query": asForm(members),
			"form":  asRepeatedForm(members),
			"csv":   asCSV(members),
		} {
			arrived, err := read(format, body)
			if err != nil {
				t.Fatalf("%s %s: %v", format, body, err)
			}
			got, err := Parse(kind, arrived, inUTC)
			if err != nil {
				t.Fatalf("%s %s: %v", format, body, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %s\ngot  %+v\nwant %+v", format, body, got, want)
			}
		}
	})
}

// TestHostZone checks that dates use the host's time zone by default.
func TestHostZone(t *testing.T) {
	kind, _ := registry.Lookup("SM_LabourLineCustomValues")
	request, err := Parse(kind, Members{{Name: "LastSavedDateTime", Texts: []string{"2019-05-01T10:11:12Z"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2019, 5, 1, 10, 11, 12, 0, time.UTC).Local().Format("2006-01-02T15:04:05.0000000")
	if got := request.Where[0].Operands[0].Text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnknownMembersAreBounded checks that a megabyte of unknown members produces a small
// error.
func TestUnknownMembersAreBounded(t *testing.T) {
	kind, _ := registry.Lookup("CR_Classification")
	for _, name := range []string{OrderBy, OrderByDesc, Include, Fields} {
		for _, part := range []string{"x,", "sum(x),", "RecIDs;", "count(*) a,"} {
			megabyte := strings.Repeat(part, 1<<20/len(part))
			members := Members{text(name, megabyte), text(Strict, "1")}
			request, err := Parse(kind, members, inUTC)
			if err == nil {
				compileAll(t, request)
			} else if e := fault.From(err); len(e.Fields) != 1 || len(e.Error()) > 3000 {
				t.Errorf("%s of a megabyte of %q: the error has %d fields and %d bytes, want 1 and at most 3000",
					name, part, len(e.Fields), len(e.Error()))
			}
		}
	}
}

func TestTooManyFunctions(t *testing.T) {
	kind, _ := registry.Lookup("CR_Classification")
	var many strings.Builder
	for i := range 60 {
		many.WriteString("COUNT(*) a" + itoa(int64(i)) + ",")
	}
	if _, err := Parse(kind, Members{text(Include, many.String())}, inUTC); !fault.Is(err, fault.Invalid) {
		t.Errorf("60 functions: got the error %v, want a fault of kind %v", err, fault.Invalid)
	}
}

// FuzzParse checks that arbitrary members are either all reported as invalid or make
// a request that can be compiled.
func FuzzParse(f *testing.F) {
	names := []string{
		Skip, Take, OrderBy, Fields, Include, Strict, Meta,
		"InvoiceID", "QtyBetween", "ItemNoIn", "IsRatio", "SubAssemblyExplodePolicyIn", "x",
	}
	for i, name := range names {
		f.Add(byte(i), name, "1", byte(0), "RecIDIn", "a,b", byte(0))
		f.Add(byte(i), name, "Total,COUNT(*),-RecID", byte(1), "TermsDays", "5", byte(2))
		f.Add(byte(i), name, "", byte(4), "RowHash", "AQI=", byte(9))
	}
	kinds := registry.Kinds()
	f.Fuzz(func(t *testing.T, k byte, name1, text1 string, how1 byte, name2, text2 string, how2 byte) {
		members := Members{fuzzed(name1, text1, how1)}
		if !strings.EqualFold(name1, name2) {
			members = append(members, fuzzed(name2, text2, how2))
		}
		request, err := Parse(kinds[int(k)%len(kinds)], members, Options{Zone: time.UTC, MaxTake: 1000})
		if err == nil {
			compileAll(t, request)
			return
		}
		e := fault.From(err)
		if e.Kind != fault.Invalid || len(e.Fields) == 0 || len(e.Fields) > len(members) || e.Message == "" {
			t.Fatalf("%+v: %+v", members, e)
		}
		for _, field := range e.Fields {
			isFuzzed := Printable(name1) == field.Name || Printable(name2) == field.Name
			isNamed := isFuzzed || strings.EqualFold(field.Name, Strict)
			if !isNamed || field.Message == "" {
				t.Fatalf("%+v: %+v", members, field)
			}
		}
	})
}

// fuzzed returns a member of any shape, including shapes that no reader produces.
func fuzzed(name, text string, how byte) Member {
	m := Member{Name: name, List: how&1 != 0, Empty: how&4 != 0, Other: how&8 != 0}
	if how&2 == 0 {
		m.Texts = strings.Split(text, "|")
	}
	return m
}

// TestLongPatterns checks the limit of texts that are compared at every position.
// Texts that are compared at one position have no limit.
func TestLongPatterns(t *testing.T) {
	kind := registry.Kinds()[0]
	for _, c := range []struct {
		suffix    string
		length    int // in characters
		wantError bool
	}{
		{"Contains", MaxPattern, false},
		{"Contains", MaxPattern + 1, true},
		{"Like", MaxPattern, false},
		{"Like", MaxPattern + 1, true},
		{"StartsWith", MaxPattern + 1, false},
		{"EndsWith", MaxPattern + 1, false},
		{"", MaxPattern + 1, false},
	} {
		name := textField(kind) + c.suffix
		_, err := Parse(kind, Members{text(name, strings.Repeat("é", c.length))}, inUTC)
		if !c.wantError {
			if err != nil {
				t.Errorf("%s with %d characters: %v", name, c.length, err)
			}
			continue
		}
		want := []fault.Field{{Name: name, Message: "takes at most 4000 characters, not 4001"}}
		if !fault.Is(err, fault.Invalid) || !slices.Equal(fault.From(err).Fields, want) {
			t.Errorf("%s with %d characters: got the error %v, want %v", name, c.length, err, want)
		}
	}
}

func textField(kind *record.Kind) string {
	for _, f := range kind.Fields {
		if f.Type == record.Text {
			return f.Name
		}
	}
	panic(kind.Name + " has no text")
}
