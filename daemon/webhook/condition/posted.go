package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// The members of posted events are not known. A name that looks like a mistake would therefore be
// that of a member that no event has, and the condition never met. Such names are errors; a member
// of an event that has one can be compared with a list of one value, by In.

// nearOperator is not an operator of conditions, though it looks like one.
type nearOperator struct {
	name  string
	right string // the operator that may be meant; empty for none
}

// nearOperators are compared in this order.
var nearOperators = []nearOperator{
	{"GreaterThanOrEqual", "GreaterThanOrEqualTo"},
	{"GreaterThanEqual", "GreaterThanOrEqualTo"},
	{"GreaterOrEqual", "GreaterThanOrEqualTo"},
	{"LessThanOrEqual", "LessThanOrEqualTo"},
	{"LessThanEqual", "LessThanOrEqualTo"},
	{"LessOrEqual", "LessThanOrEqualTo"},
	{"SmallerThan", "LessThan"},
	{"LowerThan", "LessThan"},
	{"FewerThan", "LessThan"},
	{"OtherThan", "NotEqualTo"},
	{"Than", "GreaterThan"},
	{"NotEquals", "NotEqualTo"},
	{"NotEqual", "NotEqualTo"},
	{"Equals", ""},
	{"EqualTo", ""},
	{"BeginsWith", "StartsWith"},
	{"StartWith", "StartsWith"},
	{"EndWith", "EndsWith"},
	{"NotNull", "IsNotNull"},
}

// minFolded is the least length of an operator that is recognized in another letter case. Shorter
// ones, such as in, are the ends of many words.
const minFolded = 8

// checkPosted returns an error for a member that no posted event is likely to have.
func checkPosted(m query.Member, field record.Field, operator record.Operator) error {
	name := m.Name
	switch operator {
	case record.Equal:
		err := checkScalar(m)
		if err != nil {
			return err
		}
		return checkName(name, name+"In")
	case record.In:
		err := checkNegation(field.Name)
		if err != nil {
			return err
		}
	}
	return checkType(field, operator)
}

// checkScalar returns an error for In and Between without a list. A member such as CheckIn can be
// true or false, which are no values of In.
func checkScalar(m query.Member) error {
	name, isBetween := strings.CutSuffix(m.Name, record.Between.Suffix())
	if isBetween && name != "" {
		return errors.New("must be a list of two values, such as [1,9]")
	}
	name, isIn := strings.CutSuffix(m.Name, record.In.Suffix())
	if !isIn || name == "" || jsonType(m.Raw) == record.Bool {
		return nil
	}
	example := "[1,2]"
	if jsonType(m.Raw) == record.Text {
		example = `["a","b"]`
	}
	return fmt.Errorf("must be a list of values, such as %s; a member with the name %s is compared by %sIn",
		example, m.Name, m.Name)
}

// checkName returns an error for the name of a compared member that is like an operator or a
// member of queries. literal is the name that compares it nevertheless.
func checkName(name, literal string) error {
	parameters := []string{query.Skip, query.Take, query.OrderBy, query.OrderByDesc}
	if slices.Contains(parameters, name) {
		return fmt.Errorf("belongs to queries, and is not a condition; "+
			"to compare a member of the body with this name, use %s and a list", literal)
	}

	for _, operator := range record.Operators()[1:] {
		suffix := operator.Suffix()
		at := len(name) - len(suffix)
		if len(suffix) >= minFolded && at > 0 && strings.EqualFold(name[at:], suffix) {
			return nearMiss(name[:at], suffix, literal)
		}
	}
	for _, near := range nearOperators {
		field, isNear := strings.CutSuffix(name, near.name)
		if !isNear || field == "" {
			continue
		}
		field = strings.TrimSuffix(field, "Is")
		if near.name == "Than" { // after any adjective
			field = strings.TrimRight(field, "abcdefghijklmnopqrstuvwxyz")
			field = field[:max(0, len(field)-1)]
		}
		return nearMiss(field, near.right, literal)
	}
	return nil
}

// nearMiss returns the error for a name that is a field and something like an operator.
func nearMiss(field, right, literal string) error {
	suggested := ""
	if field != "" {
		suggested = record.DidYouMean([]string{field + right})
	}
	return fmt.Errorf("is not a comparison%s; to compare a member of the body with this name, use %s and a list",
		suggested, literal)
}

// checkNegation returns an error for NotIn, which does not exist.
func checkNegation(field string) error {
	negated, isNegated := strings.CutSuffix(field, "Not")
	if !isNegated || negated == "" {
		return nil
	}
	return fmt.Errorf("is not a comparison: there is no NotIn; %sNotEqualTo compares with one value", negated)
}

// checkType returns an error for a value of a type that an operator does not compare.
func checkType(field record.Field, operator record.Operator) error {
	comparesOrder := slices.Contains(ordering, operator)
	isOrderOfText := comparesOrder && field.Type == record.Text // which has another error
	if field.Filter.Allows(operator) || isOrderOfText {
		return nil
	}
	wanted := "a text"
	if comparesOrder {
		wanted = "a number"
	} else if operator == record.NotEqualTo || operator == record.In {
		wanted = "a number or a text"
	}
	return fmt.Errorf("takes %s, not %s", wanted, typeNames[field.Type])
}

// typeNames are the types of JSON scalars.
var typeNames = map[record.Type]string{
	record.Bool:    "true or false",
	record.Decimal: "a number",
	record.Text:    "a text",
}
