package query

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strings"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
)

// Generators for property tests: kinds, values of a type, requests.

var registry = record.Builtin()

func drawKind(t *rapid.T) *record.Kind {
	var names []string
	for _, kind := range registry.Kinds() {
		names = append(names, kind.Name)
	}
	kind, _ := registry.Lookup(rapid.SampledFrom(names).Draw(t, "kind"))
	return kind
}

// texts generates texts with characters that are special in lists, patterns and SQL.
var texts = rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune(`abcABC019 ,;"'[]%_^-\&=+@?é`)), rapid.Rune()))

// drawValue draws a valid text for the type.
func drawValue(t *rapid.T, fieldType record.Type) string {
	switch fieldType {
	case record.Text:
		return texts.Draw(t, "text")
	case record.Decimal:
		return rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?`).Draw(t, "decimal")
	case record.Bool:
		return rapid.SampledFrom([]string{"true", "False", "1", "0"}).Draw(t, "bool")
	case record.DateTime:
		return rapid.StringMatching(`(19|20)[0-9]{2}-0[1-9]-[12][0-8](T[01][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,7})?(Z|\+10:00)?)?`).Draw(t, "date")
	case record.Guid:
		return rapid.StringMatching(`[0-9a-fA-F]{32}`).Draw(t, "guid")
	case record.Bytes:
		return base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes"))
	}
	lo, hi := fieldType.Range()
	return itoa(rapid.Int64Range(lo, hi).Draw(t, "integer"))
}

// drawMembers draws valid filters of a kind and members of every query.
func drawMembers(t *rapid.T, kind *record.Kind) Members {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(kind.Members()), 0, 6, rapid.ID).Draw(t, "names")
	var all Members
	for _, name := range names {
		target, _ := kind.Member(name)
		fieldType := kind.Fields[target.Field].Type
		m := Member{Name: name}
		switch target.Operator.Arity() {
		case record.One:
			m.Texts = []string{drawValue(t, fieldType)}
		case record.Two:
			m.List = true
			m.Texts = []string{drawValue(t, fieldType), drawValue(t, fieldType)}
		case record.Many:
			m.List = true
			for range rapid.IntRange(1, 4).Draw(t, "items") {
				m.Texts = append(m.Texts, drawValue(t, fieldType))
			}
		}
		all = append(all, m)
	}
	field := rapid.SampledFrom(kind.FieldNames())
	for _, name := range []string{Skip, Take, OrderBy, OrderByDesc, Fields, Include} {
		if !rapid.Bool().Draw(t, name) {
			continue
		}
		var text string
		switch name {
		case Skip, Take:
			text = itoa(rapid.Int64Range(0, 30).Draw(t, "number"))
		case Include:
			distinct := "COUNT(DISTINCT " + field.Draw(t, "of") + ")"
			text = rapid.SampledFrom([]string{"Total", "NoTotal", "COUNT(*)", distinct}).Draw(t, "command")
		default:
			text = strings.Join(rapid.SliceOfN(field, 1, 3).Draw(t, "fields"), ",")
		}
		all = append(all, Member{Name: name, Texts: []string{text}})
	}
	return all
}

// asJSON writes members as one JSON object.
func asJSON(all Members) string {
	var b strings.Builder
	quote := func(text string) {
		raw, _ := json.Marshal(text)
		b.Write(raw)
	}
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		quote(m.Name)
		b.WriteByte(':')
		if !m.List {
			quote(m.Texts[0])
			continue
		}
		for j, text := range m.Texts {
			separator := ","
			if j == 0 {
				separator = "["
			}
			b.WriteString(separator)
			quote(text)
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return b.String()
}

// asList writes a list in its text form.
func asList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = `"` + strings.ReplaceAll(item, `"`, `""`) + `"`
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func asForm(all Members) string {
	var pairs []string
	for _, m := range all {
		text := asList(m.Texts)
		if !m.List {
			text = m.Texts[0]
		}
		pairs = append(pairs, url.QueryEscape(m.Name)+"="+url.QueryEscape(text))
	}
	return strings.Join(pairs, "&")
}

// asRepeatedForm writes each item of a list as a pair with the member's name.
func asRepeatedForm(all Members) string {
	var pairs []string
	for _, m := range all {
		for _, text := range m.Texts {
			if m.List {
				text = asList([]string{text})
			}
			pairs = append(pairs, url.QueryEscape(m.Name)+"="+url.QueryEscape(text))
		}
	}
	return strings.Join(pairs, "&")
}

func asCSV(all Members) string {
	var names, values []string
	for _, m := range all {
		text := asList(m.Texts)
		if !m.List {
			text = m.Texts[0]
		}
		names = append(names, m.Name)
		values = append(values, text)
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.WriteAll([][]string{names, values})
	return b.String()
}
