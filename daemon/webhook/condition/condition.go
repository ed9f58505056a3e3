// Package condition parses the conditions of subscriptions and evaluates them for the
// bodies of events, with the comparisons of the embedded store. Texts of records are compared
// as queries of their columns do.
package condition

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/tsql"
)

// Member is the member of a subscription that has the condition.
const Member = "Where"

// Members of conditions besides those of queries.
const (
	changedMember = "Changed"
	beforePrefix  = "Before."
)

// MaxText is the maximum length of a condition in bytes, without spaces between its parts.
const MaxText = 8192

// maxHashed is the number of captured fields up to which changes name the changed ones.
const maxHashed = 128

// Condition selects events by their bodies. All of its parts must be met.
type Condition struct {
	text  string
	kind  *record.Kind
	parts []part
}

// part is one member of a condition.
type part struct {
	query.Condition
	member  string // its name
	field   record.Field
	before  bool          // compares the value before the change
	changed []string      // fields of which one must have changed; nil for a comparison
	pattern *tsql.Pattern // pattern of a comparison with LIKE

	exact func() *regexp.Regexp // the pattern with regard to letter case
}

// Options are the facts that a condition is parsed with.
type Options struct {
	Kind  *record.Kind   // kind of the records of captured events; nil for posted events
	Event string         // name or pattern of the events; empty for any
	Zone  *time.Location // to which dates with a zone are converted
	Wide  []string       // fields of columns that can have more than 4 KiB

	Stored bool // an earlier version accepted the condition; it keeps its meaning
}

// Parse parses a JSON object. The error lists all members that are wrong. An object without members
// is not a condition: the result is nil.
func Parse(text string, o Options) (*Condition, error) {
	noObject := invalid(fault.Field{Name: Member, Message: `must be an object, such as {"StatusIn":[1,2]}`})
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) != nil {
		return nil, noObject
	}
	if compact.Len() > MaxText { // before each member is compared with all others
		return nil, invalid(fault.Field{Name: Member, Message: fmt.Sprintf("must be at most %d bytes long", MaxText)})
	}
	members, err := o.members(text)
	if twice, ok := errors.AsType[twiceError](err); ok {
		return nil, invalid(fault.Field{Name: Member + "." + query.Printable(string(twice)), Message: "is there twice"})
	}
	if err != nil {
		return nil, noObject
	}
	if len(members) == 0 {
		return nil, nil
	}
	c := &Condition{text: compact.String(), kind: o.Kind}
	var wrong []fault.Field
	for _, m := range members {
		p, err := o.part(m)
		if err != nil {
			wrong = append(wrong, fault.Field{Name: Member + "." + query.Printable(m.Name), Message: err.Error()})
		}
		c.parts = append(c.parts, p)
	}
	if wrong == nil && !o.Stored {
		wrong = c.contradictions()
	}
	if wrong != nil {
		return nil, invalid(wrong...)
	}
	return c, nil
}

// twiceError is the error for two members of one name.
type twiceError string

func (e twiceError) Error() string { return string(e) + " is there twice" }

// members reads the members of a JSON object. A new condition cannot have a name twice; names of
// fields that differ in letter case are the same.
func (o Options) members(text string) (query.Members, error) {
	if o.Stored {
		return query.ReadJSON([]byte(text))
	}
	var members query.Members
	err := query.EachJSON(text, func(m query.Member) error {
		same := func(previous query.Member) bool {
			return previous.Name == m.Name || o.Kind != nil && strings.EqualFold(previous.Name, m.Name)
		}
		if slices.ContainsFunc(members, same) {
			return twiceError(m.Name)
		}
		members = append(members, m)
		return nil
	})
	return members, err
}

// invalid returns the error for wrong members, of which there is at least one.
func invalid(wrong ...fault.Field) error {
	return &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
}

// part parses a member.
func (o Options) part(m query.Member) (part, error) {
	p := part{member: cmp.Or(m.Name, `""`)} // not empty, since Unmet returns it
	var name string
	name, p.before = cutPrefix(m.Name, beforePrefix)
	isChanged := !p.before && strings.EqualFold(name, changedMember)
	if o.Kind == nil && (p.before || isChanged) {
		return p, errors.New("is only for events that are published for changes of records")
	}
	if !o.Stored && (p.before || isChanged) && !o.hasUpdates() {
		return p, fmt.Errorf("is never met: %s is not sent for updates, so no field has changed", o.Event)
	}
	if isChanged {
		var err error
		p.changed, err = o.changedFields(m)
		return p, err
	}
	if m.Empty && m.Raw == "null" {
		return p, errors.New("must have a value; for missing values there are IsNull and IsNotNull")
	}

	field, operator, err := o.fieldOf(m, name)
	p.field = field
	if err != nil {
		return p, err
	}
	if !o.Stored {
		err = o.checkNew(m, field, operator)
		if err != nil {
			return p, err
		}
	}
	comparesOrder := slices.Contains(ordering, operator)
	if comparesOrder && field.Type.Stored() == record.Text {
		return p, errors.New("compares the order of text, which depends on the database")
	}

	var hasValue bool
	p.Condition, hasValue, err = query.Filter(m, field, operator, o.Zone)
	if err != nil {
		return p, err
	}
	if !hasValue {
		return p, errors.New("must have a value: an empty list or value is never met")
	}
	p.compilePattern()
	return p, nil
}

