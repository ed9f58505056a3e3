package query

// Mask hides the values of a text field in some of the rows. A statement reads an empty text instead,
// also where it compares, sorts, groups or computes with the field.
type Mask struct {
	Field int
	Where []Condition // of the rows, joined by AND
}

// from writes the table that a statement reads, with the mask of the plan.
func (b *builder) from(table string) {
	mask := b.plan.Mask
	if mask == nil {
		b.text(" FROM " + table)
		return
	}
	b.text(" FROM (SELECT ")
	for i, field := range b.plan.Kind.Fields {
		b.separator(i, "", ", ")
		if i == mask.Field {
			b.text("CASE WHEN ")
			b.conditions(mask.Where)
			b.text(" THEN '' ELSE ")
			b.column(i)
			b.text(" END" + b.d.Collate[field.Type] + " AS ")
		}
		b.column(i)
	}
	b.text(" FROM " + table + ") AS masked")
}
