package kinds

import (
	"bufio"
	"cmp"
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
		if m.into == nil {
			continue
		}
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
		if f.Column != "" {
			value = fmt.Sprintf("{ %s = %s, %s = %s }", typeMember, value, columnMember, quote(f.Column))
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

// quote returns a text as a basic string of TOML.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
