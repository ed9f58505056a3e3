package odata

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// everyType is a kind with a field of each type of the ERP's records.
func everyType(t testing.TB) *record.Kind {
	t.Helper()
	kind := record.Kind{Name: "Every", Fields: []record.Field{
		{Name: "Text", Type: record.Text},
		{Name: "Int", Type: record.Int},
		{Name: "Byte", Type: record.Byte},
		{Name: "Long", Type: record.Long},
		{Name: "Decimal", Type: record.Decimal},
		{Name: "Double", Type: record.Double},
		{Name: "Bool", Type: record.Bool},
		{Name: "At", Type: record.DateTime},
		{Name: "Bytes", Type: record.Bytes},
		{Name: "Guid", Type: record.Guid},
		{Name: "Span", Type: record.TimeSpan},
	}}
	for i := range kind.Fields {
		kind.Fields[i].Filter = kind.Fields[i].Type.Filter()
	}
	r, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	return r.Kinds()[0]
}

// whereOf returns the SQL of a filter, with its values in it.
func whereOf(kind *record.Kind, filter string) (string, error) {
	f, err := ParseFilter(kind, NewClock(time.FixedZone("", 36000)), filter)
	if err != nil {
		return "", err
	}
	plan := &query.Plan{Kind: kind, Columns: []int{0}, Where: f.Where, Take: query.NoTake}
	sql := &dialect.Dialect{
		Param:      "@",
		MaxParams:  10,
		CloseQuote: " ",
		Collate:    map[record.Type]string{record.Text: "folded"},
	}
	st, err := query.Compile(plan, sql, "t")
	if err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(st.SQL, " WHERE ")
	for i := len(st.Args); i > 0; i-- {
		a := st.Args[i-1]
		value := a.Value.Text
		if a.Type.Integer() || a.Type == record.Bool {
			value = fmt.Sprint(a.Value.Int)
		} else if a.Type == record.Bytes {
			value = fmt.Sprintf("%x", a.Value.Bytes)
		}
		text = strings.ReplaceAll(text, fmt.Sprint("@", i), value)
	}
	return strings.ReplaceAll(text, "t.", ""), nil
}

