package mssql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column is a column as the catalogue describes it. The zero Column is one of
// which nothing is known.
type Column struct {
	Name      string
	Type      string // lower case, without what is in brackets
	Length    int    // of text in characters and of bytes, -1 for max, 0 where there is none
	Precision int    // of numbers, in digits
	Scale     int
	Nullable  bool
	Collation string // of text
	CodePage  int    // of text with one byte a character
	Spoken    int    // code page of such text in parameters: that of the connection's database
}

// Code pages of columns that hold more than ASCII in a way that is known here.
const (
	latin1 = 1252
	utf8CP = 65001
)

// narrow reports whether the column's characters are bytes of a code page.
func (c Column) narrow() bool { return c.Type == "char" || c.Type == "varchar" || c.Type == "text" }

func (c Column) isText() bool {
	return c.narrow() || c.Type == "nchar" || c.Type == "nvarchar" || c.Type == "ntext"
}

// Holds reports whether the column has one byte a character and can hold text,
// as far as that is certain: the rest of a code page than ASCII is only known
// for the one that is usual in the west, and of that only what is the same in
// Unicode. A parameter of one byte a character must hold it as well, or else it
// would arrive as similar text, or as question marks.
func (c Column) Holds(text string) bool {
	switch {
	case !c.narrow():
		return false
	case ascii(text):
		return true
	case c.CodePage != c.Spoken:
		return false
	case c.CodePage == utf8CP:
		return true
	case c.CodePage != latin1:
		return false
	}
	for _, r := range text {
		if r >= utf8.RuneSelf && (r < 0xa0 || r > 0xff) {
			return false
		}
	}
	return true
}

// Unordered reports whether SQL Server shows the column's values, but takes no
// part of them in =, ORDER BY or DISTINCT.
func (c Column) Unordered() bool {
	return c.Type == "text" || c.Type == "ntext" || c.Type == "xml" || c.Type == "image"
}

// Fits reports whether text is not longer than the column.
func (c Column) Fits(text string) bool { return c.Length <= 0 || units(text) <= c.Length }

// Declared is the column's type as SQL writes it.
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

// Table is the name of a table or view: its last part, with up to three before.
type Table struct{ Server, Database, Schema, Name string }

// ParseTable reads a name such as T, dbo.T, other.dbo.T or [my base].dbo.[a.b].
// Where it names no schema, it is in the given one.
func ParseTable(text, schema string) (Table, bool) {
	parts, ok := parseParts(text)
	if !ok {
		return Table{}, false
	}
	return tableOf(parts, schema)
}

// ParseColumn reads a column behind the name of its table, such as T.C or
// dbo.T.[my column].
func ParseColumn(text, schema string) (t Table, column string, ok bool) {
	parts, ok := parseParts(text)
	if !ok || len(parts) < 2 {
		return Table{}, "", false
	}
	last := len(parts) - 1
	t, ok = tableOf(parts[:last], schema)
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

func tableOf(parts []string, schema string) (Table, bool) {
	if len(parts) > 4 {
		return Table{}, false
	}
	if len(parts) == 1 {
		parts = []string{schema, parts[0]}
	}
	all := append(make([]string, 4-len(parts)), parts...)
	return Table{all[0], all[1], all[2], all[3]}, true
}

// cutPart reads one part of a name and the dot behind it.
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

// Quoted is the name as SQL writes it.
func (t Table) Quoted() string {
	text := t.catalogue()
	if t.Schema != "" {
		text += Quote(t.Schema) + "."
	}
	return text + Quote(t.Name)
}

// catalogue is what comes before the schema.
func (t Table) catalogue() string {
	text := ""
	for _, part := range []string{t.Server, t.Database} {
		if part != "" {
			text += Quote(part) + "."
		}
	}
	return text
}

// String is the name for people.
func (t Table) String() string {
	text := ""
	for _, part := range []string{t.Server, t.Database, t.Schema} {
		if part != "" {
			text += part + "."
		}
	}
	return text + t.Name
}

// Quote writes one part of a name.
func Quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