// compilePattern prepares the comparison of an operator such as StartsWith.
func (p *part) compilePattern() {
	match := dialect.Matches[min(p.Operator, record.In)] // the operators from In on match no patterns
	if !match.IsLike() {
		return
	}
	pattern := match.Operand(p.Operands[0].Text)
	p.pattern = tsql.CompileLike(pattern)
	p.exact = sync.OnceValue(func() *regexp.Regexp { return tsql.CompileExactLike(pattern) })
}

// fieldOf returns the field and the operator of a member. name is that of the member without
// its prefix.
func (o Options) fieldOf(m query.Member, name string) (record.Field, record.Operator, error) {
	if o.Kind == nil {
		return posted(m)
	}
	return o.captured(name)
}

// checkNew returns an error for a member that earlier versions accepted, and a new condition
// cannot have.
func (o Options) checkNew(m query.Member, field record.Field, operator record.Operator) error {
	if m.Name == "" {
		return errors.New("is not possible: the member has no name")
	}
	if o.Kind == nil && strings.Contains(field.Name, ".") {
		return errors.New("is not possible: conditions compare only top-level members of the body")
	}
	if query.Denies(operator, m) {
		return fmt.Errorf("must be true; for the opposite use %s%s", field.Name, query.Opposite(operator).Suffix())
	}
	if operator.Arity() == record.None && m.Raw != "true" {
		return errors.New("must be true, without quotes")
	}
	if o.Kind == nil {
		return checkPosted(m, field, operator)
	}
	return nil
}

// hasUpdates reports whether some of the events may be of updated records.
func (o Options) hasUpdates() bool {
	isUpdate := strings.HasSuffix(strings.ToLower(o.Event), "."+wire.OpUpdated)
	return o.Event == "" || isUpdate || strings.HasSuffix(o.Event, "*")
}

// cutPrefix returns a name without a prefix in any letter case, and whether it has it.
func cutPrefix(name, prefix string) (string, bool) {
	if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
		return name[len(prefix):], true
	}
	return name, false
}

// ordering are the operators that compare the order of values.
var ordering = []record.Operator{
	record.GreaterThanOrEqualTo, record.GreaterThan, record.LessThan,
	record.LessThanOrEqualTo, record.Between,
}

// captured returns the field and the operator of a member of queries.
func (o Options) captured(name string) (record.Field, record.Operator, error) {
	m, ok := o.Kind.Member(name)
	if !ok {
		return record.Field{}, 0, o.unknown(name, o.Kind.Members())
	}
	return o.Kind.Fields[m.Field], m.Operator, o.checkField(m.Field)
}

func (o Options) unknown(name string, names []string) error {
	return fmt.Errorf("is unknown for %s%s", o.Kind.Name, record.DidYouMean(record.Suggest(name, names)))
}

// checkField returns an error if a condition cannot compare a field.
func (o Options) checkField(i int) error {
	field := o.Kind.Fields[i]
	in := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, field.Name) })
	}
	if in(o.Wide) {
		return fmt.Errorf("refers to %s, which can have more than 4 KiB", field.Name)
	}
	isListed := in(o.Kind.CaptureFields) && !in(o.Kind.Ignore)
	if isListed || in(o.Kind.Key) {
		return nil
	}
	// Without a list of fields, all others are captured, except bytes.
	if o.Kind.CaptureFields != nil || in(o.Kind.Ignore) || field.Type == record.Bytes {
		return fmt.Errorf("refers to %s, which is not captured", field.Name)
	}
	return nil
}

// changedFields parses the list of fields of which one must have changed.
func (o Options) changedFields(m query.Member) ([]string, error) {
	list := m.Texts
	if !m.List {
		list = strings.Split(strings.Join(m.Texts, ","), ",")
	}
	if m.Other || m.Empty || len(list) == 0 || slices.Contains(list, "") {
		return nil, errors.New("must be a field or a list of fields")
	}
	var names []string
	for _, name := range list {
		i, ok := o.Kind.Column(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("refers to %s, which %w", query.Printable(name), o.unknown(name, o.Kind.FieldNames()))
		}
		if len(o.Kind.CaptureFields) == 0 && len(o.Kind.Fields)-len(o.Kind.Ignore) > maxHashed {
			return nil, fmt.Errorf("is not known for %s, which has more than %d captured fields; capture_fields can name fewer",
				o.Kind.Name, maxHashed)
		}
		err := o.checkField(i)
		if err != nil {
			return nil, err
		}
		names = append(names, o.Kind.Fields[i].Name)
	}
	return names, nil
}

