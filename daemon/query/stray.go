package query

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

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
	near := record.Near(strings.TrimSpace(name), names)
	if len(near) == 0 {
		return ""
	}
	return "; near: " + strings.Join(near, ", ")
}
