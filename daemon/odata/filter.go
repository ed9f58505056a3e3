package odata

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// Limits of a filter.
const (
	maxComparisons = 500 // SQLite limits the depth of an expression to 1000, and a join of n parts is n deep
	maxDepth       = 100 // nested parts
)

// Filter is a filter that has been read.
type Filter struct {
	Where  []query.Condition // joined by AND
	Folded []int             // fields in tolower or toupper: they must be compared without regard to case
}

// Partition returns the date of a kind that the filter limits at both ends, -1 if there is none.
func (f Filter) Partition(kind *record.Kind) int {
	limited := make(map[int]int) // the limited ends by field
	for _, c := range f.Where {
		if !c.IsPlain() || kind.Fields[c.Field].Type != record.DateTime {
			continue
		}
		limited[c.Field] |= ends[c.Operator]
		if limited[c.Field] == lowerEnd|upperEnd {
			return c.Field
		}
	}
	return -1
}

// The ends of a range, as bits.
const (
	lowerEnd = 1 << iota
	upperEnd
)

// ends are the ends of a range that the operators limit.
var ends = map[record.Operator]int{
	record.GreaterThan:          lowerEnd,
	record.GreaterThanOrEqualTo: lowerEnd,
	record.LessThan:             upperEnd,
	record.LessThanOrEqualTo:    upperEnd,
}

// parser reads filters and keys about the records of a kind.
type parser struct {
	*lexer
	kind        *record.Kind
	clock       *Clock
	filter      Filter
	comparisons int
	folds       bool // the current comparison has tolower or toupper of a field
	depth       int  // the number of parts around the current one
}

// ParseFilter reads the value of $filter.
func ParseFilter(kind *record.Kind, clock *Clock, text string) (Filter, error) {
	l, err := newLexer(optionFilter, text)
	if err != nil {
		return Filter{}, err
	}
	p := &parser{lexer: l, kind: kind, clock: clock}
	condition, err := p.or()
	if err != nil {
		return Filter{}, err
	}
	if p.token.kind != end {
		return Filter{}, p.unexpected()
	}
	p.filter.Where = []query.Condition{condition}
	if condition.Join == query.And {
		p.filter.Where = condition.Parts
	}
	return p.filter, nil
}

// operators are the comparisons.
var operators = map[string]record.Operator{
	"eq": record.Equal,
	"ne": record.NotEqualTo,
	"gt": record.GreaterThan,
	"ge": record.GreaterThanOrEqualTo,
	"lt": record.LessThan,
	"le": record.LessThanOrEqualTo,
}

// mirrored are the comparisons with exchanged sides.
var mirrored = map[record.Operator]record.Operator{
	record.Equal:                record.Equal,
	record.NotEqualTo:           record.NotEqualTo,
	record.GreaterThan:          record.LessThan,
	record.GreaterThanOrEqualTo: record.LessThanOrEqualTo,
	record.LessThan:             record.GreaterThan,
	record.LessThanOrEqualTo:    record.GreaterThanOrEqualTo,
}

// functions are the functions of texts with the result true or false.
var functions = map[string]record.Operator{
	"contains":   record.Contains,
	"startswith": record.StartsWith,
	"endswith":   record.EndsWith,
}

// folding are the functions that do not change the result of a comparison, since the databases
// compare texts without regard to case.
var folding = []string{"tolower", "toupper"}

// notOffered are operators and functions of OData in addition to these.
var notOffered = strings.Fields("add sub mul div divby mod has isof cast")

// or reads parts that are joined by or, which binds less tightly than and.
func (p *parser) or() (query.Condition, error) { return p.join(query.Or, "or", p.and) }

// and reads parts that are joined by and.
func (p *parser) and() (query.Condition, error) { return p.join(query.And, "and", p.not) }

