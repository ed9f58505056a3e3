package wire

import (
	"bytes"
	"encoding/base64"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
)

var (
	nines = strings.Repeat("9", 38)
	zeros = strings.Repeat("0", 37)
)

// decimalForms has results of ParseDecimal; "" is an error.
var decimalForms = []struct{ text, want string }{
	{"0", "0"},
	{"1", "1"},
	{"-1", "-1"},
	{"+1", "1"},
	{" 12.50 ", "12.50"},
	{"1.0000", "1.0000"},
	{"0.0000", "0.0000"},
	{"-0", "0"},
	{"-0.00", "0.00"},
	{"007", "7"},
	{"-007.10", "-7.10"},
	{".5", "0.5"},
	{"-.5", "-0.5"},
	{"5.", "5"},
	{"1e3", "1000"},
	{"1E+3", "1000"},
	{"1.5e1", "15"},
	{"1.50e1", "15.0"},
	{"1.5e-3", "0.0015"},
	{"25e-1", "2.5"},
	{"0e5", "0"},
	{"12345678901234567890.123456789", "12345678901234567890.123456789"},
	{"9007199254740993", "9007199254740993"}, // not exact as a float64
	{nines, nines},
	{"-" + nines, "-" + nines},
	{"0." + zeros + "1", "0." + zeros + "1"},
	{"-0." + zeros + "1", "-0." + zeros + "1"},
	{strings.Repeat("0", 100) + "1", "1"},
	{"1." + strings.Repeat("0", 60), "1"}, // zeros beyond 38 digits are dropped
	{"1e37", "1" + zeros},
	{"1" + zeros + "e-37", "1." + zeros},
	{"1e-38", "0." + zeros + "1"},
	{nines + "9", ""},
	{"1." + nines, ""},
	{"0." + nines + "9", ""},
	{"1e38", ""},
	{"1e-39", ""},
	{"1e999999999", ""},
	{"1e99999999999999999999", ""},
	{strings.Repeat("0", 1000), ""},
	{"", ""}, {" ", ""}, {".", ""}, {"-", ""}, {"e5", ""}, {"1e", ""},
	{"1e1.5", ""}, {"--1", ""}, {"+-1", ""}, {"1.2.3", ""}, {"1,5", ""}, {"1 000", ""},
	{"1_000", ""}, {"0x10", ""}, {"1/2", ""}, {"NaN", ""}, {"Infinity", ""}, {"null", ""},
	{"١٢٣", ""}, {"$5", ""},
}

