package wire

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
)

// DateLayout is the layout of a DateTime of a record: seven fraction digits, no zone.
const DateLayout = "2006-01-02T15:04:05.0000000"

// DateTime is a time in DateLayout.
type DateTime string

// Value is a value of a member, parsed by its field's type. Int has whole numbers, bools
// and time spans, Bytes has byte[], and Text the canonical text of everything else.
type Value struct {
	Int   int64
	Text  string
	Bytes []byte
}

// ParseValue parses the text form of a value of type t. Dates with a zone are converted
// to zone. Errors describe the valid form and do not repeat the text, which may be a
// secret.
func ParseValue(t record.Type, text string, zone *time.Location) (Value, error) {
	switch t {
	case record.Int, record.Short, record.Byte, record.Long:
		n, err := ParseInteger(t, text)
		return Value{Int: n}, err
	case record.Decimal:
		digits, err := ParseDecimal(text)
		return Value{Text: digits}, err
	case record.Double:
		number, err := ParseDouble(text)
		return Value{Text: string(AppendDouble(nil, number, 64))}, err
	case record.Bool:
		n, err := ParseBool(text)
		return Value{Int: n}, err
	case record.TimeSpan:
		ticks, err := ParseTimeSpan(text)
		return Value{Int: ticks}, err
	case record.DateTime, record.Epoch:
		date, err := ParseDate(text, zone)
		return Value{Text: date}, err
	case record.Guid:
		guid, err := ParseGuid(text)
		return Value{Text: guid}, err
	case record.Bytes:
		b, err := ParseBytes(text)
		return Value{Bytes: b}, err
	}
	return Value{Text: text}, nil
}

// ParseInteger parses a whole number in the range of t. A fraction of zeros and an
// exponent are allowed, as in JSON.
func ParseInteger(t record.Type, text string) (int64, error) {
	lo, hi := t.Range()
	n, err := parseWhole(text)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("must be a whole number from %d to %d", lo, hi)
	}
	return n, nil
}

func parseWhole(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err == nil {
		return n, nil
	}
	digits, err := ParseDecimal(text)
	if err != nil {
		return 0, err
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if strings.Trim(fraction, "0") != "" {
		return 0, errors.New("has a fraction")
	}
	return strconv.ParseInt(whole, 10, 64)
}

// MaxDigits is the maximum number of digits of a decimal.
const MaxDigits = 38

// maxDecimalText is the maximum number of digits before leading and trailing zeros are removed.
const maxDecimalText = 10 * MaxDigits

var errDecimal = fmt.Errorf("must be a number of at most %d digits", MaxDigits)

// ParseDecimal parses a number and returns its digits without exponent, plus sign,
// leading zeros, and without minus sign for zero. Trailing fraction digits are kept,
// because they show the scale.
func ParseDecimal(text string) (string, error) {
	text = strings.TrimSpace(text)
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	mantissa, exponent, err := cutExponent(text)
	if err != nil {
		return "", errDecimal
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !digitsOnly(whole) || !digitsOnly(fraction) {
		return "", errDecimal
	}
	length := len(whole) + len(fraction)
	if length == 0 || length > maxDecimalText {
		return "", errDecimal
	}

	whole, fraction = shift(whole, fraction, exponent)
	whole = strings.TrimLeft(whole, "0")
	if len(whole)+len(fraction) > MaxDigits {
		fraction = strings.TrimRight(fraction, "0") // the scale is lost rather than the number
	}
	if len(whole)+len(fraction) > MaxDigits {
		return "", errDecimal
	}
	return spellDecimal(negative, whole, fraction), nil
}

func spellDecimal(negative bool, whole, fraction string) string {
	zero := whole == "" && strings.Trim(fraction, "0") == ""
	whole = cmp.Or(whole, "0")
	if negative && !zero {
		whole = "-" + whole
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// cutExponent splits 1.5e3 into 1.5 and 3. Exponents beyond 2*MaxDigits are errors,
// to bound the cost of shift.
func cutExponent(text string) (mantissa string, exponent int, err error) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, nil
	}
	exponent, err = strconv.Atoi(text[i+1:])
	if err != nil || exponent > 2*MaxDigits || exponent < -2*MaxDigits {
		return "", 0, errDecimal
	}
	return text[:i], exponent, nil
}

// shift moves the decimal point right by n digits, or left if n is negative.
func shift(whole, fraction string, n int) (string, string) {
	if n > 0 {
		fraction += strings.Repeat("0", max(0, n-len(fraction)))
		return whole + fraction[:n], fraction[n:]
	}
	if n < 0 {
		whole = strings.Repeat("0", max(0, -n-len(whole))) + whole
		cut := len(whole) + n
		return whole[:cut], whole[cut:] + fraction
	}
	return whole, fraction
}

func digitsOnly(s string) bool { return strings.Trim(s, "0123456789") == "" }

var errDouble = errors.New("must be a number from -1.8e308 to 1.8e308")

// ParseDouble parses a number, with or without an exponent.
func ParseDouble(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	isFinite := !math.IsInf(f, 0) && !math.IsNaN(f)
	isGoOnly := strings.ContainsAny(text, "xX_") // a notation of literals in Go
	if err != nil || !isFinite || isGoOnly {
		return 0, errDouble
	}
	return f, nil
}

// AppendDouble appends the shortest digits that are read as the same number of 32 or 64
// bits. Large and small numbers have an exponent, as in JavaScript.
func AppendDouble(dst []byte, f float64, bits int) []byte {
	size := math.Abs(f)
	isUsual := size >= 1e-6 && size < 1e21
	if isUsual || size == 0 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	if n := len(dst); dst[n-3] == '-' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1]) // e-7 instead of e-07
	}
	return dst
}

// ParseBool parses true, false, 1 or 0 in any letter case and returns 1 or 0. Of a list
// with commas, as sent by pairs of check boxes, the first item is used.
func ParseBool(text string) (int64, error) {
	items := strings.Split(text, ",")
	for _, item := range items {
		_, ok := bools[strings.ToLower(strings.TrimSpace(item))]
		if !ok {
			return 0, errors.New("must be true or false")
		}
	}
	return bools[strings.ToLower(strings.TrimSpace(items[0]))], nil
}

var bools = map[string]int64{"true": 1, "1": 1, "false": 0, "0": 0}

var errGuid = errors.New("must be a guid: 32 hex digits, with or without hyphens or braces")

// ParseGuid parses a GUID with or without hyphens or braces, in any letter case, and
// returns its 36 lower-case characters.
func ParseGuid(text string) (string, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		text = text[1 : len(text)-1]
	}
	if len(text) == 36 {
		isGrouped := text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
		if !isGrouped {
			return "", errGuid
		}
		text = strings.ReplaceAll(text, "-", "")
	}
	if _, err := hex.DecodeString(text); err != nil || len(text) != 32 {
		return "", errGuid
	}
	return hyphenate(strings.ToLower(text)), nil
}

// hyphenate returns the 32 hex digits of a GUID with hyphens.
func hyphenate(digits string) string {
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// ParseBytes decodes base64 with or without padding. Blanks are plus signs, as they are in a query
// string without escapes, if that makes whole groups of four characters. Otherwise those around
// the text are ignored.
func ParseBytes(text string) ([]byte, error) {
	encoding := base64.StdEncoding.Strict()
	b, err := encoding.DecodeString(strings.ReplaceAll(text, " ", "+"))
	if err == nil {
		return b, nil
	}
	text = strings.TrimSpace(text)
	b, err = encoding.DecodeString(text)
	if err == nil {
		return b, nil
	}
	b, err = base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errors.New("must be base64 text")
	}
	return b, nil
}
