package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// The columns of an embedded file hold values of any storage class. SQLite sorts nulls before
// numbers, these before texts, and those before blobs, and so compares a text with a number.
// The functions of this file write conditions that are only met by values that can be read as
// the type of the field, as package sqlite reads them: by bounds, which an index can be
// searched for, and where these are not sufficient by the function typed_value.

// columnForm is how a leaf writes its column.
type columnForm uint8

const (
	plainColumn  columnForm = iota
	hiddenColumn            // from the planner, see indexUse
	typedColumn             // the value of the column if it can be read as the field's type
)

// stored writes a column as it is stored.
func (b *builder) stored(field int) {
	if b.form == hiddenColumn {
		b.text("+")
	}
	b.column(field)
}

// typedValue writes the value of a column if it can be read as the type of its field.
func (b *builder) typedValue(field int) {
	b.text("typed_value(")
	b.column(field)
	b.text(", " + strconv.Itoa(int(b.plan.Kind.Fields[field].Type.Stored())) + ")")
}

// affinities are those of the types in which package erp stores values.
var affinities = map[record.Type]string{
	record.Int: "integer", record.Short: "integer", record.Byte: "integer", record.Long: "integer", record.Bool: "integer",
	record.Double: "real", record.Bytes: "blob",
	record.Text: "text", record.Decimal: "text", record.DateTime: "text", record.Guid: "text",
}

func (b *builder) affinity(field int) string {
	if affinity := b.d.Column(field).Affinity; affinity != "" {
		return affinity
	}
	return affinities[b.plan.Kind.Fields[field].Type.Stored()]
}

// convertsNumbers reports whether the column of a field converts texts with numbers.
func (b *builder) convertsNumbers(field int) bool {
	switch b.affinity(field) {
	case "integer", "real", "numeric":
		return true
	}
	return false
}

// typed writes a leaf that is only met by values of the field's type. It is true or false for
// every value but null.
func (b *builder) typed(c Condition) {
	t := b.plan.Kind.Fields[c.Field].Type.Stored()
	if c.Operator == record.IsNull || c.Operator == record.IsNotNull {
		b.typedNull(c, t)
		return
	}
	b.text("(")
	switch t {
	case record.Text:
		b.typedText(c)
	case record.Bool:
		b.typedBool(c)
	case record.Decimal:
		b.typedDecimal(c)
	case record.Double:
		b.typedDouble(c)
	case record.DateTime:
		b.typedDate(c)
	case record.Guid:
		b.typedGuid(c)
	case record.Bytes:
		b.compare(c)
		b.bound(c, upward, " >= x''")
	default:
		b.typedInteger(c, t)
	}
	b.text(")")
}

// typedNull writes a condition for null, which an empty text is unless the field is a text.
func (b *builder) typedNull(c Condition, t record.Type) {
	if t == record.Text {
		b.compare(c)
		return
	}
	join, empty := " OR ", " = ''"
	if c.Operator == record.IsNotNull {
		join, empty = " AND ", " <> ''"
	}
	b.text("(")
	b.compare(c)
	b.text(join)
	b.stored(c.Field)
	b.text(empty + ")")
}

// compareTyped writes the comparison with the value that the column has as the field's type;
// it is false for others.
func (b *builder) compareTyped(c Condition) {
	b.form = typedColumn
	b.text("ifnull(")
	b.compare(c)
	b.text(", 0)")
}

// The operators that also find greater or smaller values.
var (
	upward   = []record.Operator{record.GreaterThan, record.GreaterThanOrEqualTo, record.NotEqualTo}
	downward = []record.Operator{record.LessThan, record.LessThanOrEqualTo, record.NotEqualTo}
)

// bound adds a bound of the column if the operator is one of some.
func (b *builder) bound(c Condition, operators []record.Operator, text string) {
	if !slices.Contains(operators, c.Operator) {
		return
	}
	b.text(" AND ")
	if b.form == hiddenColumn {
		b.text("+")
	}
	b.compared(c.Field)
	b.text(text)
}

func (b *builder) typedInteger(c Condition, t record.Type) {
	isEqual := c.Operator == record.Equal || c.Operator == record.In
	if !b.convertsNumbers(c.Field) {
		if isEqual {
			b.integerOrText(c)
		} else {
			b.compareTyped(c)
		}
		return
	}
	b.compare(c)
	if isEqual {
		return
	}
	lo, hi := t.Range()
	b.bound(c, upward, " <= "+itoa(hi))
	if t != record.Long {
		b.bound(c, downward, " >= "+itoa(lo))
	}
	b.text(" AND ") // has no fraction
	b.column(c.Field)
	b.text(" = CAST(")
	b.column(c.Field)
	b.text(" AS INTEGER)")
}

// integerOrText finds whole numbers in columns that hold them as numbers and as texts.
func (b *builder) integerOrText(c Condition) {
	b.stored(c.Field)
	for i, v := range c.Operands {
		b.separator(i, " IN (", ", ")
		b.operand(c, record.Equal, v)
		b.text(", '" + itoa(v.Int) + "'")
	}
	b.text(")")
	b.readable(c.Field)
}

