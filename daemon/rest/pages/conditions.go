package pages

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/webhook"
)

// conditionRow is a member of the condition of a subscription, as a row of inputs. The operation
// reads the member again: the rows only take it apart.
type conditionRow struct {
	encode.ConditionRow
	Words string // the operator in words
}

// Inputs of the rows of a form.
const (
	inputName     = "WhereName"
	inputOperator = "WhereOperator"
	inputValue    = "WhereValue"
)

// conditionRows takes the condition of a subscription apart. whole is false if it is not a list of
// members with simple values.
func conditionRows(where json.RawMessage) (list []conditionRow, whole bool) {
	if len(where) == 0 {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(where))
	start, err := d.Token()
	if err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		r, ok := conditionRowOf(name.(string), value)
		if !ok {
			return nil, false
		}
		list = append(list, r)
	}
	return list, true
}

// conditionRowOf returns a member as a row. It fails for nested values.
func conditionRowOf(member string, value json.RawMessage) (r conditionRow, ok bool) {
	r.Name = member
	operator := record.Equal
	for _, o := range record.Operators() {
		stem, found := strings.CutSuffix(member, o.Suffix())
		if found && o.Suffix() != "" && stem != "" && len(o.Suffix()) > len(operator.Suffix()) {
			r.Name = stem
			operator = o
		}
	}
	r.Words = encode.OperatorWords(operator)
	r.Operators = encode.OperatorChoices(operator)
	r.Value, ok = valueText(value)
	return r, ok
}

// conditionWords describes a member of a condition as the row of a form shows it.
func conditionWords(member string) string {
	row, _ := conditionRowOf(member, json.RawMessage("true")) // never fails for a simple value
	if row.Name == member {
		return "“" + member + "”"
	}
	return "“" + row.Name + " " + row.Words + "”"
}

// valueText returns a value as users write it: texts without quotes, unless these distinguish them
// from numbers, and lists with commas.
func valueText(value json.RawMessage) (string, bool) {
	if value[0] == '{' {
		return "", false
	}
	if value[0] != '[' {
		return itemText(value), true
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return "", false
	}
	var texts []string
	for _, item := range items {
		if item[0] == '{' || item[0] == '[' {
			return "", false
		}
		text := itemText(item)
		if strings.ContainsAny(text, `,"`) {
			return string(value), true
		}
		texts = append(texts, text)
	}
	if len(texts) < 2 {
		return string(value), true // the brackets say that it is a list
	}
	return strings.Join(texts, ", "), true
}

// itemText returns a simple value as users write it.
func itemText(value json.RawMessage) string {
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	if text == "" || json.Valid([]byte(text)) || strings.TrimSpace(text) != text || strings.Contains(text, ",") {
		return string(value)
	}
	return text
}

// textValue reads a value as users write it: JSON, or else a text.
func textValue(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // never fails for a text
	return quoted
}

// listValue reads a list with commas, or in JSON.
func listValue(text string) json.RawMessage {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return textValue(text)
	}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		items = append(items, string(textValue(item)))
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]")
}

// conditionOf returns the condition of a form as JSON: an empty object without rows.
func conditionOf(values url.Values) (json.RawMessage, error) {
	var members []string
	for i, name := range values[inputName] {
		name = strings.TrimSpace(name)
		operator, text := at(values[inputOperator], i), at(values[inputValue], i)
		if name == "" && text == "" {
			continue
		}
		if name == "" {
			return nil, webhook.Invalid(webhook.MemberWhere, "must have a field for the value %q", text)
		}
		member, value := memberOf(name, operator, text)
		quoted, _ := json.Marshal(member) // never fails for a text
		members = append(members, string(quoted)+":"+string(value))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}"), nil
}

// operatorOf returns the operator with a name, or else that for equality.
func operatorOf(name string) record.Operator {
	i := slices.IndexFunc(record.Operators(), func(o record.Operator) bool { return o.String() == name })
	if i < 0 {
		return record.Equal
	}
	return record.Operators()[i]
}

// memberOf returns a row as a member of a condition.
func memberOf(name, operator, text string) (string, json.RawMessage) {
	o := operatorOf(operator)
	isList := o == record.In || o == record.Between || strings.Contains(text, ",")
	switch {
	case o.Arity() == record.None:
		return name + o.Suffix(), json.RawMessage("true")
	case isList:
		return name + o.Suffix(), listValue(text)
	default:
		return name + o.Suffix(), textValue(text)
	}
}

// at returns an item, empty if there is none.
func at(list []string, i int) string {
	if i >= len(list) {
		return ""
	}
	return list[i]
}

// maxRepeatedRows is the maximum number of rows that a form repeats. No subscription can have as many
// conditions or headers, and a page can have a hundred times the length of the form that it repeats.
const maxRepeatedRows = 1500

// rowsOf returns the rows of a form as they were sent.
func rowsOf(values url.Values) []conditionRow {
	var list []conditionRow
	for i, name := range values[inputName] {
		if len(list) == maxRepeatedRows {
			break
		}
		text := at(values[inputValue], i)
		if name == "" && text == "" {
			continue
		}
		var r conditionRow
		r.Name = name
		r.Value = text
		r.Operators = encode.OperatorChoices(operatorOf(at(values[inputOperator], i)))
		list = append(list, r)
	}
	return list
}

// Inputs of the rows of headers.
const (
	inputHeaderName  = "HeaderName"
	inputHeaderValue = "HeaderValue"
)

// headersOf returns the headers of a form.
func headersOf(values url.Values) []wire.Header {
	list := []wire.Header{}
	for i, name := range values[inputHeaderName] {
		if len(list) == maxRepeatedRows {
			break
		}
		value := at(values[inputHeaderValue], i)
		if strings.TrimSpace(name) == "" && value == "" {
			continue
		}
		list = append(list, wire.Header{Name: strings.TrimSpace(name), Value: value})
	}
	return list
}

// maskedHeaders returns headers with the names only, for a form that replaces their values.
func maskedHeaders(headers []wire.Header) []wire.Header {
	var list []wire.Header
	for _, h := range headers {
		if h.Value == webhook.MaskedValue {
			h.Value = ""
		}
		list = append(list, h)
	}
	return list
}
