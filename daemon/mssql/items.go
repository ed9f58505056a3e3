package mssql

import (
	"strconv"

	"github.com/bizhook/whd/client/record"
)

// Items returns the SQL type for the items of a list that is compared with a field of
// type t. The type holds all texts, since longer items would be an error, become NULL or
// be truncated, and does not make the server convert the column. Items longer than the
// column are not left out, because the column may have been made longer since its type was
// read. Items returns "" if the column's type does not match the field.
func (c Column) Items(t record.Type, texts []string) string {
	if t.Integer() {
		return c.integerType(texts)
	}
	if t == record.Double && c.Type == "real" {
		return c.singleType(texts)
	}
	if c.isText() && (t == record.Text || t == record.Guid) {
		return c.parameterType(texts)
	}
	return ""
}

// singleType returns the column's type if it holds all numbers.
func (c Column) singleType(texts []string) string {
	for _, text := range texts {
		if _, err := strconv.ParseFloat(text, 32); err != nil {
			return ""
		}
	}
	return c.Type
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
		if needed := Whole(c, n).declared; integerWidths[needed] > integerWidths[widest] {
			widest = needed
		}
	}
	return widest
}
