package query

import (
	"slices"
	"strings"
)

// order reads OrderBy, or OrderByDesc if there is no OrderBy.
func (p *parser) order(members Members) {
	for _, name := range []string{OrderBy, OrderByDesc} {
		m, ok := members.Get(name)
		if !ok || m.Empty {
			continue
		}
		if m.Other {
			p.fail(m.Name, "must be a list of fields")
			return
		}
		p.orderTerms(m, name == OrderByDesc)
		if len(p.req.Order) > 0 {
			p.req.OrderMember = name
			return
		}
	}
}

// orderTerms reads terms separated by commas or semicolons. Only the first term of a
// field counts.
func (p *parser) orderTerms(m Member, desc bool) {
	text := strings.Join(m.Texts, ",")
	for term := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		name, reversed := strings.CutPrefix(strings.TrimSpace(term), "-")
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		field, ok := p.req.Kind.Column(name)
		if !ok {
			p.unknownField(m.Name, name)
			return
		}
		if !ordersBy(p.req.Order, field) {
			p.req.Order = append(p.req.Order, Order{Field: field, Desc: desc != reversed})
		}
	}
}

func (p *parser) unknownField(member, name string) {
	kind := p.req.Kind
	advice := suggestion(name, kind.FieldNames())
	if advice == "" {
		advice = "; fields: " + strings.Join(kind.FieldNames(), ", ")
	}
	p.fail(member, "refers to %s, which is not a field of %s%s", Printable(name), kind.Name, advice)
}

// fields reads the projection. Unknown names are reported like unknown members; if
// no name is known, all fields are returned.
func (p *parser) fields(m Member) {
	if m.Other {
		p.fail(m.Name, "must be a list of fields")
		return
	}
	text := strings.TrimSpace(strings.Join(m.Texts, ","))
	if word, names, _ := strings.Cut(text, " "); strings.EqualFold(word, "DISTINCT") {
		p.req.Distinct = true
		text = names
	}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		field, ok := p.req.Kind.Column(name)
		if !ok {
			p.ignore(unknown{member: m.Name, part: name, similar: p.req.Kind.FieldNames()})
			continue
		}
		if !slices.Contains(p.req.Fields, field) {
			p.req.Fields = append(p.req.Fields, field)
		}
	}
}