// TestFilters compiles filters to SQL.
func TestFilters(t *testing.T) {
	kind := everyType(t)
	for _, group := range []struct {
		subject string
		filters []filterSQL
	}{
		{subject: "text", filters: []filterSQL{
			{filter: "Text eq 'it''s'", want: "Text  = it's"},
			{filter: "'a' lt Text", want: "Text  > a"},
			{filter: "Text ne 'a'", want: "(NOT (Text  = a) OR Text  IS NULL)"},
			{
				filter: "not (Text eq 'a' or Int gt 5)",
				want:   "(NOT (Text  = a) OR Text  IS NULL) AND (NOT (Int  > 5) OR Int  IS NULL)",
			},
			{filter: "contains(Text,'50%_')", want: "Text  LIKE %50[%][_]%"},
			{filter: "startswith(Text, 'a') and endswith(Text,'b')", want: "Text  LIKE a% AND Text  LIKE %b"},
			{filter: "not contains(Text,'a')", want: "(NOT (Text  LIKE %a%) OR Text  IS NULL)"},
			{filter: "contains(Text,'a') eq false", want: "(NOT (Text  LIKE %a%) OR Text  IS NULL)"},
			{filter: "tolower(Text) eq 'abc'", want: "Text folded = abc"},
			{filter: "'B' eq toupper(Text) or Text eq 'c'", want: "(Text folded = B OR Text  = c)"},
			{filter: "contains(tolower(Text),tolower('ABC'))", want: "Text  LIKE %ABC%"},
		}},
		{subject: "null", filters: []filterSQL{
			{"Text eq null", "Text  IS NULL"},
			{"null ne Text", "Text  IS NOT NULL"},
			{"not (Text eq null)", "Text  IS NOT NULL"},
			{"Text gt null", "1 = 0"},
			{"Text le null", "Text  IS NULL"},
			{"Text in ('a',null)", "(Text  IS NULL OR Text  = a)"},
			{"not (Text in ('a',null))", "Text  IS NOT NULL AND (NOT (Text  = a) OR Text  IS NULL)"},
		}},
		{subject: "in", filters: []filterSQL{
			{filter: "Int in (1,2)", want: "Int  IN (1, 2)"},
			{filter: "Text in ( 'a' , 'it''s')", want: "Text  IN (a, it's)"},
			{filter: "not (Int in (1,2))", want: "(NOT (Int  IN (1, 2)) OR Int  IS NULL)"},
			{filter: "Int in (5)", want: "Int  = 5"},
			{
				filter: "(Int in (1,2)) eq false or Int eq 3",
				want:   "((NOT (Int  IN (1, 2)) OR Int  IS NULL) OR Int  = 3)",
			},
			{filter: "Int in ()", want: "1 = 0"},
			{filter: "Int in (1.5, 3000000000)", want: "1 = 0"},
			{filter: "Int in (1.5,2)", want: "Int  = 2"},
			{filter: "Bool in (true,false)", want: "(Bool  = 1 OR Bool  = 0)"},
			{filter: "tolower(Text) in ('a','b')", want: "(Text folded = a OR Text folded = b)"},
			{
				filter: "At in (2019-05-01,2019-05-02T00:00:00Z)",
				want:   "At  IN (2019-05-01T00:00:00.0000000, 2019-05-02T10:00:00.0000000)",
			},
			{filter: "Decimal in (1.50,INF)", want: "Decimal  = 1.50"},
			{filter: "Double in (INF)", want: "Double  > 1.7976931348623157e+308"},
		}},
		{subject: "whole numbers", filters: []filterSQL{
			{"Int\teq\t5 ", "Int  = 5"},
			{"Int eq 5.0", "Int  = 5"},
			{"Int eq 5.5", "1 = 0"},
			{"Int ne 5.5", ""},
			{"Int gt 5.5", "Int  > 5"},
			{"Int ge 5.5", "Int  >= 6"},
			{"Int lt -5.5", "Int  < -5"},
			{"Int le -5.5", "Int  <= -6"},
			{"Int gt 3000000000", "1 = 0"},
			{"Int lt 3000000000", "Int  >= -2147483648"},
			{"not (Int lt 3000000000)", "(NOT (Int  >= -2147483648) OR Int  IS NULL)"},
			{"Int ge -3000000000", "Int  >= -2147483648"},
			{"Int eq 3000000000", "1 = 0"},
			{"Byte gt -1", "Byte  >= 0"},
			{"Long eq 9223372036854775807", "Long  = 9223372036854775807"},
			{"Long lt 1e30", "Long  >= -9223372036854775808"},
			{"Long eq 5L", "Long  = 5"},
		}},
		{subject: "decimals", filters: []filterSQL{
			{filter: "Decimal eq 1.50M", want: "Decimal  = 1.50"},
			{filter: "Decimal ge 1e-3", want: "Decimal  >= 0.001"},
			{filter: "Decimal lt 1e40", want: "(Decimal  <= 0 OR Decimal  > 0)"},
			{filter: "Decimal gt -1e40", want: "(Decimal  <= 0 OR Decimal  > 0)"},
			{filter: "Decimal gt 1e40", want: "1 = 0"},
			{filter: "Decimal eq 1e40", want: "1 = 0"},
			{
				filter: "Decimal eq 99999999999999999999999999999999999999",
				want:   "Decimal  = 99999999999999999999999999999999999999",
			},
			{
				filter: "Decimal ge 99999999999999999999999999999999999999",
				want:   "Decimal  >= 99999999999999999999999999999999999999",
			},
			{filter: "Double eq 0.1D", want: "Double  = 0.1"},
		}},
		{subject: "infinities", filters: []filterSQL{
			{filter: "Decimal lt INF", want: "(Decimal  <= 0 OR Decimal  > 0)"},
			{
				filter: "not (Decimal lt INF)",
				want:   "(NOT (Decimal  <= 0) OR Decimal  IS NULL) AND (NOT (Decimal  > 0) OR Decimal  IS NULL)",
			},
			{filter: "Decimal lt 1e400", want: "(Decimal  <= 0 OR Decimal  > 0)"},
			{filter: "Decimal eq NaN", want: "1 = 0"},
			{filter: "Decimal ne NaN", want: ""},
			{filter: "Double gt -INF", want: "Double  >= -1.7976931348623157e+308"},
			{filter: "Double lt INF", want: "Double  <= 1.7976931348623157e+308"},
			{filter: "Double eq INF", want: "Double  > 1.7976931348623157e+308"},
			{filter: "Double ge INF", want: "Double  > 1.7976931348623157e+308"},
			{filter: "Double gt INF", want: "1 = 0"},
			{filter: "Double le INF", want: "(Double  <= 0 OR Double  > 0)"},
			{filter: "Double eq -INF", want: "Double  < -1.7976931348623157e+308"},
			{filter: "Double lt -INF", want: "1 = 0"},
			{filter: "Double ge -INF", want: "(Double  <= 0 OR Double  > 0)"},
			{filter: "Double lt NaN", want: "1 = 0"},
			{filter: "Double ne NaN", want: ""},
			{filter: "Double lt 1e400", want: "Double  <= 1.7976931348623157e+308"},
		}},
		{subject: "booleans", filters: []filterSQL{
			{"not not Bool", "Bool  = 1"},
			{"(Int eq 1) ne false", "Int  = 1"},
			{"Bool", "Bool  = 1"},
			{"Bool eq false", "Bool  = 0"},
			{"not Bool", "(NOT (Bool  = 1) OR Bool  IS NULL)"},
			{"true", ""},
			{"false or Int eq 1", "Int  = 1"},
			{"not true", "1 = 0"},
		}},
		{subject: "and, or", filters: []filterSQL{
			{
				filter: "Int eq 1 and (Int eq 2 or Int eq 3) and Int eq 4",
				want:   "Int  = 1 AND (Int  = 2 OR Int  = 3) AND Int  = 4",
			},
			{filter: "Int eq 1 or Int eq 2 and Int eq 3", want: "(Int  = 1 OR (Int  = 2 AND Int  = 3))"},
		}},
		{subject: "dates", filters: []filterSQL{
			{"At ge 2019-05-01T00:00:00Z", "At  >= 2019-05-01T10:00:00.0000000"},
			{"At lt 2019-05-01T00:00:00.5+05:30", "At  < 2019-05-01T04:30:00.5000000"},
			{"At lt 2019-05-01T00:00:00 05:30", "At  < 2019-05-01T04:30:00.0000000"},
			{"At eq 2019-05-01", "At  = 2019-05-01T00:00:00.0000000"},
			{"At gt 2019-05-01T10:11", "At  > 2019-05-01T10:11:00.0000000"},
			{"At ge 2019-05-01T00:00:00.000000001Z", "At  >= 2019-05-01T10:00:00.0000001"},
			{"At eq 2019-05-01T00:00:00.000000001Z", "1 = 0"},
			{"At ge 0001-01-01T00:00:00Z", "At  >= 0001-01-01T00:00:00.0000000"},
			{"At gt 9999-12-31T23:59:59.9999999Z", "At  > 9999-12-31T23:59:59.9999999"},
		}},
		{subject: "other types", filters: []filterSQL{
			{"Guid eq 0F8FAD5B-D9CB-469F-A165-70867728950E", "Guid  = 0f8fad5b-d9cb-469f-a165-70867728950e"},
			{"Bytes eq binary'-_8='", "Bytes  = fbff"},
			{"Bytes eq binary'-_8'", "Bytes  = fbff"},
			{"Span gt duration'PT1M'", "Span  > 600000000"},
		}},
	} {
		t.Run(group.subject, func(t *testing.T) {
			for _, tt := range group.filters {
				got, err := whereOf(kind, tt.filter)
				if err != nil || got != tt.want {
					t.Errorf("the filter %s is %s (error %v), want %s", tt.filter, got, err, tt.want)
				}
			}
		})
	}
}

