package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// The columns of an embedded file hold values of any storage class. SQLite sorts nulls before
// numbers, these before texts, and those before blobs, and so compares a text with a number.
// The functions of this file write conditions that are only met by values that can be read as
// the type of the field, as package sqlite reads them: by bounds, which an index can be
// searched for, and where these are not sufficient by the function typed_value.

// leafWriter writes the leaves of a statement about such columns.
type leafWriter struct{ b *builder }

// columnForm is how a leaf writes its column.
type columnForm uint8

const (
	plainColumn  columnForm = iota
	hiddenColumn            // from the planner, see indexUse
	typedColumn             // the value of the column if it can be read as the field's type
)

// affinities are the affinities of columns in files of package erp, by the stored type of their
// fields.
var affinities = map[record.Type]string{
	record.Int:      "integer",
	record.Short:    "integer",
	record.Byte:     "integer",
	record.Long:     "integer",
	record.Bool:     "integer",
	record.Double:   "real",
	record.Bytes:    "blob",
	record.Text:     "text",
	record.Decimal:  "text",
	record.DateTime: "text",
	record.Guid:     "text",
}

// affinity returns the affinity of a field's column.
func (w leafWriter) affinity(field int) string {
	if affinity := w.b.d.Column(field).Affinity; affinity != "" {
		return affinity
	}
	return affinities[w.b.plan.Kind.Fields[field].Type.Stored()]
}

// convertsNumbers reports whether the column of a field converts texts with numbers.
func (w leafWriter) convertsNumbers(field int) bool {
	switch w.affinity(field) {
	case "integer", "real", "numeric":
		return true
	}
	return false
}

// typed writes a leaf that is only met by values of the field's type. It is true or false for
// every value but null.
func (w leafWriter) typed(c Condition) {
	t := w.b.plan.Kind.Fields[c.Field].Type.Stored()
	if c.Operator == record.IsNull || c.Operator == record.IsNotNull {
		w.typedNull(c, t)
		return
	}
	w.b.text("(")
	switch t {
	case record.Text:
		w.typedText(c)
	case record.Bool:
		w.typedBool(c)
	case record.Decimal:
		w.typedDecimal(c)
	case record.Double:
		w.typedDouble(c)
	case record.DateTime:
		w.typedDate(c)
	case record.Guid:
		w.typedGuid(c)
	case record.Bytes:
		w.b.compare(c)
		w.bound(c, upward, " >= x''")
	default:
		w.typedInteger(c, t)
	}
	w.b.text(")")
}

// typedNull writes a condition for null, which an empty text is unless the field is a text.
func (w leafWriter) typedNull(c Condition, t record.Type) {
	if t == record.Text {
		w.b.compare(c)
		return
	}
	join, empty := " OR ", " = ''"
	if c.Operator == record.IsNotNull {
		join, empty = " AND ", " <> ''"
	}
	w.b.text("(")
	w.b.compare(c)
	w.b.text(join)
	w.b.stored(c.Field)
	w.b.text(empty + ")")
}

// compareTyped writes the comparison with the value that the column has as the field's type;
// it is false for others.
func (w leafWriter) compareTyped(c Condition) {
	w.b.form = typedColumn
	w.b.text("ifnull(")
	w.b.compare(c)
	w.b.text(", 0)")
}

// The operators that also find greater or smaller values.
var (
	upward   = []record.Operator{record.GreaterThan, record.GreaterThanOrEqualTo, record.NotEqualTo}
	downward = []record.Operator{record.LessThan, record.LessThanOrEqualTo, record.NotEqualTo}
)

// bound adds a bound of the column if the condition has one of the operators.
func (w leafWriter) bound(c Condition, operators []record.Operator, text string) {
	if !slices.Contains(operators, c.Operator) {
		return
	}
	w.b.text(" AND ")
	if w.b.form == hiddenColumn {
		w.b.text("+")
	}
	w.b.compared(c.Field)
	w.b.text(text)
}