// join reads parts with a word between them.
func (p *parser) join(join query.Join, word string, part func() (query.Condition, error)) (query.Condition, error) {
	joined := query.Condition{Join: join}
	hasNext := true
	for hasNext {
		c, err := part()
		if err != nil {
			return c, err
		}
		if c.Join == join {
			joined.Parts = append(joined.Parts, c.Parts...)
		} else {
			joined.Parts = append(joined.Parts, c)
		}
		hasNext, err = p.skip(word)
		if err != nil {
			return never, err
		}
	}
	if len(joined.Parts) == 1 {
		return joined.Parts[0], nil
	}
	return joined, nil
}

// not reads a comparison with any number of not before it.
func (p *parser) not() (query.Condition, error) {
	isNegated, err := p.skip("not")
	if err != nil {
		return never, err
	}
	if !isNegated {
		return p.comparison()
	}
	c, err := p.nested(p.not)
	return query.Not(c), err
}

// nested reads a part one level deeper.
func (p *parser) nested(part func() (query.Condition, error)) (query.Condition, error) {
	p.depth++
	if p.depth > maxDepth {
		return never, p.fail("is nested too deeply")
	}
	defer func() { p.depth-- }()
	return part()
}

// comparison reads a comparison, a function or a part in parentheses. Each of them may be
// compared with true or false.
func (p *parser) comparison() (query.Condition, error) {
	var c query.Condition
	var err error
	operator, isFunction := functions[p.token.text]
	switch {
	case p.is("("):
		c, err = p.parenthesized()
	case isFunction && p.calls():
		c, err = p.match(operator)
	default:
		return p.compare()
	}
	if err != nil {
		return c, err
	}

	op, isComparison := operators[p.token.text]
	if !isComparison || p.token.kind != identifier {
		return c, nil
	}
	if op != record.Equal && op != record.NotEqualTo {
		return c, p.refuse("a comparison of conditions")
	}
	if err := p.next(); err != nil {
		return c, err
	}
	if !p.is("true") && !p.is("false") {
		return c, p.fail("lacks true or false")
	}
	isNegated := p.is("false")
	if op == record.NotEqualTo {
		isNegated = !isNegated
	}
	if isNegated {
		c = query.Not(c)
	}
	return c, p.next()
}

// parenthesized reads a part in parentheses.
func (p *parser) parenthesized() (query.Condition, error) {
	if err := p.next(); err != nil {
		return never, err
	}
	c, err := p.nested(p.or)
	if err != nil {
		return never, err
	}
	return c, p.expect(")")
}

// count counts a comparison or a function with the result true or false.
func (p *parser) count() error {
	p.comparisons++
	if p.comparisons > maxComparisons {
		return p.fail("has more than " + itoa(maxComparisons) + " comparisons")
	}
	return nil
}

// calls reports whether a parenthesis follows the current identifier.
func (p *parser) calls() bool {
	return p.token.kind == identifier && strings.HasPrefix(p.lexer.text[p.lexer.at:], "(")
}

// match reads a function that compares a part of a text.
func (p *parser) match(operator record.Operator) (query.Condition, error) {
	name := p.token.text
	if err := p.count(); err != nil {
		return never, err
	}
	if err := p.enter(); err != nil {
		return never, err
	}
	field, literal, err := p.operand()
	if err != nil {
		return never, err
	}
	if err := p.expect(","); err != nil {
		return never, err
	}
	second := p.token
	otherField, value, err := p.operand()
	if err != nil {
		return never, err
	}

	if literal.kind != end || otherField >= 0 {
		return never, p.refuse(name + " of other than a field and a text")
	}
	if p.kind.Fields[field].Type.Stored() != record.Text || value.kind != text {
		p.token = second
		return never, p.fail(name + " must have a field of type string and a text such as 'a'")
	}
	if utf8.RuneCountInString(value.text) > query.MaxPattern {
		return never, p.fail("has a text of more than " + itoa(query.MaxPattern) + " characters")
	}
	return exactly(valueOf(value.text)).compare(field, operator), p.expect(")")
}

