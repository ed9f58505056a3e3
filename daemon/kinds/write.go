package kinds

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Write writes a file of kinds in the order of their names, after comment lines.
func Write(w io.Writer, head []string, declared []*Declared) error {
	out := bufio.NewWriter(w)
	comment(out, head)
	byName := func(a, b *Declared) int { return cmp.Compare(a.Name, b.Name) }
	sorted := slices.SortedFunc(slices.Values(declared), byName)
	for i, d := range sorted {
		if i > 0 || len(head) > 0 {
			fmt.Fprintln(out)
		}
		d.write(out)
	}
	return out.Flush()
}

func (d *Declared) write(w io.Writer) {
	comment(w, d.Comments)
	fmt.Fprintf(w, "[%s]\n", key(d.Name))
	for _, m := range members {
		switch value := m.target(d).(type) {
		case *string:
			if *value != "" {
				fmt.Fprintf(w, "%s = %s\n", m.name, quote(*value))
			}
		case *[]string:
			if len(*value) > 0 {
				fmt.Fprintf(w, "%s = [%s]\n", m.name, quoteAll(*value))
			}
		}
	}
	fmt.Fprintf(w, "\n[%s.%s]\n", key(d.Name), fieldsTable)
	for _, f := range d.Fields {
		value := fieldValue(f)
		if note := d.Notes[f.Name]; note != "" {
			value += " # " + line(note)
		}
		fmt.Fprintf(w, "%s = %s\n", key(f.Name), value)
	}
	comment(w, d.Omitted)
}

// fieldValue returns the value of a field: its type, or a table with its other members.
func fieldValue(f record.Field) string {
	fieldType := quote(f.TypeName())
	if f.Column == "" && f.Blob == "" {
		return fieldType
	}
	value := "{ " + typeMember + " = " + fieldType
	if f.Column != "" {
		value += ", " + columnMember + " = " + quote(f.Column)
	}
	if f.Blob != "" {
		value += ", " + blobMember + " = " + quote(string(f.Blob))
	}
	return value + " }"
}

// comment writes comment lines.
func comment(w io.Writer, lines []string) {
	for _, text := range lines {
		fmt.Fprintln(w, strings.TrimRight("# "+line(text), " "))
	}
}

// line returns a text without the characters that a comment cannot have.
func line(text string) string {
	blank := func(r rune) rune {
		isControl := r < ' ' || r == 0x7f
		if isControl && r != '\t' {
			return ' '
		}
		return r
	}
	return strings.Map(blank, strings.ToValidUTF8(text, "?"))
}

// key returns a key, in quotation marks if it is not plain.
func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

// quoteAll returns texts as the items of a list.
func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return strings.Join(quoted, ", ")
}

// quote returns a text as a basic string of TOML: that of JSON, except for one character.
func quote(text string) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(text) // a text has no errors
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007F`)
}
