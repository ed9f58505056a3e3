package encode

import (
	"github.com/bizhook/whd/client/record"
)

// Filter is one field of a filter form. Browsers send it as two members, Field.op
// and Field.value.
type Filter struct {
	Field     string
	Type      string
	Operator  string   // the operator if there is only one, else empty
	Operators []Choice // the operators to select from
	Values    []Choice // the values to select from, for booleans
	Value     string   // the current value, empty for none
	Hint      string   // a placeholder
}

// Choice is an option of a select element.
type Choice struct {
	Value    string
	Text     string
	Selected bool
}

// Suffixes of a filter's two members in a form.
const (
	FormOperator = ".op"
	FormValue    = ".value"
)

// operatorWords describe the operators on pages.
var operatorWords = [...]string{
	record.Equal:                "is",
	record.StartsWith:           "starts with",
	record.EndsWith:             "ends with",
	record.Contains:             "contains",
	record.Like:                 "is like",
	record.GreaterThanOrEqualTo: "is at least",
	record.GreaterThan:          "is over",
	record.LessThan:             "is under",
	record.LessThanOrEqualTo:    "is at most",
	record.NotEqualTo:           "is not",
	record.Between:              "is between",
	record.In:                   "is one of",
	record.IsNull:               "is null",
	record.IsNotNull:            "is not null",
}

// OperatorWords describes an operator for display, as in "Total is over 5".
func OperatorWords(o record.Operator) string { return operatorWords[o] }

// OperatorChoices returns the operators of a form in which any of them may be selected.
func OperatorChoices(selected record.Operator) []Choice {
	var choices []Choice
	for _, o := range record.Operators() {
		choices = append(choices, Choice{o.String(), operatorWords[o], o == selected})
	}
	return choices
}

// ConditionRow is a condition in a form that does not know the fields: it has an input for the name of
// the field.
type ConditionRow struct {
	Name      string // of the field, Changed or Before.FIELD
	Operators []Choice
	Value     string
}

// EmptyCondition returns a row for a new condition.
func EmptyCondition() ConditionRow {
	return ConditionRow{Operators: OperatorChoices(record.Equal)}
}

// NewFilter returns the form field for a record field, with the current operator and
// value.
func NewFilter(f record.Field, current record.Operator, value string) Filter {
	form := Filter{Field: f.Name, Type: f.TypeName(), Value: value, Hint: hint(f.Type)}
	operators := f.Filter.Operators()
	if len(operators) == 1 {
		form.Operator = operators[0].String()
	}
	for _, o := range operators {
		form.Operators = append(form.Operators, Choice{o.String(), operatorWords[o], o == current})
	}
	if f.Type == record.Bool {
		form.Values = []Choice{
			{Value: "", Text: "any", Selected: value == ""},
			{Value: "true", Text: "True", Selected: isTrue(value)},
			{Value: "false", Text: "False", Selected: value != "" && !isTrue(value)},
		}
	}
	return form
}

func isTrue(text string) bool {
	switch text {
	case "1", "true", "True", "TRUE":
		return true
	}
	return false
}

// hint returns a placeholder that shows the format of a value, empty if it is
// obvious.
func hint(t record.Type) string {
	switch t.Stored() {
	case record.DateTime:
		return "2024-01-31"
	case record.Bytes:
		return "base64"
	case record.Guid:
		return "00000000-0000-..."
	}
	return ""
}