func TestParseDecimalForms(t *testing.T) {
	for _, c := range decimalForms {
		got, err := ParseDecimal(c.text)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("ParseDecimal(%.50q) = %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

var (
	number    = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$`)
	canonical = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
)

// parseExact returns the exact value of a text. ok is false if the text is invalid or too
// long for ParseDecimal.
func parseExact(text string) (*big.Rat, bool) {
	text = strings.TrimSpace(text)
	if !number.MatchString(text) || len(text) > 300 {
		return nil, false
	}
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, _ := strconv.Atoi(exponent); e > 2*MaxDigits || e < -2*MaxDigits {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// countDigits returns the number of digits of a number without leading zeros of the whole
// part and trailing zeros of the fraction.
func countDigits(n *big.Rat) int {
	text := strings.TrimPrefix(n.FloatString(500), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	return len(strings.TrimLeft(whole, "0")) + len(strings.TrimRight(fraction, "0"))
}

func FuzzParseDecimal(f *testing.F) {
	for _, c := range decimalForms {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDecimal(text)
		want, ok := parseExact(text)
		if err != nil {
			if ok && countDigits(want) <= MaxDigits {
				t.Fatalf("ParseDecimal(%q): %v", text, err)
			}
			return
		}
		if !canonical.MatchString(got) {
			t.Fatalf("%q was parsed as %q, want digits without exponent, plus sign and leading zeros", text, got)
		}
		value, _ := new(big.Rat).SetString(got)
		if ok && value.Cmp(want) != 0 {
			t.Fatalf("%q was parsed as %q, which is another number", text, got)
		}
		if n := countDigits(value); n > MaxDigits {
			t.Fatalf("%q was parsed as %q with %d digits, want at most %d", text, got, n, MaxDigits)
		}
		if value.Sign() == 0 && got[0] == '-' {
			t.Fatalf("%q was parsed as %q, want zero without a sign", text, got)
		}
		if reparsed, err := ParseDecimal(got); err != nil || reparsed != got {
			t.Fatalf("%q was parsed as %q, and that as %q, %v", text, got, reparsed, err)
		}
	})
}

// integerForms has results of ParseInteger.
var integerForms = []struct {
	typ  record.Type
	text string
	want int64
	ok   bool
}{
	{record.Int, "0", 0, true},
	{record.Int, "-0", 0, true},
	{record.Int, " 42 ", 42, true},
	{record.Int, "+42", 42, true},
	{record.Int, "0042", 42, true},
	{record.Int, "42.0", 42, true},
	{record.Int, "42.", 42, true},
	{record.Int, "4.2e1", 42, true},
	{record.Int, "420e-1", 42, true},
	{record.Int, "2147483647", 2147483647, true},
	{record.Int, "-2147483648", -2147483648, true},
	{record.Int, "2147483648", 0, false},
	{record.Int, "-2147483649", 0, false},
	{record.Int, "42.5", 0, false},
	{record.Int, "1e-1", 0, false},
	{record.Int, "1e20", 0, false},
	{record.Int, "", 0, false},
	{record.Int, "x", 0, false},
	{record.Int, "1_0", 0, false},
	{record.Int, "0x1", 0, false},
	{record.Int, "true", 0, false},
	{record.Short, "32767", 32767, true},
	{record.Short, "-32768", -32768, true},
	{record.Short, "32768", 0, false},
	{record.Short, "-32769", 0, false},
	{record.Byte, "0", 0, true},
	{record.Byte, "255", 255, true},
	{record.Byte, "256", 0, false},
	{record.Byte, "-1", 0, false},
	{record.Long, "9223372036854775807", 9223372036854775807, true},
	{record.Long, "-9223372036854775808", -9223372036854775808, true},
	{record.Long, "9223372036854775807.000", 9223372036854775807, true},
	{record.Long, "9223372036854775808", 0, false},
	{record.Long, "-9223372036854775809", 0, false},
}

func TestParseIntegerRanges(t *testing.T) {
	for _, c := range integerForms {
		got, err := ParseInteger(c.typ, c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("ParseInteger(%s, %q) = %d, %v; want %d, valid %t", c.typ, c.text, got, err, c.want, c.ok)
		}
	}
	_, err := ParseInteger(record.Short, "70000")
	if want := "must be a whole number from -32768 to 32767"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzParseInteger(f *testing.F) {
	for _, c := range integerForms {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, ok := parseExact(text)
		for _, typ := range []record.Type{record.Byte, record.Short, record.Int, record.Long} {
			got, err := ParseInteger(typ, text)
			lo, hi := typ.Range()
			if err == nil && (got < lo || got > hi) {
				t.Fatalf("ParseInteger(%s, %q) = %d, want %d to %d", typ, text, got, lo, hi)
			}
			if !ok {
				continue
			}
			isInteger := want.IsInt() && want.Num().IsInt64()
			wantInteger := want.Num().Int64()
			isInRange := isInteger && wantInteger >= lo && wantInteger <= hi
			if !isInRange && err == nil {
				t.Fatalf("ParseInteger(%s, %q) = %d, want an error", typ, text, got)
			}
			if isInRange && (err != nil || got != wantInteger) {
				t.Fatalf("ParseInteger(%s, %q) = %d, %v; want %d", typ, text, got, err, wantInteger)
			}
		}
	})
}

func TestParseBoolForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64 // -1 is an error
	}{
		{"true", 1}, {"True", 1}, {"TRUE", 1}, {" tRuE ", 1}, {"1", 1},
		{"false", 0}, {"False", 0}, {"FALSE", 0}, {"0", 0},
		{"true,false", 1}, {"false,true", 0}, // pairs of check boxes
		{"", -1}, {",true", -1}, {"yes", -1}, {"no", -1}, {"on", -1}, {"2", -1}, {"-1", -1}, {"01", -1}, {"t", -1}, {"null", -1},
	} {
		got, err := ParseBool(c.text)
		if err != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("ParseBool(%q) = %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

const someGuid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

// guidForms has results of ParseGuid; "" is an error.
var guidForms = []struct{ text, want string }{
	{someGuid, someGuid},
	{"3F2504E0-4F89-11D3-9A0C-0305E82C3301", someGuid},
	{"3f2504e04f8911d39a0c0305e82c3301", someGuid},
	{"3F2504E04F8911D39A0C0305E82C3301", someGuid},
	{"{3f2504e0-4f89-11d3-9a0c-0305e82c3301}", someGuid},
	{"{3F2504E04F8911d39a0c0305e82c3301}", someGuid},
	{"  " + someGuid + "\t", someGuid},
	{"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"},
	{"", ""},
	{"{}", ""},
	{"{" + someGuid, ""},
	{someGuid + "}", ""},
	{"{{" + someGuid + "}}", ""},
	{"3f2504e0-4f89-11d3-9a0c-0305e82c330", ""},
	{"3f2504e0-4f89-11d3-9a0c-0305e82c33011", ""},
	{"3f2504e04-f89-11d3-9a0c-0305e82c3301", ""},
	{"3f2504e0-4f89-11d3-9a0c0305e82c3301", ""},
	{"3f2504e0_4f89_11d3_9a0c_0305e82c3301", ""},
	{"3g2504e0-4f89-11d3-9a0c-0305e82c3301", ""},
	{"3f2504e04f8911d39a0c0305e82c330Ⱥ", ""}, // longer in lower case
	{"urn:uuid:" + someGuid, ""},
}

func TestParseGuidForms(t *testing.T) {
	for _, c := range guidForms {
		got, err := ParseGuid(c.text)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("ParseGuid(%q) = %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

func FuzzParseGuid(f *testing.F) {
	for _, c := range guidForms {
		f.Add(c.text)
	}
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	bare := strings.NewReplacer("-", "", "{", "", "}", "")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseGuid(text)
		if err != nil {
			if form.MatchString(text) {
				t.Fatalf("ParseGuid(%q): %v", text, err)
			}
			return
		}
		if !form.MatchString(got) || bare.Replace(got) != strings.ToLower(bare.Replace(strings.TrimSpace(text))) {
			t.Fatalf("%q was parsed as %q", text, got)
		}
	})
}

// bytesForms has results of ParseBytes.
var bytesForms = []struct {
	text string
	want string
	ok   bool
}{
	{"", "", true},
	{"AQI=", "\x01\x02", true},
	{"AQI", "\x01\x02", true},
	{"AQ==", "\x01", true},
	{"AQ", "\x01", true},
	{"AQID", "\x01\x02\x03", true},
	{" AQID\n", "\x01\x02\x03", true},
	{"AQID\r\nBAUG", "\x01\x02\x03\x04\x05\x06", true}, // with line breaks, as in mail
	{"+/+/", "\xfb\xff\xbf", true},
	{"AAAAAAAAB9E=", "\x00\x00\x00\x00\x00\x00\x07\xd1", true},
	{"AQ=", "", false},
	{"A", "", false},
	{"AR==", "", false}, // unused bits that are not zero
	{"AQI=AQI=", "", false},
	{"-_-_", "", false},
	{"AQ ID", "", false},
	{"[1,2]", "", false},
	{"0x0102", "", false},
}

func TestParseBytesForms(t *testing.T) {
	for _, c := range bytesForms {
		got, err := ParseBytes(c.text)
		if string(got) != c.want || (err == nil) != c.ok || c.ok && got == nil {
			t.Errorf("ParseBytes(%q) = %x, %v; want %x, valid %t", c.text, got, err, c.want, c.ok)
		}
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, c := range bytesForms {
		f.Add(c.text, []byte(c.want))
	}
	wrapping := strings.NewReplacer("\r", "", "\n", "", "=", "")
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if got, err := ParseBytes(text); err == nil {
			bare := wrapping.Replace(strings.TrimSpace(text))
			signed := wrapping.Replace(strings.ReplaceAll(text, " ", "+"))
			encoded := base64.RawStdEncoding.EncodeToString(got)
			if encoded != bare && encoded != signed {
				t.Fatalf("%q was decoded as %x, which is %q", text, got, encoded)
			}
		}
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
			if got, err := ParseBytes(encoding.EncodeToString(data)); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%x was decoded as %x, %v", data, got, err)
			}
		}
	})
}

func TestParseValueOfAllTypes(t *testing.T) {
	zone := time.FixedZone("", 10*3600)
	want := map[record.Type]struct {
		text  string
		value Value
	}{
		record.Text:       {" Unchanged ", Value{Text: " Unchanged "}},
		record.Int:        {"-5", Value{Int: -5}},
		record.Short:      {"5.0", Value{Int: 5}},
		record.Byte:       {"255", Value{Int: 255}},
		record.Long:       {"5e9", Value{Int: 5_000_000_000}},
		record.Decimal:    {"+01.50", Value{Text: "1.50"}},
		record.Bool:       {"True", Value{Int: 1}},
		record.DateTime:   {"2019-05-01T10:11:12Z", Value{Text: "2019-05-01T20:11:12.0000000"}},
		record.Bytes:      {"AQI=", Value{Bytes: []byte{1, 2}}},
		record.Guid:       {"{" + strings.ToUpper(someGuid) + "}", Value{Text: someGuid}},
		record.TimeSpan:   {"PT0.0123S", Value{Int: 123_000}},
		record.Dictionary: {`{"A":"B"}`, Value{Text: `{"A":"B"}`}},
		record.Object:     {`{"A":[1]}`, Value{Text: `{"A":[1]}`}},
		record.Double:     {" +1.50e-7", Value{Text: "1.5e-7"}},
		record.Epoch:      {`/Date(1530664812000+1000)/`, Value{Text: "2018-07-04T10:40:12.0000000"}},
	}
	for _, typ := range record.Types() {
		c, known := want[typ]
		if !known {
			t.Errorf("no test case for %s", typ)
			continue
		}
		got, err := ParseValue(typ, c.text, zone)
		if err != nil || got.Int != c.value.Int || got.Text != c.value.Text || !bytes.Equal(got.Bytes, c.value.Bytes) {
			t.Errorf("ParseValue(%s, %q) = %+v, %v; want %+v", typ, c.text, got, err, c.value)
		}
	}
}

// TestParseErrorsDoNotRepeatText: the text may be a secret, and errors are displayed.
func TestParseErrorsDoNotRepeatText(t *testing.T) {
	const secret = "hunter2-5f3e"
	for _, typ := range record.Types() {
		_, err := ParseValue(typ, secret, time.UTC)
		if err == nil {
			continue // any text is valid
		}
		if msg := err.Error(); strings.Contains(msg, secret) || !strings.HasPrefix(msg, "must be ") {
			t.Errorf("%s: %s", typ, msg)
		}
	}
}

// TestParseBytesWithBlanks: a query string without escapes has blanks for plus signs.
func TestParseBytesWithBlanks(t *testing.T) {
	for text, want := range map[string]string{
		" A12":   "\xf8\x0d\x76",
		"A 12":   "\x03\xed\x76",
		" QUI":   "\xf9\x05\x08",
		"  QUI":  "AB", // plus signs would make no whole groups
		"QUI= ":  "AB",
		" QUI= ": "AB",
	} {
		got, err := ParseBytes(text)
		if err != nil || string(got) != want {
			t.Errorf("ParseBytes(%q) = %x, %v; want %x", text, got, err, want)
		}
	}
}
