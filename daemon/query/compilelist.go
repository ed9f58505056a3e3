package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
)

// in writes a long list as one parameter, a short one with a parameter for each
// value.
func (b *builder) in(c Condition) {
	exact := c
	exact.Folded = false
	b.comparedIn(exact)
	if b.list(c) {
		return
	}
	for i, v := range b.uniform(c) {
		b.separator(i, " IN (", ", ")
		b.operand(c, record.Equal, v)
	}
	b.text(")")
}

// list writes a list as one parameter, unless it is short or no type of the database
// can represent all values.
func (b *builder) list(c Condition) bool {
	t := b.plan.Kind.Fields[c.Field].Type.Stored()
	form := b.d.List
	isLong := form.MaxInline > 0 && len(c.Operands) > form.MaxInline
	if !isLong || b.ofDay(c.Field) {
		return false
	}
	items, values := itemType(b.d, t, b.d.Column(c.Field), c.Operands)
	if items == "" {
		return false
	}

	b.text(form.Before)
	isTextOfGuid := t == record.Guid && b.d.Column(c.Field).Collation != ""
	if t == record.Text || isTextOfGuid {
		b.text(form.Collate)
		b.text(b.collation(c.Field))
	}
	b.text(form.From)
	b.param(Arg{Field: c.Field, Type: t, List: values})
	b.text(form.With)
	b.text(items)
	b.text(form.After)
	return true
}

func (b *builder) collation(field int) string {
	if name := b.d.Column(field).Collation; name != "" {
		return name
	}
	return b.d.List.Collation
}

// itemType returns the type of a list's items, and the values that the column can
// contain.
func itemType(
	d *dialect.Dialect, t record.Type, c dialect.Column, values []wire.Value,
) (string, []wire.Value) {
	isEscaped := func(v wire.Value) bool { return EscapedInJSON(v.Text) }
	if t == record.Text && slices.ContainsFunc(values, isEscaped) {
		return "", nil
	}
	if t == record.Decimal || t == record.DateTime {
		return fittedItems(d, t, c, values)
	}
	if c.Items == nil {
		return d.List.Items[t], values
	}

	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.Text
		if t.Integer() {
			texts[i] = itoa(v.Int)
		}
	}
	return cmp.Or(c.Items(t, texts), d.List.Items[t]), values
}

// decimalItems returns the smallest decimal type that represents all values, empty
// if there is none.
func decimalItems(values []wire.Value) string {
	whole, fraction := 0, 0
	for _, v := range values {
		wholeDigits, fractionDigits := decimalDigits(v.Text)
		whole = max(whole, wholeDigits)
		fraction = max(fraction, fractionDigits)
	}
	if whole+fraction > wire.MaxDigits {
		return ""
	}
	return decimalType(whole, fraction)
}

// fittedItems removes values that a datetime or money column cannot contain.
func fittedItems(
	d *dialect.Dialect, t record.Type, c dialect.Column, values []wire.Value,
) (string, []wire.Value) {
	items, fitting := fittingValues(d, t, c, values)
	if items == "" {
		return decimalItems(values), values
	}
	fitted := make([]wire.Value, len(fitting))
	for i, v := range fitting {
		_, fitted[i].Text = d.Operand(t, c, record.Equal, v.Text)
	}
	return items, fitted
}

// fittingValues returns the values that the column can contain, and the type to cast
// them to, if that depends on the column.
func fittingValues(
	d *dialect.Dialect, t record.Type, c dialect.Column, values []wire.Value,
) (string, []wire.Value) {
	contained := "0"
	if t == record.DateTime {
		contained = "1900-01-01T00:00:00.0000000"
	}
	items, _ := d.Operand(t, c, record.Equal, contained)
	var fitting []wire.Value
	for _, v := range values {
		if castTo, _ := d.Operand(t, c, record.Equal, v.Text); castTo == items {
			fitting = append(fitting, v)
		}
	}
	return items, fitting
}

// uniform returns a list without the dates and amounts that the column cannot contain,
// which would be cast to another type than the rest. The result must not depend on
// whether a server compares the values one by one or converts the list to one type.
// If the column can contain none of them, none has the column's type.
func (b *builder) uniform(c Condition) []wire.Value {
	t := b.plan.Kind.Fields[c.Field].Type.Stored()
	if t != record.DateTime && t != record.Decimal {
		return c.Operands
	}
	_, fitting := fittingValues(b.d, t, b.d.Column(c.Field), c.Operands)
	if len(fitting) == 0 {
		return c.Operands
	}
	return fitting
}

// EscapedInJSON reports whether JSON must escape a character of text. Babelfish does not decode such
// escapes in the result of OPENJSON. It decodes those of other characters, such as \u0026 for &, which
// package json writes as well.
func EscapedInJSON(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) >= 0
}