// readable excludes texts that only the collation of a column finds equal to one that can be
// read.
func (b *builder) readable(field int) {
	b.text(" AND ")
	b.typedValue(field)
	b.text(" IS NOT NULL")
}

// boolTexts are the texts that package sqlite reads as booleans.
var boolTexts = [2]string{"'0', 'false', 'False', 'FALSE', 'f', 'F'", "'1', 'true', 'True', 'TRUE', 't', 'T'"}

func (b *builder) typedBool(c Condition) {
	v := c.Operands[0]
	if c.Operator == record.NotEqualTo {
		v.Int = 1 - v.Int
	}
	b.stored(c.Field)
	b.text(" = ")
	b.operand(c, record.Equal, v)
	b.text(" OR typeof(")
	b.column(c.Field)
	b.text(") = 'text' AND ")
	b.stored(c.Field)
	b.text(" IN (" + boolTexts[v.Int] + ")")
	b.readable(c.Field)
}

// typedDecimal relies on the collation DEC: texts that are no decimals follow all decimals,
// the empty one first.
func (b *builder) typedDecimal(c Condition) {
	b.compare(c)
	if b.convertsNumbers(c.Field) {
		b.bound(c, upward, " < 1e38")
		b.bound(c, downward, " > -1e38")
		return
	}
	b.bound(c, upward, " < ''"+b.d.Collate[record.Decimal])
}

func (b *builder) typedDouble(c Condition) {
	if !b.convertsNumbers(c.Field) {
		b.compareTyped(c)
		return
	}
	b.compare(c)
	b.bound(c, upward, " <= 9e999") // infinity
}

// typedDate compares dates in all of the forms that can be read. The dates of a day start
// with it in each form, so that an index is searched for the days.
func (b *builder) typedDate(c Condition) {
	first, last := c.Operands[0].Text, c.Operands[len(c.Operands)-1].Text
	if c.Operator == record.In {
		for _, v := range c.Operands {
			first, last = min(first, v.Text), max(last, v.Text)
		}
	}
	if !slices.Contains(downward, c.Operator) {
		b.day(c, " >= ", first[:len(dayLayout)])
	}
	if !slices.Contains(upward, c.Operator) {
		b.day(c, " <= ", last[:len(dayLayout)]+"~")
	}
	b.compareTyped(c)
}

const dayLayout = "2006-01-02"

// day writes a bound of the texts of a day.
func (b *builder) day(c Condition, operator, date string) {
	b.stored(c.Field)
	b.text(operator)
	b.param(Arg{Field: c.Field, Type: record.Text, Value: wire.Value{Text: date}})
	b.text(" AND ")
}

// typedGuid finds GUIDs in lower and in upper case by an index.
func (b *builder) typedGuid(c Condition) {
	if c.Operator != record.Equal && c.Operator != record.In {
		b.compareTyped(c)
		return
	}
	b.stored(c.Field)
	for i, v := range c.Operands {
		upper := v
		upper.Text = strings.ToUpper(v.Text)
		b.separator(i, " IN (", ", ")
		b.operand(c, record.Equal, v)
		b.text(", ")
		b.operand(c, record.Equal, upper)
	}
	b.text(")")
	b.readable(c.Field)
}

// typedText finds numbers by their texts, in columns that may hold some. Blobs, which are no
// texts, follow texts.
func (b *builder) typedText(c Condition) {
	affinity := b.affinity(c.Field)
	isEqual := c.Operator == record.Equal || c.Operator == record.In
	switch {
	case affinity == "text", affinity == "none" && isEqual && !slices.ContainsFunc(c.Operands, isNumber):
		b.compare(c)
		b.bound(c, upward, " < x''")
	case isEqual && affinity != "none": // an index finds the numbers
		b.compare(c)
		b.text(" AND ")
		b.compareTyped(c)
	default:
		b.compareTyped(c)
	}
}

func isNumber(v wire.Value) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	return err == nil
}

// single writes a column of which equal values become one. An empty text is null.
func (b *builder) single(field int) {
	t := b.plan.Kind.Fields[field].Type.Stored()
	if !b.d.Typed || t == record.Text {
		b.value(field)
		return
	}
	b.text("nullif(")
	b.value(field)
	b.text(", '')")
	if t == record.Decimal && !b.convertsNumbers(field) {
		b.text(b.d.Collate[record.Decimal])
	}
}

// aggregated writes the column of an aggregate. Values that cannot be read as the field's
// type are counted, but not compared; a sum of them is an error.
func (b *builder) aggregated(a Aggregate) {
	t := b.plan.Kind.Fields[a.Field].Type.Stored()
	isExtreme := a.Function == Min || a.Function == Max
	switch {
	case b.d.Typed && a.Function == Count:
		b.single(a.Field)
	case b.d.Typed && isExtreme && t != record.Text && (b.plan.Readable || b.plan.Group != nil):
		b.typedValue(a.Field)
		if t == record.Decimal {
			b.text(b.d.Collate[t])
		}
	case b.d.Typed && !isExtreme && t == record.Double:
		b.text("typed_number(")
		b.value(a.Field)
		b.text(")")
	default:
		b.value(a.Field)
	}
}
