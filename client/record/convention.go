package record

import "strings"

// Convention is a set of additional names for an operator, one of AutoQuery's implicit
// conventions. In a name, % is the place of a field; if there are two, the field is at one of
// them: %Above% means both AboveQuantity and QuantityAbove.
type Convention struct {
	Operator Operator
	Names    []string
}

// Conventions returns the implicit conventions.
//
// They are the defaults of AutoQueryFeature.ImplicitConventions in ServiceStack v5.4
// (src/ServiceStack.Server/AutoQueryFeature.cs), without the suffixes of the published
// interface, such as %GreaterThan, and with IsNull and IsNotNull of v6. As in ServiceStack,
// "Field>" is strict and ">Field" is not, because a URL with "Field>=5" has the name "Field>".
func Conventions() []Convention {
	return []Convention{
		{GreaterThan, []string{
			"%>", "%Above%", "Begin%", "%Beyond%", "%Over%", "%OlderThan", "%After%", "GreaterThan%",
		}},
		{GreaterThanOrEqualTo, []string{
			">%", "OnOrAfter%", "%From%", "Since%", "Start%", "%Higher%", "GreaterThanOrEqualTo%",
		}},
		{LessThan, []string{
			"<%", "Behind%", "%Below%", "%Under%", "%Lower%", "%Before%", "%YoungerThan", "LessThan%",
		}},
		{LessThanOrEqualTo, []string{
			"%<", "OnOrBefore%", "End%", "Stop%", "To%", "Until%", "LessThanOrEqualTo%",
		}},
		{NotEqualTo, []string{"%!"}},
		{Like, []string{"%Like%"}},
		{In, []string{"%In", "%Ids"}},
		{Between, []string{"%Between%"}},
		{IsNull, []string{"%IsNull"}},
		{IsNotNull, []string{"%IsNotNull"}},
	}
}

// affix is the text before or after the field in a name of a convention.
type affix struct {
	text     string // in lower case
	operator Operator
}

// prefixes and suffixes are the affixes of all conventions.
var prefixes, suffixes = affixes(Conventions())

func affixes(conventions []Convention) (before, after []affix) {
	for _, c := range conventions {
		for _, name := range c.Names {
			a := affix{strings.ToLower(strings.Trim(name, "%")), c.Operator}
			if strings.HasSuffix(name, "%") {
				before = append(before, a)
			}
			if strings.HasPrefix(name, "%") {
				after = append(after, a)
			}
		}
	}
	return before, after
}

// conventional resolves a name, in lower case, by the conventions. The longest field
// takes precedence, then prefixes as in ServiceStack.
func (k *Kind) conventional(name string) (Member, bool) {
	longest := "" // the longest field so far
	operator := Equal
	for _, a := range prefixes {
		field, hasPrefix := strings.CutPrefix(name, a.text)
		if hasPrefix && k.isLongerField(field, longest) {
			longest = field
			operator = a.operator
		}
	}
	for _, a := range suffixes {
		field, hasSuffix := strings.CutSuffix(name, a.text)
		if hasSuffix && k.isLongerField(field, longest) {
			longest = field
			operator = a.operator
		}
	}
	if longest == "" {
		return Member{}, false
	}
	return k.member(k.fields[longest], operator), true
}

// isLongerField reports whether a name, in lower case, is a field and longer than another one.
func (k *Kind) isLongerField(name, other string) bool {
	_, isField := k.fields[name]
	return isField && len(name) > len(other)
}

// signs are the characters of comparisons, which no field has in its name.
const signs = "<>!"

// Compared returns the field of a name that is neither a field nor a filter but has a
// field or a filter next to one of the signs < > !, such as Quantity<> or Quantity>5. It
// is a filter that cannot be read.
func (k *Kind) Compared(name string) (field int, ok bool) {
	if !strings.ContainsAny(name, signs) {
		return 0, false
	}
	isSign := func(r rune) bool { return strings.ContainsRune(signs+"=", r) }
	for part := range strings.FieldsFuncSeq(name, isSign) {
		if m, ok := k.Member(strings.TrimSpace(part)); ok {
			return m.Field, true
		}
	}
	return 0, false
}
