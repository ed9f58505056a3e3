// Package filter parses conditions such as InvoiceTotal>=1000.
package filter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// spellings has the symbol and the word of each operator, besides its suffix.
var spellings = [...]struct {
	symbol  string
	word    string
	meaning string
}{
	record.Equal:                {"=", "eq", "equal"},
	record.StartsWith:           {"^=", "starts", "starts with"},
	record.EndsWith:             {"$=", "ends", "ends with"},
	record.Contains:             {"*=", "contains", "contains"},
	record.Like:                 {"~=", "like", "like a pattern with % _ [a-f] [^a-f]"},
	record.GreaterThanOrEqualTo: {">=", "ge", "greater or equal"},
	record.GreaterThan:          {">", "gt", "greater"},
	record.LessThan:             {"<", "lt", "less"},
	record.LessThanOrEqualTo:    {"<=", "le", "less or equal"},
	record.NotEqualTo:           {"!=", "ne", "not equal"},
	record.Between:              {"", "between", "from A to B: A,B or A..B"},
	record.In:                   {"", "in", "one of A,B,C; A..B means between A and B"},
}

// Symbol returns the symbol of an operator; empty if it only has a word.
func Symbol(o record.Operator) string { return spellings[o].symbol }

// Word returns the word of an operator.
func Word(o record.Operator) string { return spellings[o].word }

// Meaning describes an operator.
func Meaning(o record.Operator) string { return spellings[o].meaning }

// Spelling returns the shortest spelling of an operator.
func Spelling(o record.Operator) string {
	if o.Arity() == record.None {
		return o.Suffix()
	}
	if s := spellings[o]; s.symbol != "" {
		return s.symbol
	}
	return spellings[o].word
}

// Allowed lists the operators of a family.
func Allowed(f record.Family) string {
	return strings.Join(record.Texts(f.Operators(), Spelling), " ")
}

// Reader parses conditions on the records of a kind.
type Reader struct {
	Kind *record.Kind
	Now  time.Time // reference for relative times
}

