package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// Member is one named value of a request from path, query string or body.
type Member struct {
	Name  string
	Texts []string // one text, or the items of a list
	List  bool     // the items are separate: a JSON array
	Empty bool     // present without a value, which means "not given"
	Other bool     // an object or a nested list, which no filter can read

	// Raw is the value as in a JSON or JSV body. It is empty for other formats, where Texts has
	// the JSON of Other.
	Raw string

	// Replaced are the names of members before it in the body, in another letter case and with
	// another value.
	Replaced []string
}

// hasNoValue reports whether a member is present without a value.
func (m Member) hasNoValue() bool {
	return m.Empty || (len(m.Texts) == 0 && !m.Other)
}

// isNull reports whether a member is a JSON null, which is as if it was not given: typed clients send
// nulls for members that are not set.
func (m Member) isNull() bool { return m.Raw == "null" }

// Members are a request's members. Names are unique, ignoring letter case.
type Members []Member

// Get returns the member with the name, ignoring letter case.
func (m Members) Get(name string) (Member, bool) {
	if i := m.index(name); i >= 0 {
		return m[i], true
	}
	return Member{}, false
}

func (m Members) index(name string) int {
	return slices.IndexFunc(m, func(member Member) bool { return SameName(member.Name, name) })
}

// SameName reports whether two names of members are the same, ignoring letter case. All code that
// looks for members by name must use this rule or Members.Get: with another one, a member could be
// accepted as known and then not be found.
func SameName(a, b string) bool {
	if isASCII(a) && isASCII(b) { // cheaper than foldName
		return len(a) == len(b) && strings.EqualFold(a, b)
	}
	return foldName(a) == foldName(b) // EqualFold distinguishes i from İ, and not s from ſ
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Text returns a member's single text, empty if it is not given.
func (m Members) Text(name string) string {
	if member, ok := m.Get(name); ok && len(member.Texts) > 0 {
		return member.Texts[0]
	}
	return ""
}

// Union merges the members of path, query string and body, in this order of
// precedence. A member without a value does not hide one with a value.
func Union(path, query, body Members) Members {
	if len(path) == 0 && len(query) == 0 {
		return body
	}
	if len(path) == 0 && len(body) == 0 {
		return query
	}
	var all collector
	for _, source := range []Members{path, query, body} {
		for _, m := range source {
			i := all.index(m.Name)
			if i < 0 {
				all.append(m)
			} else if all.members[i].Empty {
				all.members[i] = m
			}
		}
	}
	return all.members
}

// collector collects members. It finds a member by its name in constant time: a body
// of a megabyte may have a hundred thousand.
type collector struct {
	members Members
	byName  map[string]int // built when there are many
}

// manyMembers is the number of members from which a map is faster than a linear
// search.
const manyMembers = 32

func (c *collector) index(name string) int {
	if c.byName == nil {
		return c.members.index(name)
	}
	if i, ok := c.byName[foldName(name)]; ok {
		return i
	}
	return -1
}

func (c *collector) append(m Member) {
	c.members = append(c.members, m)
	if len(c.members) < manyMembers {
		return
	}
	if c.byName == nil {
		c.byName = make(map[string]int)
		for i, member := range c.members {
			c.byName[foldName(member.Name)] = i
		}
	}
	c.byName[foldName(m.Name)] = len(c.members) - 1
}

// add appends a member with a new name.
func (c *collector) add(m Member) error {
	if c.index(m.Name) >= 0 {
		return malformed("duplicate member %s in the body", Printable(m.Name))
	}
	c.append(m)
	return nil
}

// set appends a member, or replaces one with the same name in another letter case, as the
// reference service does.
func (c *collector) set(m Member) error {
	i := c.index(m.Name)
	if i < 0 || c.members[i].Name == m.Name {
		return c.add(m)
	}
	before := c.members[i]
	m.Replaced = before.Replaced
	if m.Raw != before.Raw {
		m.Replaced = append(m.Replaced, before.Name)
	}
	c.members[i] = m
	return nil
}

// Replaced returns the names of the members of a body that others in another letter case have
// replaced.
func (m Members) Replaced() (names []string) {
	for _, member := range m {
		names = append(names, member.Replaced...)
	}
	return names
}

// foldName returns a name in lower case, by the rule of record.Kind: with another
// rule an unknown name could hide a known one.
func foldName(name string) string { return strings.ToLower(name) }

func malformed(format string, args ...any) error {
	return fault.New(fault.Malformed, format, args...)
}

// Printable returns part of a request for a message: short, printable and on one
// line.
func Printable(text string) string {
	const maxLength = 60
	var b strings.Builder
	count := 0
	for _, r := range text {
		count++
		if count > maxLength {
			return b.String() + "..."
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// headerSafe returns text for a list in a header: ASCII, without the comma that
// separates the items.
func headerSafe(text string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' || r == ',' {
			return '?'
		}
		return r
	}, Printable(text))
}

// items returns the operands of a list operator as texts. Each value of a repeated
// name may be a list.
func (m Member) items(t record.Type) ([]string, error) {
	if m.List {
		return m.Texts, nil
	}
	split := SplitList
	if t == record.Byte {
		split = byteItems
	}
	var all []string
	for _, text := range m.Texts {
		if text == "" && t == record.Text && m.Raw != "" {
			all = append(all, "") // of JSON, where an empty text is a value; in XML it is an empty list
			continue
		}
		items, err := split(text)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}

// repeat adds a pair to the member of its name.
func (c *collector) repeat(name, text string) {
	i := c.index(name)
	if i < 0 {
		i = len(c.members)
		c.append(Member{Name: name, Empty: true})
	}
	if text != "" {
		c.members[i].Texts = append(c.members[i].Texts, text)
		c.members[i].Empty = false
	}
}