// filterSQL is a filter and its SQL.
type filterSQL struct{ filter, want string }

// wrongFilter is a filter that is refused, and the start of the message.
type wrongFilter struct{ filter, message string }

// checkWrongFilters parses filters, and checks the errors and their kind.
func checkWrongFilters(t *testing.T, kind fault.Kind, filters []wrongFilter) {
	t.Helper()
	every := everyType(t)
	for _, tt := range filters {
		_, err := whereOf(every, tt.filter)
		e, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Errorf("the filter %.50s returned the error %v, want %s", tt.filter, err, tt.message)
			continue
		}
		if e.Kind != kind || !strings.HasPrefix(e.Message, tt.message) {
			t.Errorf("the filter %.50s returned the error %s of kind %v, want %s of kind %v",
				tt.filter, e.Message, e.Kind, tt.message, kind)
		}
		if e.Fields[0].Name != "$filter" {
			t.Errorf("the filter %.50s returned an error of %s, want $filter", tt.filter, e.Fields[0].Name)
		}
	}
}

func TestWrongFilters(t *testing.T) {
	checkWrongFilters(t, fault.Invalid, []wrongFilter{
		{filter: "", message: "$filter lacks a field or a value at its end"},
		{filter: "Int", message: "$filter lacks a comparison such as eq at its end"},
		{filter: "Int eq", message: "$filter lacks a field or a value at its end"},
		{filter: "int eq 1", message: "$filter has int, which is not a field of Every; did you mean Int?"},
		{filter: "Int eq 1)", message: "$filter lacks and, or, or a comparison at character 9"},
		{filter: "(Int eq 1", message: "$filter lacks ) at its end"},
		{filter: "Int eq 1 Int eq 2", message: "$filter lacks and, or, or a comparison at character 10"},
		{filter: "Int like 1", message: "$filter lacks a comparison such as eq at character 5"},
		{filter: "Int eq 'a'", message: "$filter must compare Int with a number at character 8"},
		{
			filter:  "Text eq 5",
			message: "$filter must compare Text with a text such as 'it''s' at character 9",
		},
		{
			filter:  "Guid gt 0f8fad5b-d9cb-469f-a165-70867728950e",
			message: "$filter can compare Guid by eq and ne only at its end",
		},
		{
			filter:  "At eq 2019-02-30",
			message: "$filter has a value of At that must be a date that exists at character 7",
		},
		{
			filter:  "contains(Int,'a')",
			message: "$filter contains must have a field of type string and a text such as 'a' at character 14",
		},
		{
			filter:  "At ge datetime'2019-05-01T00:00:00'",
			message: "$filter must have dates and GUIDs without a prefix and quotes, such as 2019-05-01, at character 7",
		},
		{filter: "Text eq 'a", message: "$filter cannot be read at character 9"},
		{filter: "Int eq 5x", message: "$filter cannot be read at character 8"},
		{filter: "Text eq 'ä' #", message: "$filter cannot be read at character 13"},
		{filter: "Int in (1,2", message: "$filter lacks ) at its end"},
		{filter: "Int in 1,2", message: "$filter lacks ( at character 8"},
		{filter: "Int in (1,)", message: "$filter lacks a field or a value at character 11"},
		{filter: "Int in ('a')", message: "$filter must compare Int with a number at character 9"},
		{filter: "$at eq 5", message: "$filter has $at, which is not a field of Every"},
		{filter: "Int eq -", message: "$filter lacks a field or a value at character 8"},
		{filter: "Int eq -5x", message: "$filter lacks a field or a value at character 8"},
	})
}

