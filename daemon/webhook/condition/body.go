package condition

import (
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// Body is the body of an event. It is decoded once, by the first condition that is evaluated.
type Body struct {
	Data   []byte
	Change *Change // change of a captured event; nil for a posted one

	objects map[string]*object // keyed by the member of the body that has it
	op      string
	names   []string // the fields that have changed
}

// Change has facts about the changes of a record kind at a time.
type Change struct {
	Fields []string // that are captured
	Kept   []string // those with known values before the change

	// Collations has the names of the collations in the database with which it compares the
	// texts of fields.
	Collations map[string]string
}

// object is a JSON object.
type object struct {
	members []query.Member
	valid   bool
	looked  int            // number of look-ups
	at      map[string]int // keyed by name, after many
}

// manyLooks is the number of look-ups from which a map is faster than a linear search.
const manyLooks = 32

// Guesses for the sizes of objects.
const (
	membersOfChange = 10
	minMember       = 32 // bytes
)

// newObject reads an object with about n members.
func newObject(text string, n int) *object {
	o := &object{members: make([]query.Member, 0, n)}
	err := query.EachJSON(text, func(m query.Member) error {
		o.members = append(o.members, m)
		return nil
	})
	o.valid = err == nil
	return o
}

// get returns a member of a valid object. Of several with one name it is the last.
func (o *object) get(name string) (m query.Member, found bool) {
	if !o.valid {
		return m, false
	}
	o.looked++
	if o.looked == manyLooks {
		o.at = make(map[string]int, len(o.members))
		for i := range o.members {
			o.at[o.members[i].Name] = i
		}
	}
	if o.at != nil {
		i, found := o.at[name]
		if found {
			m = o.members[i]
		}
		return m, found
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].Name == name {
			return o.members[i], true
		}
	}
	return m, false
}

// Members of the body of a change.
const (
	recordObject = "Record"
	keyObject    = "KeyFields"
	beforeObject = "Before"
)

// object returns an object of the body, that of the whole body by an empty name.
func (b *Body) object(name string) *object {
	if b.objects == nil {
		whole := newObject(string(b.Data), membersOfChange)
		b.objects = map[string]*object{"": whole}
		if op, _ := whole.get("Op"); len(op.Texts) == 1 {
			b.op = op.Texts[0]
		}
		changed, _ := whole.get("Changed")
		b.names = changed.Texts
	}
	o := b.objects[name]
	if o == nil {
		part, _ := b.objects[""].get(name)
		o = newObject(part.Raw, len(part.Raw)/minMember)
		b.objects[name] = o
	}
	return o
}

// changed reports whether a field has changed.
func (b *Body) changed(field string) bool {
	b.object("")
	return b.op == wire.OpUpdated && slices.Contains(b.names, field)
}

// collation returns the collation of a text field; of posted events it is the usual one.
func (b *Body) collation(field string) collation {
	if b.Change == nil {
		return usual
	}
	return collationOf(b.Change.Collations[field])
}

// value returns the value of a field or member, after or before the change. present is false
// for null; known is false if that is not known either.
func (b *Body) value(name string, before bool) (m query.Member, present, known bool) {
	body := b.object("")
	switch {
	case b.Change == nil:
		m, present = body.get(name)
		known = body.valid
	case !before && b.op != wire.OpDeleted:
		m, present = b.object(recordObject).get(name)
		known = present || slices.Contains(b.Change.Fields, name)
	case before && b.op != wire.OpUpdated:
	default:
		m, present = b.object(keyObject).get(name)
		if present {
			return m, true, true
		}
		m, present = b.object(beforeObject).get(name)
		known = slices.Contains(b.Change.Kept, name)
	}
	return m, present && m.Raw != "null", known
}
