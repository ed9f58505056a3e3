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

// MaxIn is the maximum number of values of one In.
const MaxIn = 2000

// MaxPattern is the maximum number of characters in the text of a Contains or the
// pattern of a Like, as in SQL Server. The other operators read a text only once.
const MaxPattern = 4000

// Options are the settings that affect how a request is read.
type Options struct {
	// Zone is the time zone of the ERP's dates, to which dates with a zone are converted; nil for
	// the host's.
	Zone    *time.Location
	MaxTake int64 // a larger Take is reduced to it; 0 for no limit
}

// Parse reads the members of a query of the kind. Its error lists the invalid members, with one
// mistake each. At most maxUnknown of them are unknown members of a strict request, and whether groups
// and their order are possible is only checked if all other members are valid.
func Parse(kind *record.Kind, members Members, o Options) (*Request, error) {
	if kind.Database != record.RecordsDB {
		o.Zone = time.UTC // the time zone of the service's own records
	} else if o.Zone == nil {
		o.Zone = time.Local
	}

	p := parser{Options: o, req: &Request{Kind: kind, Take: NoTake}}
	for _, m := range members {
		p.member(m)
	}
	p.strict(members)
	isGrouped := p.group()
	p.aliases()
	if isGrouped || !p.groupGiven { // otherwise it is unknown which columns OrderBy can refer to
		p.order(members)
	}
	p.checkCursor()
	if o.MaxTake > 0 && p.req.Take > o.MaxTake {
		p.req.Take = o.MaxTake
		p.req.Clamped = true
	}
	if len(p.wrong) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Message: summary(p.wrong), Fields: p.wrong}
	}
	return p.req, nil
}

type parser struct {
	Options
	req      *Request
	unknowns []unknown
	wrong    []fault.Field

	totalGiven bool // by Include=Total
	groupGiven bool // by GroupBy, possibly a wrong one
}

// fail records an error of a member, at most one for each member.
func (p *parser) fail(member, format string, args ...any) {
	name := Printable(member)
	if !slices.ContainsFunc(p.wrong, func(f fault.Field) bool { return f.Name == name }) {
		p.wrong = append(p.wrong, fault.Field{Name: name, Message: fmt.Sprintf(format, args...)})
	}
}

// member reads one member. Filters are never ignored silently: invalid ones are
// errors, unknown members are reported.
func (p *parser) member(m Member) {
	m.Empty = m.hasNoValue()
	if target, ok := p.req.Kind.Member(m.Name); ok {
		p.filter(m, target)
	} else if field, compared := p.req.Kind.Compared(m.Name); compared {
		p.fail(m.Name, "%s", notFilter(p.req.Kind.Fields[field]))
	} else if !p.common(m) && !isParameter(m.Name) {
		p.ignore(unknown{member: m.Name})
	}
}

// notFilter is the error for a member that is not a filter of its field.
func notFilter(field record.Field) error {
	return fmt.Errorf("is not a filter of %s, which accepts %s", field.Name, allowed(field))
}

// Denies reports whether m negates an IsNull or IsNotNull filter by the value false, as in
// NameIsNull=false. Queries read it as if the value were true.
func Denies(o record.Operator, m Member) bool {
	if o.Arity() != record.None || m.List || len(m.Texts) != 1 {
		return false
	}
	value, err := wire.ParseBool(m.Texts[0])
	return err == nil && value == 0
}

// Opposite returns IsNotNull for IsNull, and IsNull for IsNotNull. Callers pass no other operator; it
// would return IsNull for it.
func Opposite(o record.Operator) record.Operator {
	if o == record.IsNull {
		return record.IsNotNull
	}
	return record.IsNull
}

// IgnoresValue reports whether a member is a condition with any value. A JSON
// null is not given, as typed clients send members that are not set.
func IgnoresValue(kind *record.Kind, m Member) bool {
	target, ok := kind.Member(m.Name)
	return ok && target.Operator.Arity() == record.None && !m.isNull()
}

func isParameter(name string) bool {
	return slices.ContainsFunc(parameters, func(p Parameter) bool { return SameName(p.Name, name) })
}

var parameters = Parameters()

func (p *parser) filter(m Member, target record.Member) {
	field := p.req.Kind.Fields[target.Field]
	c, hasValue, err := Filter(m, field, target.Operator, p.Zone)
	if err != nil {
		p.fail(m.Name, "%s", err)
		return
	}
	if !hasValue {
		return
	}

	if Denies(target.Operator, m) {
		opposite := field.Name + Opposite(target.Operator).Suffix()
		p.ignore(unknown{member: m.Name, problem: "must be true; use " + opposite})
	}
	c.Field = target.Field
	p.req.Where = append(p.req.Where, c)
}