func TestLongFilters(t *testing.T) {
	checkWrongFilters(t, fault.Invalid, []wrongFilter{
		{
			filter:  "contains(Text,'" + strings.Repeat("a", 4001) + "')",
			message: "$filter has a text of more than 4000 characters",
		},
		{
			filter:  strings.Repeat("Int eq 1 or ", maxComparisons) + "Int eq 1",
			message: "$filter has more than 500 comparisons",
		},
		{
			filter:  strings.Repeat("contains(Text,'a') or ", maxComparisons) + "Int eq 1",
			message: "$filter has more than 500 comparisons",
		},
		{
			filter:  strings.Repeat("(", maxDepth+1) + "Bool" + strings.Repeat(")", maxDepth+1),
			message: "$filter is nested too deeply",
		},
		{
			filter:  "Int in (" + strings.Repeat("1,", 2000) + "1)",
			message: "$filter has a list of more than 2000 values",
		},
		{
			filter:  "tolower(Text) in (" + strings.Repeat("'a',", maxComparisons) + "'a')",
			message: "$filter has more than 500 comparisons",
		},
	})
}

// TestFiltersNotOffered checks the message for filters of the standard that are not offered.
func TestFiltersNotOffered(t *testing.T) {
	checkWrongFilters(t, fault.NotImplemented, []wrongFilter{
		{"Int eq Long", "$filter has a comparison of two fields, which is not supported, at its end"},
		{"1 eq 1", "$filter has a comparison of two values, which is not supported, at its end"},
		{"length(Text) eq 5", "$filter has the function length, which is not supported, at character 1"},
		{"Int add 1 eq 5", "$filter has the operator add, which is not supported, at character 5"},
		{"Int in (Long)", "$filter has a comparison of two fields, which is not supported, at character 13"},
		{"1 in (Int,Long)", "$filter has the operator in of a value, which is not supported, at character 3"},
		{"$it eq 5", "$filter has $it, which is not supported"},
		{"$it/Int eq 5", "$filter has a path, which is not supported"},
		{"contains($this,'a')", "$filter has $this, which is not supported"},
		{"-Int gt 5", "$filter has the operator -, which is not supported, at character 1"},
		{"Int gt -Long", "$filter has the operator -, which is not supported, at character 8"},
		{"-(Int) eq 5", "$filter has the operator -, which is not supported, at character 1"},
		{"Int eq - 5", "$filter has the operator -, which is not supported, at character 8"},
		{"Int eq @p", "$filter has a parameter alias, which is not supported, at character 8"},
		{"Kind/Name eq 'a'", "$filter has a path, which is not supported"},
	})
}