// enter reads the name of a function and the parenthesis after it.
func (p *parser) enter() error {
	if err := p.next(); err != nil {
		return err
	}
	return p.next()
}

// operand reads a field, or else a literal; field is -1 then.
func (p *parser) operand() (field int, literal token, err error) {
	literal = p.token
	switch {
	case p.negates():
		return -1, literal, p.refuse("the operator -")
	case literal.kind == end || literal.kind == sign:
		return -1, literal, p.fail("lacks a field or a value")
	case literal.kind != identifier:
		return -1, literal, p.next()
	case p.calls():
		return p.folded()
	case slices.Contains([]string{"true", "false", "null"}, literal.text):
		return -1, literal, p.next()
	case strings.HasPrefix(literal.text, "@"):
		return -1, literal, p.refuse("a parameter alias")
	case strings.HasPrefix(p.lexer.text[p.lexer.at:], "'"):
		// Earlier versions of OData have datetime'2019-05-01T00:00:00'.
		return -1, literal, p.fail("must have dates and GUIDs without a prefix and quotes, such as 2019-05-01,")
	}
	field, err = fieldOf(p.kind, optionFilter, literal.text)
	if err != nil {
		return field, token{}, err
	}
	return field, token{}, p.next()
}

// negates reports whether the current token is a minus sign before an expression. A number
// has its sign in its token, so that before a digit the number cannot be read.
func (p *parser) negates() bool {
	after := p.lexer.text[p.lexer.at:]
	if !p.is("-") || strings.TrimLeft(after, " \t") == "" {
		return false
	}
	return !strings.ContainsAny(after[:1], ".0123456789")
}

// folded reads tolower or toupper of an operand.
func (p *parser) folded() (field int, literal token, err error) {
	if !slices.Contains(folding, p.token.text) {
		return -1, p.token, p.refuse("the function " + printable(p.token.text))
	}
	if err := p.enter(); err != nil {
		return -1, literal, err
	}
	argument := p.token
	field, literal, err = p.operand()
	if err != nil {
		return field, literal, err
	}
	if err := p.expect(")"); err != nil {
		return field, literal, err
	}
	if field < 0 && literal.kind == text {
		return field, literal, nil
	}
	if field < 0 || p.kind.Fields[field].Type.Stored() != record.Text {
		p.token = argument
		return field, literal, p.fail("must have a text in tolower and toupper")
	}
	p.folds = true
	p.filter.Folded = append(p.filter.Folded, field)
	return field, literal, nil
}

// compare reads a comparison of a field with a literal, or the name of a field that is true or
// false, or one of these constants.
func (p *parser) compare() (query.Condition, error) {
	if err := p.count(); err != nil {
		return never, err
	}
	p.folds = false
	field, literal, err := p.operand()
	if err != nil {
		return never, err
	}
	if p.is("in") {
		return p.list(field)
	}
	op, isComparison := operators[p.token.text]
	if !isComparison || p.token.kind != identifier {
		return p.uncompared(field, literal)
	}

	if err := p.next(); err != nil {
		return never, err
	}
	otherField, otherLiteral, err := p.operand()
	if err != nil {
		return never, err
	}
	if field >= 0 && otherField >= 0 {
		return never, p.refuse("a comparison of two fields")
	}
	if field < 0 && otherField < 0 {
		return never, p.refuse("a comparison of two values")
	}
	if field < 0 {
		return p.literal(otherField, mirrored[op], literal)
	}
	return p.literal(field, op, otherLiteral)
}

// uncompared returns the condition of an operand without a comparison after it: a field that is
// true or false, or one of these constants.
func (p *parser) uncompared(field int, literal token) (query.Condition, error) {
	if p.token.kind == identifier && slices.Contains(notOffered, p.token.text) {
		return never, p.refuse("the operator " + p.token.text)
	}
	if field >= 0 && p.kind.Fields[field].Type == record.Bool {
		return p.literal(field, record.Equal, token{kind: identifier, text: "true"})
	}
	isConstant := literal.kind == identifier && literal.text != "null"
	if field >= 0 || !isConstant {
		return never, p.fail("lacks a comparison such as eq")
	}
	if literal.text == "true" {
		return always, nil
	}
	return never, nil
}

