package filter

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// now has another date in its zone than in UTC.
var now = time.Date(2026, 7, 8, 1, 0, 0, 0, time.FixedZone("", 10*3600))

func readerOf(t testing.TB, name string) Reader {
	t.Helper()
	kind, ok := record.Builtin().Lookup(name)
	if !ok {
		kind, ok = record.System().Lookup(name)
	}
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return Reader{kind, now}
}

// sampleValue returns a value of a type that needs no quotes.
func sampleValue(t record.Type, n int) string {
	switch t {
	case record.DateTime:
		return fmt.Sprintf("2026-07-0%d", n)
	case record.Guid:
		return strings.Repeat(fmt.Sprint(n), 32)
	case record.Bool:
		return "true"
	case record.Bytes:
		return "QUJD"
	}
	return fmt.Sprint(n)
}

// TestOperatorsOfAllFields parses every field with every operator in every spelling. All
// spellings of an allowed operator are the same filter; errors for other operators list
// the allowed ones.
func TestOperatorsOfAllFields(t *testing.T) {
	for _, kind := range record.Builtin().Kinds() {
		for _, field := range kind.Fields {
			for _, operator := range record.Operators() {
				checkOperator(t, Reader{kind, now}, field, operator)
			}
		}
	}
}

func checkOperator(t *testing.T, f Reader, field record.Field, operator record.Operator) {
	t.Helper()
	values := []string{sampleValue(field.Type, 1)}
	if operator.Arity() != record.One {
		values = append(values, sampleValue(field.Type, 2))
	}
	text := strings.Join(values, ",")
	word := spellings[operator].word
	spelled := []string{
		field.Name + " " + word + " " + text,
		"  " + strings.ToLower(field.Name) + "\t" + strings.ToUpper(word) + "  " + text + " ",
		field.Name + operator.Suffix() + "=" + text,
		strings.ToLower(field.Name+operator.Suffix()) + " = " + text,
	}
	if symbol := spellings[operator].symbol; symbol != "" {
		spelled = append(spelled,
			field.Name+symbol+text,
			field.Name+" "+symbol+" "+text,
		)
	}
	want := client.Filter{Field: field.Name, Operator: operator, Values: values}
	for _, condition := range spelled {
		got, err := f.Parse(condition)
		if !field.Filter.Allows(operator) {
			if err == nil || !strings.Contains(err.Error(), "use "+Allowed(field.Filter)) {
				t.Errorf("%s: Parse(%q) = %v, %v; want an error with the operators", f.Kind.Name, condition, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Parse(%q) = %v, %v; want %v", f.Kind.Name, condition, got, err, want)
		}
	}
}

func TestParseValues(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		operator   record.Operator
		values     []string
	}{
		{"SO_Totals", `InvoiceID=`, record.Equal, []string{""}},
		{"SO_Totals", `InvoiceID=""`, record.Equal, []string{""}},
		{"SO_Totals", `InvoiceID=  a b  `, record.Equal, []string{"a b"}},
		{"SO_Totals", `InvoiceID="  a ""b"", "`, record.Equal, []string{`  a "b", `}},
		{"SO_Totals", `InvoiceID=5" pipe`, record.Equal, []string{`5" pipe`}},
		{"SO_Totals", `InvoiceID=a,b`, record.Equal, []string{"a,b"}},
		{"SO_Totals", `InvoiceID==1`, record.Equal, []string{"=1"}},
		{"SO_Totals", `InvoiceID^=D%`, record.StartsWith, []string{"D%"}},
		{"SO_Totals", `InvoiceID^=""`, record.StartsWith, []string{""}},
		{"SO_Totals", `InvoiceID~=D%0_`, record.Like, []string{"D%0_"}},
		{"SO_Totals", `InvoiceID in D1`, record.In, []string{"D1"}},
		{"SO_Totals", `InvoiceID in D1, "D2,3" ,""`, record.In, []string{"D1", "D2,3", ""}},
		{"SO_Totals", `InvoiceID in"D1"`, record.In, []string{"D1"}},
		{"SO_Totals", `InvoiceID in "a..b"`, record.In, []string{"a..b"}},
		{"SO_Totals", `InvoiceID in a..b,c`, record.In, []string{"a..b", "c"}},
		{"SO_Totals", `InvoiceID in "a, b".."c"`, record.Between, []string{"a, b", "c"}},
		{"SO_Totals", `InvoiceID in a .. "c..d"`, record.Between, []string{"a", "c..d"}},
		{"SO_Totals", `InvoiceTotal in 10..20`, record.Between, []string{"10", "20"}},
		{"SO_Totals", `InvoiceTotal in -10.5..-.5`, record.Between, []string{"-10.5", "-.5"}},
		{"SO_Totals", `InvoiceTotal between 10..20`, record.Between, []string{"10", "20"}},
		{"SO_Totals", `InvoiceTotal=0.10000000000000000001`, record.Equal, []string{"0.10000000000000000001"}},
		{"SO_Totals", `InvoiceTotalIn=1,2`, record.In, []string{"1", "2"}},
		{"IN_KitStockTakeMain", `LastSavedDateTime>=today`, record.GreaterThanOrEqualTo, []string{"2026-07-08"}},
		{"IN_KitStockTakeMain", `LastSavedDateTime in -7d..Yesterday`, record.Between, []string{"2026-07-01", "2026-07-07"}},
		{"IN_KitStockTakeMain", `LastSavedDateTime=2026-07-01T10:11:12+10:00`, record.Equal, []string{"2026-07-01T10:11:12+10:00"}},
		{"IN_KitStockTakeMain", `LastSavedDateTime>=-90m`, record.GreaterThanOrEqualTo, []string{"2026-07-07T23:30:00"}},
		{"Message", `AddedDateTime>=-90m`, record.GreaterThanOrEqualTo, []string{"2026-07-07T13:30:00"}},
		{"IN_KitStockTakeMain", `KitStockTakeNo=today`, record.Equal, []string{"today"}},
		{"BM_Inputs", `SubAssemblyExplodePolicy in 1,255`, record.In, []string{"1", "255"}},
	} {
		got, err := readerOf(t, c.kind).Parse(c.text)
		if err != nil || got.Operator != c.operator || !reflect.DeepEqual(got.Values, c.values) {
			t.Errorf("Parse(%q) = %v, %v; want %v %q", c.text, got, err, c.operator, c.values)
		}
	}
}

func TestParseReportsErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                "must start with a field",
		`=5`:                              "must start with a field",
		`InvoiceID`:                       "must be followed by one of: =",
		`InvoiceID is null`:               "unknown operator is null: use InvoiceIDIsNull=true",
		`InvoiceTotal IS NOT NULL`:        "use InvoiceTotalIsNotNull=true",
		`InvoiceIDIsNull=false`:           "InvoiceIDIsNull=false is not possible: use InvoiceIDIsNotNull=true",
		`InvoiceIDIsNotNull=0`:            "use InvoiceIDIsNull=true",
		`InvoiceIDIsNull=no`:              "InvoiceIDIsNull=no is not possible: use InvoiceIDIsNull=true or InvoiceIDIsNotNull=true",
		`InvoiceIDIsNotNull=off`:          "use InvoiceIDIsNotNull=true or InvoiceIDIsNull=true",
		`D100512`:                         "a condition has a field and an operator, such as InvoiceID=D100512",
		`InvoiceID is D1`:                 "must be followed by one of: =",
		`InvoiceID in`:                    "empty item",
		`InvoiceID in a,,b`:               "empty item",
		`InvoiceID in "a`:                 "closing",
		`InvoiceID in "a"b`:               "after the closing",
		`InvoiceID="a"b`:                  "after the closing",
		`InvoiceTotal between 1`:          "two values",
		`InvoiceTotal between 1,2,3`:      "two values",
		`InvoiceTotal between a..b`:       "must be a number",
		`InvoiceTotal=`:                   "must be a number",
		`InvoiceTotal>=10,000`:            "without commas: 10000",
		`InvoiceTotal = null`:             "must be a number of at most 38 digits; IsNull=true and IsNotNull=true after the name",
		`InvoiceTotal != NULL`:            "must be a number of at most 38 digits; IsNull=true and IsNotNull=true after the name",
		`InvoiceTotal<>3`:                 "unknown operator <>: use !=",
		`InvoiceTotal == 3`:               "unknown operator ==: use =",
		`InvoiceTotal=>3`:                 "unknown operator =>: use >=",
		`InvoiceID^=`:                     `write "" for an empty text`,
		`InvoiceID starts`:                `write "" for an empty text`,
		`InvoiceID ends `:                 `write "" for an empty text`,
		`InvoiceIDContains=`:              `write "" for an empty text`,
		"InvoiceID=\xff":                  "not UTF-8",
		`InvoiceTotalGreaterThan 5`:       "no field",
		`LastSavedDateTime>=today`:        "no field",
		`InvoiceID NotEqualTo 5`:          "must be followed",
		`InvoiceTotal in 1..2..3`:         "must be a number",
		`InvoiceTotalLessThanOrEqual=5`:   "no field",
		`Invoice=5`:                       "did you mean InvoiceID or InvoiceTotal",
		`InvoiceTotalStartsWith=5`:        "InvoiceTotal is decimal: use",
		`InvoiceTotal in 1,"2""`:          "closing",
		`InvoiceID between "a,"b",c`:      "after the closing",
		`InvoiceTotal in "1".."2" and so`: "after the closing",
	} {
		_, err := readerOf(t, "SO_Totals").Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// Errors give examples that fit the kind and the value.
func TestParseReportsExamples(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"Message", "failed", "such as Status=failed"},
		{"Message", "acme", "such as EventName*=acme"},
		{"RequestLog", "12", "such as Id=12"},
		{"RequestLog", "POST", "such as StatusDescription*=POST"},
		{"Message", "AddedDateTime>=1h", "or today, yesterday, -7d or -2h"},
	} {
		_, err := readerOf(t, c.kind).Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzParse checks that a filter can be formatted and parsed again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`InvoiceID=D1`,
		`InvoiceID in "a,b",c`,
		`InvoiceTotal in 1..2`,
		`InvoiceTotalGreaterThan=5`,
		`InvoiceID ~= "  % ""`,
		`InvoiceID between "..".."x"`,
		`InvoiceIDIsNull=`,
		`InvoiceTotalFrom=5`,
		`InvoiceTotal ne 1e3`,
		`InvoiceID contains`,
		`InvoiceID$=é`,
	} {
		f.Add(seed)
	}
	conditions := readerOf(f, "SO_Totals")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := conditions.Parse(text)
		if err != nil {
			return
		}
		for _, v := range got.Values {
			if !utf8.ValidString(v) {
				t.Fatalf("%q: value %q", text, v)
			}
		}
		reparsed, err := conditions.Parse(quoteAll(got))
		if err != nil || !reflect.DeepEqual(reparsed, got) {
			t.Fatalf("%q is %q, formatted as %s, which is %q, %v", text, got, quoteAll(got), reparsed, err)
		}
	})
}

