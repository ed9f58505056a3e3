package query

import (
	"regexp"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// order reads OrderBy, or OrderByDesc where there is no OrderBy.
func (p *parser) order(members Members) {
	for _, name := range []string{OrderBy, OrderByDesc} {
		m, ok := members.Get(name)
		if !ok || m.Empty {
			continue
		}
		if m.Other {
			p.fail(name, "must be a list of fields")
			return
		}
		if p.orderTerms(m, name == OrderByDesc); len(p.req.Order) > 0 {
			return
		}
	}
}

// orderTerms reads terms separated by commas or semicolons. A field that is
// named again changes nothing, since the first decides.
func (p *parser) orderTerms(m Member, desc bool) {
	text := strings.Join(m.Texts, ",")
	for term := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		term = strings.TrimSpace(term)
		if term == "" || term == "-" {
			continue
		}
		name, reversed := strings.CutPrefix(term, "-")
		field, ok := p.req.Kind.Column(strings.TrimSpace(name))
		if !ok {
			p.unknownField(m.Name, name)
			continue
		}
		if !p.ordered(field) {
			p.req.Order = append(p.req.Order, Order{Field: field, Desc: desc != reversed})
		}
	}
}

func (p *parser) ordered(field int) bool {
	for _, o := range p.req.Order {
		if o.Field == field {
			return true
		}
	}
	return false
}

func (p *parser) unknownField(member, name string) {
	kind := p.req.Kind
	near := record.Near(strings.TrimSpace(name), kind.FieldNames())
	if len(near) == 0 {
		near = kind.FieldNames()
	}
	p.fail(member, "names %s, which is not a field of %s; fields: %s", shown(name), kind.Name, strings.Join(near, ", "))
}

var distinct = regexp.MustCompile(`(?i)^\s*distinct\s+`)

// fields reads the projection. Unknown names are reported like unknown members;
// where none is known all fields come back.
func (p *parser) fields(m Member) {
	if m.Other {
		p.fail(m.Name, "must be a list of fields")
		return
	}
	text := strings.Join(m.Texts, ",")
	if prefix := distinct.FindString(text); prefix != "" {
		p.req.Distinct, text = true, text[len(prefix):]
	}
	seen := make(map[int]bool)
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		field, ok := p.req.Kind.Column(name)
		switch {
		case name == "" || ok && seen[field]:
		case ok:
			seen[field] = true
			p.req.Fields = append(p.req.Fields, field)
		default:
			p.req.Ignored = append(p.req.Ignored, shown(name))
		}
	}
}

// command matches one part of Include: a word, or FUNCTION([DISTINCT] argument)
// with an optional alias.
var command = regexp.MustCompile(`(?i)^(\w+)\s*(?:\(\s*(distinct\s+)?([\w*]*)\s*\))?(?:\s+(?:as\s+)?(\w+))?$`)

func (p *parser) include(m Member) {
	if m.Other {
		p.fail(m.Name, "must be a list of commands")
		return
	}
	for text := range strings.SplitSeq(strings.Join(m.Texts, ","), ",") {
		if text = strings.TrimSpace(text); text != "" {
			p.includeOne(m.Name, text)
		}
	}
}

func (p *parser) includeOne(member, text string) {
	part := command.FindStringSubmatch(text)
	if part == nil {
		p.req.Ignored = append(p.req.Ignored, shown(text))
		return
	}
	word, argument, alias := strings.ToUpper(part[1]), part[3], part[4]
	switch {
	case word == "TOTAL" && argument == "":
		p.req.Total = TotalWanted
		return
	case word == "NOTOTAL" && argument == "":
		p.req.Total = TotalRefused
		return
	}
	a, ok := p.aggregate(member, word, part[2] != "", argument)
	if !ok {
		p.req.Ignored = append(p.req.Ignored, shown(text))
		return
	}
	if a.Name = alias; alias == "" {
		a.Name = text
	}
	p.req.Include = append(p.req.Include, a)
}

// aggregate reads FUNCTION(argument). It reports false for what is no
// aggregate at all; one over an unknown field is an error.
func (p *parser) aggregate(member, word string, distinct bool, argument string) (Aggregate, bool) {
	a := Aggregate{Distinct: distinct, Field: AllRows}
	for f, name := range functions {
		if name == word && argument != "" {
			a.Function = Function(f)
			if argument == "*" && a.Function == Count && !distinct {
				p.req.Total = TotalWanted
				return a, true
			}
			p.aggregateField(member, argument, &a)
			return a, true
		}
	}
	return a, false
}

func (p *parser) aggregateField(member, name string, a *Aggregate) {
	field, ok := p.req.Kind.Column(name)
	if !ok {
		p.unknownField(member, name)
		return
	}
	a.Field = field
	t := p.req.Kind.Fields[field].Type
	sums := a.Function == Sum || a.Function == Avg
	if sums && !t.Number() || !sums && a.Function != Count && (t == record.Bytes || t == record.Bool || t == record.Guid) {
		p.fail(member, "has %s of %s, which is %s", a.Function, p.req.Kind.Fields[field].Name, t)
	}
}
