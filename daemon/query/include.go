package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// maxAggregates is the maximum number of aggregates in one request.
const maxAggregates = 50

// The commands of Include that are not functions.
const (
	total   = "Total"
	noTotal = "NoTotal"
)

// include reads the commands of Include, up to the first invalid one.
func (p *parser) include(m Member) {
	if m.Other {
		p.fail(m.Name, "must be a list of commands")
		return
	}
	for text := range strings.SplitSeq(strings.Join(m.Texts, ","), ",") {
		if !p.command(m.Name, strings.TrimSpace(text)) {
			return
		}
	}
}

// command reads one command and reports whether to continue.
func (p *parser) command(member, text string) bool {
	switch {
	case text == "":
	case strings.EqualFold(text, total):
		p.req.Total = max(p.req.Total, TotalOn)
		p.totalGiven = true
	case strings.EqualFold(text, noTotal):
		p.req.Total = TotalOff // overrides every other command
	default:
		return p.function(member, text)
	}
	return true
}

// function matches FUNCTION([DISTINCT] argument) with an optional alias.
var function = regexp.MustCompile(`(?i)^([a-z]+)\s*\(\s*(distinct\s+)?(\*|\w+)\s*\)(?:\s+(?:as\s+)?(\w+))?$`)

// function reads a function and reports whether to continue.
func (p *parser) function(member, text string) bool {
	part := function.FindStringSubmatch(text)
	if part == nil {
		p.ignore(unknown{member: member, part: text})
		return true
	}
	word := part[1]
	argument := part[3]
	alias := part[4]
	f := slices.Index(functions[:], strings.ToUpper(word))
	if f < 0 {
		p.ignore(unknown{member: member, part: text})
		return true
	}
	a := Aggregate{
		Function: Function(f),
		Distinct: part[2] != "",
		Field:    AllRows,
		Name:     cmp.Or(alias, text),
		Alias:    alias != "",
	}
	countsRows := argument == "*" && a.Function == Count && !a.Distinct
	if countsRows {
		p.req.Total = max(p.req.Total, TotalOn)
	} else if !p.argument(member, argument, &a) {
		return false
	}
	return p.addAggregate(member, a)
}

// addAggregate adds an aggregate to the request, and fails if another one has its name.
func (p *parser) addAggregate(member string, a Aggregate) bool {
	// A name occurs once in Meta: a function that is repeated counts once.
	hasName := func(b Aggregate) bool { return b.Name == a.Name }
	if i := slices.IndexFunc(p.req.Include, hasName); i >= 0 && p.req.Include[i] != a {
		p.fail(member, "has two functions with the name %s; give each function its own alias", a.Name)
		return false
	}
	p.req.Include = slices.DeleteFunc(p.req.Include, hasName)
	if len(p.req.Include) == maxAggregates {
		p.fail(member, "takes at most %d functions", maxAggregates)
		return false
	}
	p.req.Include = append(p.req.Include, a)
	return true
}

// metaNames are the members of Meta that responses have in addition to the functions of Include.
var metaNames = []struct{ name, meaning string }{
	{Next, "the cursor"},
	{NotCounted, "the notice that the rows were not counted"},
	{TotalAge, "the age of the total"},
	{wire.MetaToken, "the token of a copy"},
	{wire.MetaHeld, "the reason why messages are held"},
}

// aliases rejects aliases that are names of other members of Meta. Groups have none of their
// functions in Meta.
func (p *parser) aliases() {
	for _, a := range p.req.Include {
		for _, m := range metaNames {
			if !a.Alias || !strings.EqualFold(a.Name, m.name) {
				continue
			}
			// Whether the rows were counted is only in doubt if the settings decide about it.
			isFree := m.name == NotCounted && p.req.Total != TotalDefault
			if !isFree {
				p.fail(Include, "has the alias %s, which is the name of %s in Meta; use another one", a.Name, m.meaning)
			}
		}
	}
}

// argument finds the field of a function, and fails if the function is not defined
// for its type.
func (p *parser) argument(member, name string, a *Aggregate) bool {
	field, ok := p.req.Kind.Column(name)
	if !ok {
		p.unknownField(member, name)
		return false
	}
	a.Field = field
	t := p.req.Kind.Fields[field].Type
	if !a.Function.accepts(t) {
		p.fail(member, "has %s of %s, which is %s", a.Function, p.req.Kind.Fields[field].Name, t)
		return false
	}
	return true
}