// quoteAll formats a filter with all values in quotes.
func quoteAll(f client.Filter) string {
	if f.Operator.Arity() == record.None {
		return Text(f)
	}
	quoted := make([]string, len(f.Values))
	for i, v := range f.Values {
		quoted[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
	}
	return f.Field + " " + spellings[f.Operator].word + " " + strings.Join(quoted, ",")
}

// TestExampleOfWord checks that a word alone is not suggested as a key, which is a code.
func TestExampleOfWord(t *testing.T) {
	for kind, want := range map[string]string{
		"IN_Colours": "IN_Colours has no field blue; a condition has a field and an operator, " +
			"such as Description*=blue (contains)",
		"RequestLog": "such as StatusDescription*=blue (contains)",
	} {
		_, err := readerOf(t, kind).Parse("blue")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(blue) of %s: error %v, want %q", kind, err, want)
		}
	}
}

// TestDurations checks that conditions on time spans take durations with units.
func TestDurations(t *testing.T) {
	f := readerOf(t, "RequestLog")
	for text, want := range map[string]string{
		"RequestDuration>250ms":       "RequestDuration>PT0.25S",
		"RequestDuration>=1s":         "RequestDuration>=PT1S",
		"RequestDuration<2m":          "RequestDuration<PT2M",
		"RequestDuration in 10ms..1s": "RequestDuration between PT0.01S,PT1S",
		"RequestDuration>1h30m":       "RequestDuration>PT1H30M",
		"RequestDuration>1.5us":       "RequestDuration>PT0.0000015S",
		"RequestDuration>PT0.25S":     "RequestDuration>PT0.25S",
		"RequestDuration>00:00:01":    "RequestDuration>00:00:01",
	} {
		got, err := f.Parse(text)
		if err != nil || Text(got) != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, Text(got), err, want)
		}
	}
	for _, text := range []string{"RequestDuration>slow", "RequestDuration>10", "RequestDuration>1ns"} {
		_, err := f.Parse(text)
		if err == nil || !strings.Contains(err.Error(), "such as 250ms, 1s, 2m, PT0.25S or 00:00:01.5") {
			t.Errorf("Parse(%q): error %v, want one with durations", text, err)
		}
	}
}