func (w leafWriter) typedInteger(c Condition, t record.Type) {
	isEqual := c.Operator == record.Equal || c.Operator == record.In
	if !w.convertsNumbers(c.Field) {
		if isEqual {
			w.integerOrText(c)
		} else {
			w.compareTyped(c)
		}
		return
	}
	w.b.compare(c)
	if isEqual {
		return
	}
	lo, hi := t.Range()
	w.bound(c, upward, " <= "+itoa(hi))
	if t != record.Long {
		w.bound(c, downward, " >= "+itoa(lo))
	}
	w.b.text(" AND ") // has no fraction
	w.b.column(c.Field)
	w.b.text(" = CAST(")
	w.b.column(c.Field)
	w.b.text(" AS INTEGER)")
}

// integerOrText finds whole numbers in columns that hold them as numbers and as texts.
func (w leafWriter) integerOrText(c Condition) {
	w.b.stored(c.Field)
	for i, v := range c.Operands {
		w.b.separator(i, " IN (", ", ")
		w.b.operand(c, record.Equal, v)
		w.b.text(", '" + itoa(v.Int) + "'")
	}
	w.b.text(")")
	w.readable(c.Field)
}

// readable excludes texts that only the collation of a column finds equal to one that can be
// read.
func (w leafWriter) readable(field int) {
	w.b.text(" AND ")
	w.b.typedValue(field)
	w.b.text(" IS NOT NULL")
}

// boolTexts are the texts that package sqlite reads as booleans.
var boolTexts = [2]string{
	"'0', 'false', 'False', 'FALSE', 'f', 'F'",
	"'1', 'true', 'True', 'TRUE', 't', 'T'",
}

func (w leafWriter) typedBool(c Condition) {
	v := c.Operands[0]
	if c.Operator == record.NotEqualTo {
		v.Int = 1 - v.Int
	}
	w.b.stored(c.Field)
	w.b.text(" = ")
	w.b.operand(c, record.Equal, v)
	w.b.text(" OR typeof(")
	w.b.column(c.Field)
	w.b.text(") = 'text' AND ")
	w.b.stored(c.Field)
	w.b.text(" IN (" + boolTexts[v.Int] + ")")
	w.readable(c.Field)
}

// typedDecimal relies on the collation DEC: texts that are no decimals follow all decimals,
// the empty one first.
func (w leafWriter) typedDecimal(c Condition) {
	w.b.compare(c)
	if w.convertsNumbers(c.Field) {
		w.bound(c, upward, " < 1e38")
		w.bound(c, downward, " > -1e38")
		return
	}
	w.bound(c, upward, " < ''"+w.b.d.Collate[record.Decimal])
}

func (w leafWriter) typedDouble(c Condition) {
	if !w.convertsNumbers(c.Field) {
		w.compareTyped(c)
		return
	}
	w.b.compare(c)
	w.bound(c, upward, " <= 9e999") // infinity
}

// typedDate compares dates in all of the forms that can be read. The dates of a day start
// with it in each form, so that an index is searched for the days.
func (w leafWriter) typedDate(c Condition) {
	first, last := c.Operands[0].Text, c.Operands[len(c.Operands)-1].Text
	if c.Operator == record.In {
		for _, v := range c.Operands {
			first, last = min(first, v.Text), max(last, v.Text)
		}
	}
	if !slices.Contains(downward, c.Operator) {
		w.day(c, " >= ", first[:len(dayLayout)])
	}
	if !slices.Contains(upward, c.Operator) {
		w.day(c, " <= ", last[:len(dayLayout)]+"~")
	}
	w.compareTyped(c)
}

const dayLayout = "2006-01-02"

// day writes a bound of the texts of a day.
func (w leafWriter) day(c Condition, operator, date string) {
	w.b.stored(c.Field)
	w.b.text(operator)
	w.b.param(Arg{Field: c.Field, Type: record.Text, Value: wire.Value{Text: date}})
	w.b.text(" AND ")
}

// typedGuid finds GUIDs in lower and in upper case, and in blobs, by an index.
func (w leafWriter) typedGuid(c Condition) {
	if c.Operator != record.Equal && c.Operator != record.In {
		w.compareTyped(c)
		return
	}
	w.b.stored(c.Field)
	for i, v := range c.Operands {
		upper := v
		upper.Text = strings.ToUpper(v.Text)
		w.b.separator(i, " IN (", ", ")
		w.b.operand(c, record.Equal, v)
		w.b.text(", ")
		w.b.operand(c, record.Equal, upper)
		if form := w.b.plan.Kind.Fields[c.Field].Blob; form != "" {
			blob := wire.Value{Bytes: row.GuidBlob(v.Text, form)}
			w.b.text(", ")
			w.b.param(Arg{Field: c.Field, Type: record.Guid, Class: row.Blob, Value: blob})
		}
	}
	w.b.text(")")
	w.readable(c.Field)
}