// TestKeys reads the keys of records, each with the names of its fields.
func TestKeys(t *testing.T) {
	kind := everyType(t)
	for _, tt := range []struct {
		fields string
		text   string
		want   string // the fields of the conditions, in their order; empty for an error
	}{
		{"Text", "'a,''b'", "Text"},
		{"Text", "Text='a'", "Text"},
		{"Int", "5", "Int"},
		{"Int Text", "Int=5,Text='a'", "Int Text"},
		{"Int Text", "Text='a', Int=5", "Text Int"},
		{"Bool", "true", "Bool"},
		{"Guid", "0f8fad5b-d9cb-469f-a165-70867728950e", "Guid"},
		{"At", "2019-05-01T00:00:00Z", "At"},
		{"Text", "", ""},
		{"Text", "5", ""},
		{"Text", "null", ""},
		{"Text", "'a','b'", ""},
		{"Int Text", "5,'a'", ""},
		{"Int Text", "Int=5", ""},
		{"Int Text", "Int=5,Int=5", ""},
		{"Int Text", "Int=5,Text='a',Long=1", ""},
		{"Text", "Text='a',", ""},
		{"Text", "text='a'", ""},
		{"Text", "'a' or 1", ""},
		{"Text", "'a", ""},
		{"Int", "Int", ""},
		{"Int", "Int=", ""},
		{"Int", "Int=(5)", ""},
	} {
		var key []int
		for name := range strings.FieldsSeq(tt.fields) {
			field, ok := kind.Column(name)
			if !ok {
				t.Fatalf("no field %s", name)
			}
			key = append(key, field)
		}
		where, err := ParseKey(kind, key, NewClock(time.UTC), tt.text)
		if err != nil {
			where = nil
		}
		var fields []string
		for _, condition := range where {
			fields = append(fields, kind.Fields[condition.Field].Name)
		}
		got := strings.Join(fields, " ")
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("the key %s of %s has conditions of %q (error %v), want %q",
				tt.text, tt.fields, got, err, tt.want)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		"Text eq 'a' and not (Int gt 5.5 or contains(tolower(Text),'b'))",
		"At ge 2019-05-01T00:00:00Z",
		"Bytes eq binary'AQ'",
		"(((",
		"'",
		"Int eq 1e999",
		"Double lt -INF",
		"Span eq duration'P1D'",
	} {
		f.Add(seed)
	}
	kind := everyType(f)
	f.Fuzz(func(t *testing.T, filter string) {
		_, err := whereOf(kind, filter)
		if err != nil {
			return
		}
		_, err = whereOf(kind, "not ("+filter+")")
		if err != nil && !strings.Contains(err.Error(), "nested") {
			t.Errorf("the filter %s is accepted, but not (%[1]s) returned %v", filter, err)
		}
	})
}
