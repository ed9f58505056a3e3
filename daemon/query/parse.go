package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
)

// MaxIn is the number of values that one In may have.
const MaxIn = 2000

// MaxPattern is the number of characters that the text of a Contains or the
// pattern of a Like may have, as in SQL Server. The other operators read no text
// more than once.
const MaxPattern = 4000

// Options are the settings that reading a request depends on.
type Options struct {
	Zone    *time.Location // of the ERP's dates: where dates with a zone are converted to; nil for the host's
	MaxTake int64          // larger Takes are cut down to it; 0 for no limit
}

// Parse reads the members of a query of the kind. Its error names every member
// that is wrong.
func Parse(kind *record.Kind, members Members, o Options) (*Request, error) {
	switch {
	case kind.Database != record.InRecords:
		o.Zone = time.UTC // which is what the service itself keeps
	case o.Zone == nil:
		o.Zone = time.Local
	}
	p := parser{Options: o, req: &Request{Kind: kind, Take: NoTake}}
	for _, m := range members {
		p.member(m)
	}
	p.order(members)
	p.strict(members)
	if o.MaxTake > 0 && p.req.Take > o.MaxTake {
		p.req.Take, p.req.Clamped = o.MaxTake, true
	}
	if len(p.wrong) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Message: summary(p.wrong), Fields: p.wrong}
	}
	return p.req, nil
}