// typedText finds numbers by their texts, in columns that may hold some. Blobs, which are no
// texts, follow texts.
func (w leafWriter) typedText(c Condition) {
	affinity := w.affinity(c.Field)
	isEqual := c.Operator == record.Equal || c.Operator == record.In
	comparesTexts := affinity == "text"
	if affinity == "none" && isEqual {
		comparesTexts = !slices.ContainsFunc(c.Operands, isNumber)
	}
	switch {
	case comparesTexts:
		w.b.compare(c)
		w.bound(c, upward, " < x''")
	case isEqual && affinity != "none": // an index finds the numbers
		w.b.compare(c)
		w.b.text(" AND ")
		w.compareTyped(c)
	default:
		w.compareTyped(c)
	}
}

func isNumber(v wire.Value) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	return err == nil
}

// single writes a column of which equal values become one. An empty text is null.
func (w leafWriter) single(field int) {
	t := w.b.plan.Kind.Fields[field].Type.Stored()
	if !w.b.d.File.Typed || t == record.Text {
		w.b.value(field)
		return
	}
	w.b.text("nullif(")
	if w.hasForms(field) {
		w.b.text("coalesce(")
		w.b.typedValue(field)
		w.b.text(", ")
		w.b.value(field)
		w.b.text(")")
	} else {
		w.b.value(field)
	}
	w.b.text(", '')")
	if t == record.Decimal && !w.convertsNumbers(field) {
		w.b.text(w.b.d.Collate[record.Decimal])
	}
}

// hasForms reports whether a column can hold a value in several forms, such as 1 and 'true'.
func (w leafWriter) hasForms(field int) bool {
	switch t := w.b.plan.Kind.Fields[field].Type.Stored(); t {
	case record.Bool, record.Guid, record.DateTime:
		return true
	case record.Decimal, record.Bytes:
		return false
	default:
		return !w.convertsNumbers(field)
	}
}

// period writes the start of a date. Values that are no dates are written as they are.
func (w leafWriter) period(field int, p Period) {
	prefix := w.b.d.DatePrefix
	if !w.b.d.File.Typed {
		w.b.text(prefix.Before)
		w.b.value(field)
		w.b.text(fmt.Sprintf(prefix.After, int(p)))
		return
	}
	w.b.text("coalesce(" + prefix.Before)
	w.b.typedValue(field)
	w.b.text(fmt.Sprintf(prefix.After, int(p)) + ", nullif(")
	w.b.value(field)
	w.b.text(", ''))")
}

// aggregated writes the column of an aggregate. Values that cannot be read as the field's
// type are counted, but not compared; a sum of them is an error.
func (w leafWriter) aggregated(a Aggregate) {
	t := w.b.plan.Kind.Fields[a.Field].Type.Stored()
	if !w.b.d.File.Typed {
		w.b.value(a.Field)
		return
	}
	isExtreme := a.Function == Min || a.Function == Max
	onlyReadable := w.b.plan.Readable || w.b.plan.Group != nil
	isReadable := isExtreme && onlyReadable
	switch {
	case a.Function == Count && a.Distinct:
		w.single(a.Field)
	case a.Function == Count && t != record.Text:
		w.b.text("nullif(")
		w.b.value(a.Field)
		w.b.text(", '')")
	case isReadable && t != record.Text:
		w.b.typedValue(a.Field)
		if t == record.Decimal {
			w.b.text(w.b.d.Collate[t])
		}
	case !isExtreme && t == record.Double:
		w.b.text("typed_number(")
		w.b.value(a.Field)
		w.b.text(")")
	default:
		w.b.value(a.Field)
	}
}

// TypedValue returns the SQL of a column's value in an embedded file if it can be read as the
// type of its field, else of null.
func TypedValue(f record.Field, column string) string {
	if f.Blob != "" {
		return "guid_value(" + column + ", '" + string(f.Blob) + "')"
	}
	return "typed_value(" + column + ", " + strconv.Itoa(int(f.Type.Stored())) + ")"
}
