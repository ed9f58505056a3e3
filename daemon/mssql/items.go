package mssql

import (
	"strconv"

	"github.com/bizhook/whd/client/record"
)

// Items is the type of a list's items for a field of type t, such that it holds
// all of these texts and the server need not convert the column to compare it
// with them; "" where the column is of another nature than the field. An item
// that its type does not hold would be an error, or NULL, or cut. Though nothing
// in the column equals what is longer than the column, it is not left out: the
// column may have been made longer since it was looked at.
func (c Column) Items(t record.Type, texts []string) string {
	switch {
	case t.Integer():
		return c.wholes(texts)
	case c.isText() && (t == record.Text || t == record.Guid):
		return c.comparable(texts)
	}
	return ""
}

// wholes is the column's type, or the next that holds all of the numbers.
func (c Column) wholes(texts []string) string {
	if integerWidths[c.Type] == 0 {
		return ""
	}
	widest := c.Type
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return ""
		}
		if own := Whole(c, n).declared; integerWidths[own] > integerWidths[widest] {
			widest = own
		}
	}
	return widest
}
