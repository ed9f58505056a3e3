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
	Length            int    // of text in characters, of binary in bytes; -1 for max, 0 if not applicable
	Precision         int    // of numbers, in digits
	Scale             int
	Nullable          bool
	Collation         string // of text columns
	CodePage          int    // of char and varchar columns
	ParameterCodePage int    // code page of varchar parameters, which is that of the connection's database
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
	switch {
	case !c.usesCodePage():
		return false
	case isASCII(text):
		return true
	case c.CodePage != c.ParameterCodePage:
		return false
	case c.CodePage == utf8CP:
		return true
	case c.CodePage != latin1:
		return false
	}
	for _, r := range text {
		if r >= utf8.RuneSelf && (r < 0xa0 || r > 0xff) && !strings.ContainsRune("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ", r) {
			return false
		}
	}
	return true
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

// Fits reports whether the length of text does not exceed that of the column.
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

func parseParts(text string) (parts []string, ok bool) {
	for rest, more := text, true; more; {
		var part string
		if part, rest, more, ok = cutPart(rest); !ok {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

func newTable(parts []string, schema string) (Table, bool) {
	if len(parts) > 4 {
		return Table{}, false
	}
	if len(parts) == 1 {
		parts = []string{schema, parts[0]}
	}
	all := append(make([]string, 4-len(parts)), parts...)
	return Table{all[0], all[1], all[2], all[3]}, true
}

// cutPart parses one part of a name and the dot after it.
func cutPart(text string) (part, rest string, more, ok bool) {
	if !strings.HasPrefix(text, "[") {
		part, rest, more = strings.Cut(text, ".")
		part = strings.TrimSpace(part)
		return part, rest, more, part != "" && !strings.ContainsAny(part, "[]\x00")
	}
	var b strings.Builder
	for text = text[1:]; ; {
		i := strings.IndexByte(text, ']')
		if i < 0 {
			return "", "", false, false
		}
		b.WriteString(text[:i])
		if text = text[i+1:]; !strings.HasPrefix(text, "]") {
			break
		}
		b.WriteByte(']')
		text = text[1:]
	}
	rest, more = strings.CutPrefix(text, ".")
	return b.String(), rest, more, b.Len() > 0 && (more || rest == "") && !strings.Contains(b.String(), "\x00")
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
