package mssql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column is a column as described by the catalogue. The zero Column is an unknown column.
type Column struct {
	Name              string
	Type              string // lower case, without length or precision
	Length            int    // length of text in characters, of binary in bytes; -1 for max, 0 if not applicable
	Precision         int    // precision of numbers, in digits
	Scale             int
	Nullable          bool
	Collation         string // collation of text columns
	CodePage          int    // code page of char and varchar columns
	ParameterCodePage int    // code page of varchar parameters, which depends on the connection's database
}

// Code pages of which more than ASCII is supported.
const (
	latin1 = 1252
	utf8CP = 65001
)

// usesCodePage reports whether the column's text is encoded in a code page.
func (c Column) usesCodePage() bool {
	return c.Type == "char" || c.Type == "varchar" || c.Type == "text"
}

func (c Column) isText() bool {
	return c.usesCodePage() || c.Type == "nchar" || c.Type == "nvarchar" || c.Type == "ntext"
}

// Holds reports whether a char or varchar column can certainly hold text. Beyond ASCII only
// the characters of Windows-1252, and UTF-8, are recognized. The code page of varchar
// parameters must be the same, because other characters would be replaced by similar ones or
// by question marks.
func (c Column) Holds(text string) bool {
	if !c.usesCodePage() {
		return false
	}
	if isASCII(text) {
		return true
	}
	if c.CodePage != c.ParameterCodePage {
		return false
	}
	if c.CodePage == utf8CP {
		return true
	}
	return c.CodePage == latin1 && !strings.ContainsFunc(text, isBeyondLatin1)
}

// isBeyondLatin1 reports whether Windows-1252 lacks a character.
func isBeyondLatin1(r rune) bool {
	if r < utf8.RuneSelf || r >= 0xa0 && r <= 0xff {
		return false
	}
	return !strings.ContainsRune("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ", r)
}

// ComparesAsSorted reports whether the server compares a text with the column by the rules by
// which it sorts the column. Those of collations SQL_... differ for char and varchar from those
// for nvarchar, as which a text is sent that the column might not hold.
func (c Column) ComparesAsSorted(text string) bool {
	return !c.usesCodePage() || !strings.HasPrefix(c.Collation, "SQL_") || c.Holds(text)
}

// Unordered reports whether SQL Server does not support =, ORDER BY and DISTINCT for the
// column's type.
func (c Column) Unordered() bool {
	return c.Type == "text" || c.Type == "ntext" || c.Type == "xml" || c.Type == "image"
}

// Fits reports whether a text is not longer than the column.
func (c Column) Fits(text string) bool { return c.Length <= 0 || utf16Length(text) <= c.Length }

// Declared returns the column's type in SQL.
func (c Column) Declared() string {
	switch c.Type {
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		if c.Length < 0 {
			return c.Type + "(max)"
		}
		return c.Type + "(" + strconv.Itoa(c.Length) + ")"
	case "decimal", "numeric":
		return c.Type + "(" + strconv.Itoa(c.Precision) + "," + strconv.Itoa(c.Scale) + ")"
	}
	return c.Type
}

// Table is the name of a table or view, with up to three qualifiers.
type Table struct{ Server, Database, Schema, Name string }

// ParseTable parses a name such as T, dbo.T, other.dbo.T or [my base].dbo.[a.b]. The given
// schema is the default.
func ParseTable(text, schema string) (Table, bool) {
	parts, ok := parseParts(text)
	if !ok {
		return Table{}, false
	}
	return newTable(parts, schema)
}

// ParseColumn parses a qualified column name, such as T.C or dbo.T.[my column].
func ParseColumn(text, schema string) (t Table, column string, ok bool) {
	parts, ok := parseParts(text)
	if !ok || len(parts) < 2 {
		return Table{}, "", false
	}
	last := len(parts) - 1
	t, ok = newTable(parts[:last], schema)
	return t, parts[last], ok
}

func parseParts(text string) ([]string, bool) {
	var parts []string
	for {
		part, after, found, ok := cutPart(text)
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
		if !found {
			return parts, true
		}
		text = after
	}
}

func newTable(parts []string, schema string) (Table, bool) {
	if len(parts) > 4 {
		return Table{}, false
	}
	if len(parts) == 1 {
		parts = []string{schema, parts[0]}
	}
	parts = append(make([]string, 4-len(parts)), parts...)
	return Table{Server: parts[0], Database: parts[1], Schema: parts[2], Name: parts[3]}, true
}

// cutPart parses one part of a name and the dot after it; found reports whether there is a dot, ok
// whether the part is valid.
func cutPart(text string) (part, after string, found, ok bool) {
	if !strings.HasPrefix(text, "[") {
		part, after, found = strings.Cut(text, ".")
		part = strings.TrimSpace(part)
		return part, after, found, part != "" && !strings.ContainsAny(part, "[]\x00")
	}

	var b strings.Builder
	text = text[1:]
	for {
		i := strings.IndexByte(text, ']')
		if i < 0 {
			return "", "", false, false
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if !strings.HasPrefix(text, "]") {
			break
		}
		b.WriteByte(']')
		text = text[1:]
	}
	part = b.String()
	after, found = strings.CutPrefix(text, ".")
	isClosed := found || after == ""
	return part, after, found, part != "" && isClosed && !strings.Contains(part, "\x00")
}

// Quoted returns the name in SQL.
func (t Table) Quoted() string {
	text := t.qualifier()
	if t.Schema != "" {
		text += Quote(t.Schema) + "."
	}
	return text + Quote(t.Name)
}

// qualifier returns the quoted server and database, with a trailing dot.
func (t Table) qualifier() string {
	text := ""
	for _, part := range []string{t.Server, t.Database} {
		if part != "" {
			text += Quote(part) + "."
		}
	}
	return text
}

// String returns the unquoted name, for messages.
func (t Table) String() string {
	text := ""
	for _, part := range []string{t.Server, t.Database, t.Schema} {
		if part != "" {
			text += part + "."
		}
	}
	return text + t.Name
}

// Quote quotes one part of a name.
func Quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
