package mssql

import (
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/record"
)

// Items returns the SQL type for the items of a list that is compared with a field of
// type t. The type holds all texts, since longer items would be an error, become NULL or
// be truncated, and does not make the server convert the column. Items longer than the
// column are not left out, because the column may have been made longer since its type was
// read. Items returns "" if the column's type does not match the field.
func (c Column) Items(t record.Type, texts []string) string {
	switch {
	case t.Integer():
		return c.integerType(texts)
	case t == record.Double && c.Type == "real" && !slices.ContainsFunc(texts, func(text string) bool {
		_, err := strconv.ParseFloat(text, 32)
		return err != nil
	}):
		return c.Type
	case c.isText() && (t == record.Text || t == record.Guid):
		return c.parameterType(texts)
	}
	return ""
}

// integerType returns the column's type, or the next larger one that holds all numbers.
func (c Column) integerType(texts []string) string {
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