// list reads the operator in and its list of values, which the value of a field must be one of.
func (p *parser) list(field int) (query.Condition, error) {
	if field < 0 {
		return never, p.refuse("the operator in of a value")
	}
	if err := p.next(); err != nil {
		return never, err
	}
	if err := p.expect("("); err != nil {
		return never, err
	}

	var equal []query.Condition
	hasNext := !p.is(")")
	for hasNext {
		otherField, value, err := p.operand()
		if err != nil {
			return never, err
		}
		if otherField >= 0 {
			return never, p.refuse("a comparison of two fields")
		}
		c, err := p.literal(field, record.Equal, value)
		if err != nil {
			return never, err
		}
		equal = append(equal, c)
		hasNext, err = p.skip(",")
		if err != nil {
			return never, err
		}
	}
	if err := p.expect(")"); err != nil {
		return never, err
	}
	return p.anyOf(field, equal)
}

// anyOf joins comparisons of a field. Those with one value each become one condition, which
// the database evaluates faster than a join. A text without regard to case has no such
// condition.
func (p *parser) anyOf(field int, equal []query.Condition) (query.Condition, error) {
	in := query.Condition{Field: field, Operator: record.In}
	joined := query.Condition{Join: query.Or}
	for _, c := range equal {
		isValue := c.Join == query.Leaf && c.Operator == record.Equal && !c.Folded
		switch {
		case isValue && p.kind.Fields[field].Filter.Allows(record.In):
			in.Operands = append(in.Operands, c.Operands...)
		case c.Join == query.Or: // never
			joined.Parts = append(joined.Parts, c.Parts...)
		default:
			joined.Parts = append(joined.Parts, c)
		}
	}
	if len(in.Operands) > query.MaxIn {
		return never, p.fail("has a list of more than " + itoa(query.MaxIn) + " values")
	}
	if len(in.Operands) == 1 {
		in.Operator = record.Equal
	}
	if len(in.Operands) > 0 {
		joined.Parts = append(joined.Parts, in)
	}
	for range joined.Parts {
		if err := p.count(); err != nil {
			return never, err
		}
	}
	if len(joined.Parts) == 1 {
		return joined.Parts[0], nil
	}
	return joined, nil
}

// literal returns the condition that compares a field with a literal. Null equals itself only;
// the other comparisons with it are false.
func (p *parser) literal(field int, op record.Operator, literal token) (query.Condition, error) {
	f := p.kind.Fields[field]
	if literal.kind == identifier && literal.text == "null" {
		switch op {
		case record.NotEqualTo:
			return query.Condition{Field: field, Operator: record.IsNotNull}, nil
		case record.GreaterThan, record.LessThan:
			return never, nil
		}
		return query.Condition{Field: field, Operator: record.IsNull}, nil
	}
	accepted, ok := literals[f.Type]
	if !ok {
		accepted = literals[f.Type.Stored()]
	}
	if literal.kind != accepted.kind {
		p.token = literal
		return never, p.fail("must compare " + f.Name + " with " + accepted.example)
	}
	if accepted.equal && op != record.Equal && op != record.NotEqualTo {
		return never, p.fail("can compare " + f.Name + " by eq and ne only")
	}
	s, err := p.clock.span(f.Type, literal)
	if err != nil {
		p.token = literal
		return never, p.fail("has a value of " + f.Name + " that " + err.Error())
	}
	c := s.compare(field, op)
	c.Folded = p.folds
	return c, nil
}

// unexpected returns the error for text after a complete filter.
func (p *parser) unexpected() error {
	if p.token.kind == identifier && slices.Contains(notOffered, p.token.text) {
		return p.refuse("the operator " + p.token.text)
	}
	return p.fail("lacks and, or, or a comparison")
}