// Filter reads a member as a comparison of a field, without the index of the field, and reports
// whether the member has a value. Without one there is no comparison. Dates with a zone are converted
// to zone.
func Filter(
	m Member, field record.Field, o record.Operator, zone *time.Location,
) (Condition, bool, error) {
	if !field.Filter.Allows(o) {
		return Condition{}, false, notFilter(field)
	}
	if o.Arity() == record.None && !m.isNull() {
		return Condition{Operator: o}, true, nil
	}
	hasNoBytes := field.Type == record.Bytes && slices.Equal(m.Texts, []string{""})
	if m.hasNoValue() || hasNoBytes {
		return Condition{}, false, nil
	}

	texts, err := operandTexts(m, field.Type, o.Arity())
	if err != nil || len(texts) == 0 {
		return Condition{}, false, err
	}
	if field.Type.Stored() == record.DateTime {
		c, err := dateCondition(o, texts, zone)
		return c, err == nil, err
	}

	c := Condition{Operator: o, Operands: make([]wire.Value, len(texts))}
	for i, text := range texts {
		c.Operands[i], err = wire.ParseValue(field.Type, text, zone)
		if err != nil {
			return Condition{}, false, err
		}
	}
	if o == record.Contains || o == record.Like {
		if n := utf8.RuneCountInString(texts[0]); n > MaxPattern {
			return Condition{}, false, fmt.Errorf("takes at most %d characters, not %d", MaxPattern, n)
		}
	}
	return c, true, nil
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

// operandTexts returns the texts of a filter's operands. Their number must match the
// arity.
func operandTexts(m Member, t record.Type, arity record.Arity) ([]string, error) {
	if m.Other {
		return nil, errOther
	}
	if arity == record.One {
		isSingle := len(m.Texts) == 1 || t == record.Bool // of several booleans the first one counts
		if m.List || !isSingle {
			return nil, errors.New("takes one value, not a list")
		}
		return m.Texts[:1], nil
	}
	texts, err := m.items(t)
	if err != nil {
		return nil, err
	}
	isPair := len(texts) == 2 || len(texts) == 0 // none are as if the filter was not given
	if arity == record.Two && !isPair {
		return nil, fmt.Errorf("takes two values, not %d", len(texts))
	}
	if len(texts) > MaxIn {
		return nil, fmt.Errorf("takes at most %d values, not %d", MaxIn, len(texts))
	}
	return texts, nil
}

// common reads the members of every query and reports whether m is one that affects
// the rows. OrderBy and OrderByDesc are read together later.
func (p *parser) common(m Member) bool {
	var read func(Member)
	switch {
	case SameName(m.Name, Skip):
		read = func(m Member) {
			p.req.Skip = p.number(m)
			p.req.SkipSet = true
		}
	case SameName(m.Name, Take):
		read = func(m Member) { p.req.Take = p.number(m) }
	case SameName(m.Name, Fields):
		read = p.fields
	case SameName(m.Name, Include):
		read = p.include
	case SameName(m.Name, GroupBy):
		read = p.groupBy
	case SameName(m.Name, ForCopy):
		read = func(m Member) { p.req.ForCopy = p.text(m) }
	case SameName(m.Name, Cursor):
		p.cursor(m)
		return true
	default:
		return false
	}
	if !m.Empty {
		read(m)
	}
	return true
}

// cursor reads the cursor, which is empty for the first page. A JSON null is not given, and
// neither is NoCursor.
func (p *parser) cursor(m Member) {
	if m.isNull() {
		return
	}
	text := p.text(m)
	if text != NoCursor {
		p.req.Cursor = &text
	}
}

// text reads a text, which may be empty.
func (p *parser) text(m Member) string {
	if len(m.Texts) > 1 || m.Other || m.List {
		p.fail(m.Name, "takes one text")
		return ""
	}
	if len(m.Texts) == 0 {
		return ""
	}
	return m.Texts[0]
}

// checkCursor rejects a cursor in queries that cannot continue after a row.
func (p *parser) checkCursor() {
	if p.req.Cursor == nil {
		return
	}
	switch {
	case p.req.Skip > 0:
		p.fail(Skip, "cannot be combined with Cursor, which continues after a row")
	case p.req.Group != nil:
		p.fail(GroupBy, "cannot be combined with Cursor, because groups have no key: use Skip and Take")
	case p.req.Distinct:
		p.fail(Fields, "cannot be DISTINCT with Cursor, because the rows have no key: use Skip and Take")
	}
}

// number reads the value of Skip or Take.
func (p *parser) number(m Member) int64 {
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

// unknown is an unknown member, or an unknown part of a member's value.
type unknown struct {
	member  string
	part    string // empty for the member itself
	problem string // problem of a known member with a value that is ignored
	similar []string
}

// maxUnknown is the number of unknown members that are reported, which bounds the
// size of a response header.
const maxUnknown = 20

// ignore lists an unknown member in the response. Strict requests turn it into an error later.
func (p *parser) ignore(u unknown) {
	if len(p.unknowns) == maxUnknown {
		p.req.Ignored = append(p.req.Ignored[:maxUnknown], "...")
		return
	}
	p.unknowns = append(p.unknowns, u)
	name := u.part
	if name == "" {
		name = u.member
	}
	p.req.Ignored = append(p.req.Ignored, headerSafe(name))
}

// strict turns unknown members into errors if the request has Strict=true.
func (p *parser) strict(members Members) {
	m, ok := members.Get(Strict)
	if !ok || m.Empty {
		return
	}
	if len(m.Texts) != 1 || m.List {
		p.fail(Strict, "must be true or false")
		return
	}
	on, err := wire.ParseBool(m.Texts[0])
	if err != nil {
		p.fail(Strict, "%s", err)
		return
	}
	if on == 0 {
		return
	}
	for _, u := range p.unknowns {
		if u.problem != "" {
			p.fail(u.member, "%s", u.problem)
		} else if u.part != "" {
			p.fail(u.member, "has %s, which is unknown%s", Printable(u.part), suggestion(u.part, u.similar))
		} else {
			p.fail(u.member, "is unknown%s", suggestion(u.member, p.names()))
		}
	}
}

// names returns all members that a request of the kind can have.
func (p *parser) names() []string {
	names := slices.Clone(p.req.Kind.Members())
	for _, parameter := range parameters {
		names = append(names, parameter.Name)
	}
	return names
}

// suggestion returns the end of a message that suggests similar names.
func suggestion(name string, names []string) string {
	similar := record.Suggest(strings.TrimSpace(name), names)
	if len(similar) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(similar, ", ") + "?"
}

// groupBy reads the field of GroupBy. Unlike other members with one value, it may be a list with one
// item, because some clients send it as a list like Fields and Include.
func (p *parser) groupBy(m Member) {
	p.groupGiven = true
	if len(m.Texts) != 1 || m.Other {
		p.fail(m.Name, "takes one field")
		return
	}
	name, period, divided := strings.Cut(m.Texts[0], ":")
	name = strings.TrimSpace(name)
	period = strings.TrimSpace(period)
	field, ok := p.req.Kind.Column(name)
	if !ok {
		p.unknownField(m.Name, name)
		return
	}
	g := &Group{Source: p.req.Kind, Field: field, Period: periods[strings.ToLower(period)]}
	f := p.req.Kind.Fields[field]
	isDate := f.Type.Stored() == record.DateTime
	if f.Type == record.Bytes {
		p.fail(m.Name, "cannot group by %s, which is %s", f.Name, f.Type)
	} else if divided && isDate && g.Period == 0 {
		p.fail(m.Name, "has %s, but a date is grouped by :day, :month or :year", Printable(m.Texts[0]))
	} else if divided && !g.hasPeriodOfDate() {
		p.fail(m.Name, "has %s, but only a date can be grouped by :day, :month or :year", Printable(m.Texts[0]))
	}
	p.req.Group = g
}

// hasPeriodOfDate reports whether rows are grouped by a period, and the field is a date.
func (g *Group) hasPeriodOfDate() bool {
	return g.Period > 0 && g.Source.Fields[g.Field].Type.Stored() == record.DateTime
}

// wrongColumn describes why a result cannot have these columns: two have the same name, or
// one is reserved for a member of requests.
func wrongColumn(columns []record.Field) string {
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(f record.Field) bool { return strings.EqualFold(f.Name, c.Name) }) {
			return "would have two columns " + c.Name + "; name one with AS"
		}
	}
	for _, c := range columns {
		if _, err := record.NewRegistry(record.Kind{Name: "Group", Fields: []record.Field{c}}); err != nil {
			return "cannot name a column " + c.Name + "; choose another name after AS"
		}
	}
	return "has names of columns that are not possible together; choose others after AS"
}

