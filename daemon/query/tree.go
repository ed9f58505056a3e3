package query

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Limits of bodies that are read as trees.
const (
	maxNodes = 20_000
	maxDepth = 32
)

// node is a value of a format without types: a text, null, a list or an object.
type node struct {
	name     string // empty for an item of a list
	text     []byte
	null     bool
	children []*node
}

// structured reports whether there is no text between the children.
func (n *node) structured() bool { return len(bytes.TrimSpace(n.text)) == 0 }

// list makes the children items of a list if all of their names are those of items.
func (n *node) list(isItem func(name string) bool) {
	if slices.ContainsFunc(n.children, func(child *node) bool { return !isItem(child.name) }) {
		return
	}
	for _, child := range n.children {
		child.name = ""
	}
}

func (n *node) isList() bool { return len(n.children) > 0 && n.children[0].name == "" }

// value returns the value for encoding/json.
func (n *node) value() any {
	switch {
	case n.null:
		return nil
	case len(n.children) == 0:
		return string(n.text)
	case n.isList():
		list := make([]any, len(n.children))
		for i, child := range n.children {
			list[i] = child.value()
		}
		return list
	}
	object := make(map[string]any)
	for _, child := range n.children {
		object[child.name] = child.value()
	}
	return object
}

// member returns the node as a member.
func (n *node) member() Member {
	m := Member{Name: n.name, Empty: n.null, List: n.isList()}
	if n.null {
		m.Raw = "null"
		return m
	}
	if len(n.children) == 0 {
		m.Texts = []string{string(n.text)}
		return m
	}

	m.Other = !m.List
	for _, child := range n.children {
		m.Other = m.Other || child.null || len(child.children) > 0
		m.Texts = append(m.Texts, string(child.text))
	}
	if m.Other {
		text, _ := json.Marshal(n.value()) // texts, lists and objects can always be encoded
		m.Texts = []string{string(text)}
	}
	return m
}

// members adds the children as members.
func (n *node) members(all *collector) (Members, error) {
	for _, child := range n.children {
		if err := all.add(child.member()); err != nil {
			return nil, err
		}
	}
	return all.members, nil
}

// pairs collects the pairs of a form. Names with brackets, as PHP sends them, make
// lists and objects: List[]=a, Headers[0][Name]=X.
type pairs struct {
	collector
	tree  node
	count int // nodes of the tree
	named map[place]*node
}

// place is the place of a node in a tree.
type place struct {
	parent *node
	name   string
}

// add adds a pair.
func (p *pairs) add(name, text string) error {
	base, keys, _ := strings.Cut(name, "[")
	keys, closed := strings.CutSuffix(keys, "]")
	if base == "" || !closed {
		p.repeat(name, text)
		return nil
	}
	if p.named == nil {
		p.named = make(map[place]*node)
	}
	leaf := &p.tree
	for key := range strings.SplitSeq(base+"]["+keys, "][") {
		child, isNew := p.child(leaf, key)
		isTooLarge := p.count > maxNodes || strings.Count(keys, "[") >= maxDepth
		if isNew && isTooLarge {
			return malformed("a form must have at most %d names with brackets, nested at most %d deep",
				maxNodes, maxDepth)
		}
		if len(child.text) > 0 {
			return malformed("duplicate member %s in the form", Printable(name))
		}
		leaf = child
	}
	leaf.text = []byte(text)
	if len(leaf.children) > 0 {
		return malformed("duplicate member %s in the form", Printable(name))
	}
	return nil
}

// child returns the child of a node with a name, which it adds if there is none. A child without a
// name is always a new one.
func (p *pairs) child(parent *node, name string) (child *node, isNew bool) {
	position := place{parent, foldName(name)}
	child = p.named[position]
	if child != nil && name != "" {
		return child, false
	}
	child = &node{name: name}
	p.count++
	p.named[position] = child
	parent.children = append(parent.children, child)
	return child, true
}

// finish returns all members.
func (p *pairs) finish() (Members, error) {
	for _, child := range p.tree.children {
		child.lists()
	}
	return p.tree.members(&p.collector)
}

// lists makes lists of objects with numbers as names. Empty items are not given.
func (n *node) lists() {
	n.list(func(name string) bool { return strings.Trim(name, "0123456789") == "" })
	for _, child := range n.children {
		child.lists()
	}
	if n.isList() {
		isEmpty := func(child *node) bool { return len(child.children)+len(child.text) == 0 }
		n.children = slices.DeleteFunc(n.children, isEmpty)
		n.null = len(n.children) == 0
	}
}