func summary(wrong []fault.Field) string {
	text := wrong[0].Name + " " + wrong[0].Message
	if more := len(wrong) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

type parser struct {
	Options
	req    *Request
	strays []stray
	wrong  []fault.Field
}

// fail notes what is wrong with a member, once for each.
func (p *parser) fail(member, format string, args ...any) {
	name := shown(member)
	if !slices.ContainsFunc(p.wrong, func(f fault.Field) bool { return f.Name == name }) {
		p.wrong = append(p.wrong, fault.Field{Name: name, Message: fmt.Sprintf(format, args...)})
	}
}

// member reads one member. A filter is never dropped in silence: what looks
// like one and cannot be read is an error, what means nothing is reported.
func (p *parser) member(m Member) {
	m.Empty = m.Empty || len(m.Texts) == 0 && !m.Other
	if target, ok := p.req.Kind.Member(m.Name); ok {
		p.filter(m, target)
	} else if !p.control(m) && !known(m.Name) {
		p.ignore(stray{member: m.Name})
	}
}

func known(name string) bool {
	return slices.ContainsFunc(parameters, func(one Parameter) bool { return strings.EqualFold(one.Name, name) })
}

var parameters = Parameters()

func (p *parser) filter(m Member, target record.Member) {
	field := p.req.Kind.Fields[target.Field]
	if !target.Allowed {
		p.fail(m.Name, "is not a filter of %s, which takes %s", field.Name, allowed(field))
		return
	}
	if m.Empty {
		return
	}
	texts, err := operandTexts(m, field.Type, target.Operator.Arity())
	if err != nil {
		p.fail(m.Name, "%s", err)
		return
	}
	c := Condition{Field: target.Field, Operator: target.Operator, Operands: make([]wire.Value, len(texts))}
	for i, text := range texts {
		if c.Operands[i], err = wire.ParseValue(field.Type, text, p.Zone); err != nil {
			p.fail(m.Name, "%s", err)
			return
		}
	}
	if c.Operator == record.Contains || c.Operator == record.Like {
		if n := utf8.RuneCountInString(texts[0]); n > MaxPattern {
			p.fail(m.Name, "takes at most %d characters, not %d", MaxPattern, n)
			return
		}
	}
	if len(texts) > 0 {
		p.req.Where = append(p.req.Where, c)
	}
}

func allowed(f record.Field) string {
	var names []string
	for _, o := range f.Filter.Operators() {
		names = append(names, f.Name+o.Suffix())
	}
	if len(names) == 0 {
		return "no filter"
	}
	return strings.Join(names, ", ")
}

var errOther = errors.New("must be a value or a list of values, without nulls, lists or objects in it")

// operandTexts are the texts of a filter's operands, as many as it takes.
func operandTexts(m Member, t record.Type, arity record.Arity) ([]string, error) {
	if m.Other {
		return nil, errOther
	}
	if arity == record.One {
		if m.List || len(m.Texts) != 1 && t != record.Bool {
			return nil, errors.New("takes one value, not a list")
		}
		return m.Texts[:1], nil
	}
	texts, err := m.items(t)
	switch {
	case err != nil:
		return nil, err
	case arity == record.Two && len(texts) != 2 && len(texts) != 0:
		return nil, fmt.Errorf("takes two values, not %d", len(texts))
	case len(texts) > MaxIn:
		return nil, fmt.Errorf("takes at most %d values, not %d", MaxIn, len(texts))
	}
	return texts, nil
}

// control reads the members that every query takes. It reports whether m is
// one of those with an effect on the rows. OrderBy and OrderByDesc wait for
// each other.
func (p *parser) control(m Member) bool {
	var read func(Member)
	switch {
	case strings.EqualFold(m.Name, Skip):
		read = func(m Member) { p.req.Skip, p.req.SkipSet = p.page(m), true }
	case strings.EqualFold(m.Name, Take):
		read = func(m Member) { p.req.Take = p.page(m) }
	case strings.EqualFold(m.Name, Fields):
		read = p.fields
	case strings.EqualFold(m.Name, Include):
		read = p.include
	case strings.EqualFold(m.Name, Cursor):
		// Not even an empty one may be passed over: it asks for pages.
		p.fail(m.Name, "is not offered by this version: page with Skip and Take")
		return true
	default:
		return false
	}
	if !m.Empty {
		read(m)
	}
	return true
}

func (p *parser) page(m Member) int64 {
	if len(m.Texts) != 1 || m.Other || m.List {
		p.fail(m.Name, "takes one number")
		return 0
	}
	n, err := wire.ParseInteger(record.Int, m.Texts[0])
	if err != nil || n < 0 {
		p.fail(m.Name, "must be a whole number from 0 to 2147483647")
		return 0
	}
	return n
}

// stray is something in a request that means nothing: a member, or a part of
// what a member says.
type stray struct {
	member string
	part   string // empty for the member itself
	near   []string
}

// maxStrays is the number of strays that are named. A reply's header has to
// stay small, however much nonsense a request holds.
const maxStrays = 20

// ignore reports a stray in the reply, or as an error if the request is strict.
func (p *parser) ignore(s stray) {
	if len(p.strays) == maxStrays {
		p.req.Ignored = append(p.req.Ignored[:maxStrays], "...")
		return
	}
	p.strays = append(p.strays, s)
	name := s.part
	if name == "" {
		name = s.member
	}
	p.req.Ignored = append(p.req.Ignored, shownInHeader(name))
}

// strict turns strays into errors where the request asks for it.
func (p *parser) strict(members Members) {
	m, given := members.Get(Strict)
	if !given || m.Empty {
		return
	}
	if len(m.Texts) != 1 {
		p.fail(Strict, "must be true or false")
		return
	}
	on, err := wire.ParseBool(m.Texts[0])
	if err != nil {
		p.fail(Strict, "%s", err)
	}
	if on == 0 {
		return
	}
	for _, s := range p.strays {
		if s.part != "" {
			p.fail(s.member, "has %s, which is not known%s", shown(s.part), nearest(s.part, s.near))
		} else {
			p.fail(s.member, "is not known%s", nearest(s.member, p.names()))
		}
	}
}

// names lists all members that a request of the kind can have.
func (p *parser) names() []string {
	names := slices.Clone(p.req.Kind.Members())
	for _, one := range parameters {
		names = append(names, one.Name)
	}
	return names
}

func nearest(name string, names []string) string {
	near := record.Suggest(strings.TrimSpace(name), names)
	if len(near) == 0 {
		return ""
	}
	return "; near: " + strings.Join(near, ", ")
}