// group makes the kind of the groups the kind of the request, so that OrderBy refers to their columns.
// It reports whether it has done so.
func (p *parser) group() bool {
	g := p.req.Group
	if g == nil || len(p.wrong) > 0 {
		return false
	}
	if len(p.req.Fields) > 0 || p.req.Distinct {
		p.fail(Fields, "cannot be combined with %s: its rows have the group and the functions of %s", GroupBy, Include)
		return false
	}
	if p.req.Total == TotalOn && !p.totalGiven { // COUNT(*) is a column
		p.req.Total = TotalDefault
	}
	g.Aggregates = p.req.Include
	p.req.Include = nil
	if len(g.Aggregates) == 0 {
		g.Aggregates = []Aggregate{{Function: Count, Field: AllRows}}
	}

	result := g.resultKind()
	registry, err := record.NewRegistry(result)
	if err != nil {
		p.fail(Include, "%s", wrongColumn(result.Fields))
		return false
	}
	p.req.Kind = registry.Kinds()[0]
	return true
}

// resultKind returns the kind of the groups: the field that rows are grouped by, and the aggregates.
func (g *Group) resultKind() record.Kind {
	source := g.Source
	field := source.Fields[g.Field]
	if g.Period > 0 {
		field = record.Field{Name: field.Name, Type: record.Text, Null: field.Null}
	}
	result := record.Kind{
		Name:          source.Name,
		Area:          source.Area,
		Summary:       source.Summary,
		Database:      source.Database,
		OperationName: source.Operation(),
		Role:          source.Role,
		Fields:        []record.Field{field},
	}
	for _, a := range g.Aggregates {
		column := record.Field{Name: a.column(source), Type: a.Type(source), Null: record.Nullable}
		result.Fields = append(result.Fields, column)
	}
	return result
}