// ParseAll parses conditions. A text can contain several, combined with "and". The service
// accepts a field and operator only once, so duplicates are errors.
func (f Reader) ParseAll(texts []string) ([]client.Filter, error) {
	var filters []client.Filter
	for _, text := range texts {
		var err error
		filters, err = f.appendParsed(filters, text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	return filters, nil
}

// appendParsed adds the conditions of a text.
func (f Reader) appendParsed(filters []client.Filter, text string) ([]client.Filter, error) {
	conditions, err := f.conditions(text)
	if err != nil {
		return nil, err
	}
	for _, condition := range conditions {
		filter, err := f.Parse(condition)
		if err != nil && comparesChange(condition) {
			return nil, errOnlyWhen
		}
		if err != nil {
			return nil, err
		}
		filters, err = Append(filters, filter)
		if err != nil {
			return nil, err
		}
	}
	return filters, nil
}

// Append adds a filter. A duplicate field and operator is an error.
func Append(filters []client.Filter, added client.Filter) ([]client.Filter, error) {
	for _, filter := range filters {
		if filter.Member() == added.Member() {
			return nil, fmt.Errorf("duplicate condition on %s %s; "+
				"conditions are combined with AND; use in or between", added.Field, Spelling(added.Operator))
		}
	}
	return append(filters, added), nil
}

// Parse parses a condition in any of its three forms.
func (f Reader) Parse(text string) (client.Filter, error) {
	if !utf8.ValidString(text) {
		return client.Filter{}, errors.New("is not UTF-8")
	}
	name, comparison := cutName(strings.TrimSpace(text))
	if name == "" {
		return client.Filter{}, fmt.Errorf(`must start with a field: "%s=..."`, f.Kind.Fields[0].Name)
	}

	// A member such as InvoiceTotalBetween has the operator in its name; only = may follow.
	member, ok := f.Kind.Member(name)
	hasSecondOperator := ok && member.Operator != record.Equal && !strings.HasPrefix(comparison, "=")
	if !ok || hasSecondOperator {
		return client.Filter{}, f.unknownField(name, comparison)
	}
	field := f.Kind.Fields[member.Field]
	if err := refuseForeign(field, comparison); err != nil {
		return client.Filter{}, err
	}

	operator, value, ok := cutOperator(comparison)
	if !ok {
		return client.Filter{}, fmt.Errorf("%s must be followed by one of: %s", field.Name, Allowed(field.Filter))
	}
	if member.Operator != record.Equal {
		operator = member.Operator
	}
	return f.filter(field, operator, value)
}

// unknownField returns the error of a condition on a name that is no field, with a similar
// field or, for a single value, a whole condition as a hint.
func (f Reader) unknownField(name, comparison string) error {
	hint := record.DidYouMean(record.Suggest(name, f.Kind.FieldNames()))
	if hint == "" && comparison == "" {
		hint = "; a condition has a field and an operator, such as " + f.example(name)
	}
	return fmt.Errorf("%s has no field %s%s", f.Kind.Name, name, hint)
}

// filter returns the filter of a parsed condition.
func (f Reader) filter(field record.Field, operator record.Operator, value string) (client.Filter, error) {
	canBeRange := operator == record.In && field.Filter.Allows(record.Between)
	if from, to, ok := cutRange(value); ok && canBeRange {
		return f.checked(field, record.Between, []string{from, to})
	}
	if !field.Filter.Allows(operator) {
		return client.Filter{}, fmt.Errorf("%s is %s: use %s, not %s",
			field.Name, familyName(field), Allowed(field.Filter), Spelling(operator))
	}
	if err := checkNullTest(field.Name, operator, value); err != nil {
		return client.Filter{}, err
	}
	values, err := operands(operator, value)
	if err != nil {
		return client.Filter{}, err
	}
	return f.checked(field, operator, values)
}

// checkNullTest returns an error if an operator that tests for null has a value other than true, or
// none: the service would read false like true.
func checkNullTest(name string, operator record.Operator, value string) error {
	if operator.Arity() != record.None || value == "" {
		return nil
	}
	n, err := wire.ParseBool(value)
	if err == nil && n != 0 {
		return nil
	}

	opposite := record.IsNull
	if operator == record.IsNull {
		opposite = record.IsNotNull
	}
	instead := name + opposite.Suffix() + "=true"
	if err != nil {
		instead = name + operator.Suffix() + "=true or " + instead
	}
	return fmt.Errorf("%s%s=%s is not possible: use %s", name, operator.Suffix(), value, instead)
}

// example returns a condition with a value that was given without a field: on the status or the
// key if the value fits, else on a text. A word without digits is hardly a key.
func (f Reader) example(value string) string {
	isStatus := func(field record.Field) bool { return IsStatus(f.Kind, field) }
	status := slices.IndexFunc(f.Kind.Fields, isStatus)
	if status >= 0 {
		if _, err := StatusNumber(value); err == nil {
			return f.Kind.Fields[status].Name + "=" + value
		}
	}

	key := f.Kind.Fields[f.Kind.KeyField()]
	isWord := key.Filter == record.TextFilter && !strings.ContainsAny(value, "0123456789")
	if _, err := wire.ParseValue(key.Type, value, time.UTC); err == nil && !isWord {
		return key.Name + "=" + value
	}

	isText := func(field record.Field) bool {
		isCode := field.Name == key.Name || strings.HasSuffix(field.Name, "ID")
		return field.Filter == record.TextFilter && !isCode
	}
	text := slices.IndexFunc(f.Kind.Fields, isText)
	if text < 0 {
		return key.Name + "=" + value
	}
	return f.Kind.Fields[text].Name + "*=" + value + " (contains)"
}

// familyName returns the type of a field for errors about operators.
func familyName(field record.Field) string {
	if field.Filter == record.TextFilter {
		return "text"
	}
	return field.Type.String()
}

// operands parses the values of an operator.
func operands(operator record.Operator, value string) ([]string, error) {
	switch operator.Arity() {
	case record.None:
		return nil, nil
	case record.One:
		if value == "" && inEveryText(operator) {
			return nil, errNoText
		}
		operand, err := scalar(value)
		return []string{operand}, err
	}

	if from, to, ok := cutRange(value); ok && operator == record.Between {
		return []string{from, to}, nil
	}
	values, err := list(value)
	if err == nil && operator == record.Between && len(values) != 2 {
		err = errors.New("between needs two values, such as 10,20 or 10..20")
	}
	return values, err
}

// checked returns a filter after it has validated the values by the field's type, so that mistakes
// are reported without a request. It replaces relative dates, durations and words of statuses.
func (f Reader) checked(field record.Field, operator record.Operator, values []string) (client.Filter, error) {
	if operator.Arity() == record.None {
		return client.Filter{Field: field.Name, Operator: operator, Values: []string{"true"}}, nil
	}
	for i, value := range values {
		if field.Type.Stored() == record.DateTime {
			values[i] = f.date(value)
		}
		if field.Type == record.TimeSpan {
			values[i] = timeSpan(value)
		}
		if IsStatus(f.Kind, field) {
			n, err := StatusNumber(value)
			if err != nil {
				return client.Filter{}, fmt.Errorf("%s %w", field.Name, err)
			}
			values[i] = strconv.Itoa(n)
		}
		if err := checkValue(field.Type, values[i]); err != nil {
			return client.Filter{}, fmt.Errorf("%s %w%s", field.Name, err, respelled(field, values[i]))
		}
	}
	return client.Filter{Field: field.Name, Operator: operator, Values: values}, nil
}

// checkValue reports a value that conditions on a type cannot have. Those on dates can have more
// digits than the dates.
func checkValue(t record.Type, value string) error {
	if t.Stored() == record.DateTime {
		_, _, err := wire.FloorDate(value, time.UTC)
		return err
	}
	_, err := wire.ParseValue(t, value, time.UTC)
	if err != nil && t == record.TimeSpan {
		return errDuration
	}
	return err
}

// respelled suggests the spelling of null, of relative dates, and of a number with
// thousands separators.
func respelled(field record.Field, text string) string {
	if strings.EqualFold(text, "null") {
		return "; IsNull=true and IsNotNull=true after the name of a field test for null"
	}
	if field.Type.Stored() == record.DateTime {
		return "; or today, yesterday, -7d or -2h"
	}
	plain := strings.ReplaceAll(text, ",", "")
	if plain == text || !field.Type.Number() {
		return ""
	}
	if _, err := wire.ParseValue(field.Type, plain, time.UTC); err != nil {
		return ""
	}
	return ", without commas: " + plain
}

// date resolves today, yesterday, -7d (seven days ago) and -2h (two hours ago). Times are in
// the zone of Now, and in UTC for the service's own records, which are stored so.
func (f Reader) date(text string) string {
	lower := strings.ToLower(text)
	if days, ok := daysBack(lower); ok {
		return f.Now.AddDate(0, 0, -days).Format(time.DateOnly)
	}

	span, isBack := strings.CutPrefix(lower, "-")
	date, ok := Shifted(span, f.Now, -1)
	if !isBack || !ok {
		return text
	}
	if f.Kind.Database != record.RecordsDB {
		date = date.UTC()
	}
	return date.Format("2006-01-02T15:04:05")
}

// daysBack parses relative days, which cannot be confused with dates.
func daysBack(text string) (days int, ok bool) {
	switch text {
	case "today":
		return 0, true
	case "yesterday":
		return 1, true
	}
	digits, isDays := strings.CutSuffix(text, "d")
	digits, isBack := strings.CutPrefix(digits, "-")
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), isDays && isBack && err == nil
}

// cutName splits off the name of the field from its comparison.
func cutName(text string) (name, comparison string) {
	end := strings.IndexFunc(text, func(r rune) bool {
		isDigit := r >= '0' && r <= '9'
		isLetter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return r != '_' && !isDigit && !isLetter
	})
	if end < 0 {
		end = len(text)
	}
	return text[:end], strings.TrimSpace(text[end:])
}

// cutOperator splits off the operator: the longest matching symbol, or a word.
func cutOperator(text string) (o record.Operator, value string, ok bool) {
	length := 0
	for i, s := range spellings {
		if s.symbol != "" && len(s.symbol) > length && strings.HasPrefix(text, s.symbol) {
			o = record.Operator(i)
			length = len(s.symbol)
		}
	}
	if length > 0 {
		return o, strings.TrimSpace(text[length:]), true
	}

	word := text
	if end := strings.IndexAny(text, " \t\""); end >= 0 {
		word = text[:end]
		value = strings.TrimSpace(text[end:])
	}
	for i, s := range spellings {
		if strings.EqualFold(s.word, word) {
			return record.Operator(i), value, true
		}
	}
	return 0, "", false
}

// foreignOperators has operators of other languages, which would otherwise be parsed as a
// shorter operator and a value that starts with the remainder.
var foreignOperators = [...]struct{ foreign, equivalent string }{
	{"==", "="},
	{"=>", ">="},
	{"=<", "<="},
	{"<>", "!="},
}

// refuseForeign returns an error for an operator of another language, with its equivalent.
// A value of a text field may begin like the remainder of such an operator.
func refuseForeign(field record.Field, comparison string) error {
	if field.Filter != record.TextFilter {
		for _, o := range foreignOperators {
			if strings.HasPrefix(comparison, o.foreign) {
				return fmt.Errorf("unknown operator %s: use %s", o.foreign, o.equivalent)
			}
		}
	}
	switch strings.ToLower(comparison) {
	case "is null":
		return fmt.Errorf("unknown operator %s: use %sIsNull=true", comparison, field.Name)
	case "is not null":
		return fmt.Errorf("unknown operator %s: use %sIsNotNull=true", comparison, field.Name)
	}
	return nil
}

// inEveryText reports whether an operator with an empty text matches everything, as
// with a forgotten value or an empty shell variable.
func inEveryText(o record.Operator) bool {
	return o == record.StartsWith || o == record.EndsWith || o == record.Contains
}

// Text formats a filter in the syntax of Parse.
func Text(f client.Filter) string {
	if f.Operator.Arity() == record.None {
		return f.Member() + "=true"
	}
	operator := Spelling(f.Operator)
	if spellings[f.Operator].symbol == "" {
		operator = " " + operator + " "
	}
	return f.Field + operator + strings.Join(record.Texts(f.Values, quote), ",")
}

// quote quotes a value if needed.
func quote(value string) string {
	hasSyntax := strings.ContainsAny(value, `",`) || strings.Contains(value, "..")
	if value != "" && strings.TrimSpace(value) == value && !hasSyntax {
		return value
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}
