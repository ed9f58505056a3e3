package kinds

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write writes a file of kinds in the order of their names, after comment lines.
func Write(w io.Writer, head []string, all []*Declared) error {
	out := bufio.NewWriter(w)
	comment(out, head)
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *Declared) int { return cmp.Compare(a.Name, b.Name) })
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
		switch from := m.into(d).(type) {
		case *string:
			if *from != "" {
				fmt.Fprintf(w, "%s = %s\n", m.name, quote(*from))
			}
		case *[]string:
			if len(*from) > 0 {
				quoted := make([]string, len(*from))
				for i, text := range *from {
					quoted[i] = quote(text)
				}
				fmt.Fprintf(w, "%s = [%s]\n", m.name, strings.Join(quoted, ", "))
			}
		}
	}
	fmt.Fprintf(w, "\n[%s.%s]\n", key(d.Name), fieldsTable)
	for _, f := range d.Fields {
		value := quote(f.TypeName())
		if f.Column != "" || f.Blob != "" {
			value = "{ " + typeMember + " = " + value
			if f.Column != "" {
				value += ", " + columnMember + " = " + quote(f.Column)
			}
			if f.Blob != "" {
				value += ", " + blobMember + " = " + quote(string(f.Blob))
			}
			value += " }"
		}
		if note := d.Notes[f.Name]; note != "" {
			value += " # " + line(note)
		}
		fmt.Fprintf(w, "%s = %s\n", key(f.Name), value)
	}
	comment(w, d.Omitted)
}

func comment(w io.Writer, lines []string) {
	for _, text := range lines {
		fmt.Fprintln(w, strings.TrimRight("# "+line(text), " "))
	}
}

// line returns a text without the characters that a comment cannot have.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// key returns a key, in quotation marks if it is not plain.
func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote returns a text as a basic string of TOML: that of JSON, except for one character.
func quote(text string) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(text) // a text has no errors
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007F`)
}