// posted returns the field and the operator of a member of a posted event. The name ends
// with an operator, in its letter case, and the type is that of the operand; for lists there
// are In and Between, which are no operators for other values.
func posted(m query.Member) (f record.Field, o record.Operator, err error) {
	f.Name = m.Name
	for _, operator := range append(record.Operators()[1:], record.IsNull, record.IsNotNull) {
		takesList := operator == record.In || operator == record.Between
		name, ends := strings.CutSuffix(m.Name, operator.Suffix())
		if ends && name != "" && takesList == m.List {
			f.Name = name
			o = operator
			break
		}
	}
	items := []json.RawMessage{json.RawMessage(m.Raw)}
	if m.List && json.Unmarshal([]byte(m.Raw), &items) != nil {
		return f, o, errors.New("must be a list of values")
	}
	for i, item := range items {
		t := jsonType(string(item))
		if i > 0 && t != f.Type {
			return f, o, errors.New("must be a list of values of one type")
		}
		f.Type = t
	}
	f.Filter = f.Type.Filter()
	return f, o, nil
}

// jsonType returns the type of a JSON scalar.
func jsonType(raw string) record.Type {
	switch raw[0] {
	case 't', 'f':
		return record.Bool
	case '"', '[', '{', 'n':
		return record.Text
	}
	return record.Decimal
}

// String returns the condition as JSON; empty for none.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return c.text
}

// Kind returns the record kind of the events; nil for posted events.
func (c *Condition) Kind() *record.Kind { return c.kind }

// Needs returns the fields that are compared with their values before a change, without fields of
// the key, which never change; if the condition is for deletions, it includes the fields that are
// compared in deleted records.
func (c *Condition) Needs(deleted bool) (names []string) {
	isKey := func(field string) bool {
		return slices.ContainsFunc(c.kind.Key, func(name string) bool { return strings.EqualFold(name, field) })
	}
	for _, p := range c.parts {
		comparesBefore := p.changed == nil && (p.before || deleted)
		if comparesBefore && !isKey(p.field.Name) {
			names = append(names, p.field.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Unmet returns the first member that an event does not meet; empty if it meets all. An event
// that is posted does not meet the condition of changed records, and the reverse.
func (c *Condition) Unmet(b *Body) string {
	isOtherSource := (b.Change != nil) != (c.kind != nil)
	for i := range c.parts {
		p := &c.parts[i]
		if isOtherSource || !p.met(b) {
			return p.member
		}
	}
	return ""
}

func (p *part) met(b *Body) bool {
	if p.changed != nil {
		return slices.ContainsFunc(p.changed, b.changed)
	}
	m, present, known := b.value(p.field.Name, p.before)
	switch {
	case p.Operator == record.IsNull:
		return known && !present
	case p.Operator == record.IsNotNull:
		return known && present
	case !known || !present:
		return false
	}
	v, ok := p.read(m)
	if !ok {
		return false
	}
	return p.matches(v, b.collation(p.field.Name))
}

// matches reports whether a value meets a comparison. The collation is that of a text.
func (p *part) matches(v wire.Value, c collation) bool {
	equal := func(to wire.Value) bool {
		if p.field.Type == record.Text {
			return c.equal(v.Text, to.Text)
		}
		return p.compare(v, to) == 0
	}
	switch p.Operator {
	case record.Equal, record.In:
		return slices.ContainsFunc(p.Operands, equal)
	case record.NotEqualTo:
		return !equal(p.Operands[0])
	case record.GreaterThanOrEqualTo:
		return p.compare(v, p.Operands[0]) >= 0
	case record.GreaterThan:
		return p.compare(v, p.Operands[0]) > 0
	case record.LessThan:
		return p.compare(v, p.Operands[0]) < 0
	case record.LessThanOrEqualTo:
		return p.compare(v, p.Operands[0]) <= 0
	case record.Between:
		return p.compare(v, p.Operands[0]) >= 0 && p.compare(v, p.Operands[1]) <= 0
	}
	if c == exactCase {
		return p.exact().MatchString(v.Text)
	}
	return p.pattern.Match([]byte(v.Text))
}

// read returns the value of a body's member; ok is false if it has another type.
func (p *part) read(m query.Member) (v wire.Value, ok bool) {
	t := p.field.Type
	want := record.Text
	if t.Number() {
		want = record.Decimal
	} else if t == record.Bool {
		want = t
	}
	if m.List || m.Other || jsonType(m.Raw) != want {
		return v, false
	}
	switch t {
	case record.Text, record.DateTime, record.Guid: // compared as they are stored
		return wire.Value{Text: m.Texts[0]}, true
	}
	v, err := wire.ParseValue(t, m.Texts[0], time.UTC)
	return v, err == nil
}

// compare compares two values as the embedded store does. Texts have a collation instead.
func (p *part) compare(a, b wire.Value) int {
	switch p.field.Type {
	case record.Decimal:
		return tsql.CompareDecimalStrings(a.Text, b.Text)
	case record.Double:
		x, _ := strconv.ParseFloat(a.Text, 64) // both are valid
		y, _ := strconv.ParseFloat(b.Text, 64)
		return cmp.Compare(x, y)
	case record.DateTime, record.Guid:
		return strings.Compare(a.Text, b.Text)
	}
	return cmp.Compare(a.Int, b.Int)
}
