package query

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
)

// placeForm is the form of the places in cursors. Those of earlier versions lack the classes of
// values.
const placeForm = 2

// Place is the place of a page in a query: the query, and the last row before the page.
type Place struct {
	Form      int         // placeForm
	Where     []Condition `json:",omitzero"` // conditions of the members
	Path      []Condition `json:",omitzero"` // conditions of the request's path
	Requested []Order     `json:",omitzero"`
	Order     []Order     // Requested and the whole key
	Fields    []int       `json:",omitzero"`
	After     []Position  `json:",omitzero"` // the values of Order in the last row; nil for the first page

	// Unchecked are the fields of the key that the table lets be null, although they are of its
	// primary key: see package executor.
	Unchecked []int `json:",omitzero"`

	// Proven are the fields of the key, if a table has it. A declared key may have nulls
	// and equal rows.
	Proven []int `json:",omitzero"`

	cursors *Cursors
	kind    *record.Kind
}

// Position is the value of one field in a row, as it is stored. It has the members of row.Cell.
type Position struct {
	Null  bool      `json:",omitempty"`
	Class row.Class `json:",omitempty"`
	Int   int64     `json:",omitempty"`
	Data  []byte    `json:",omitempty"` // bytes of a blob
}

// PositionOf returns the position of a field's cell, with a copy of its data.
func PositionOf(c row.Cell, f record.Field) Position {
	p := Position{Class: c.Class, Int: c.Int, Data: bytes.Clone(c.Data)}
	isInteger := f.Type.Stored().Integer() || f.Type == record.Bool
	switch {
	case c.Null:
		// An empty text is returned as null, and has the class of texts. It is sorted as a text.
		p.Null = c.Class == row.ClassOfType
	case c.Class == row.Integer:
		// The value is Int. Data has its text, if it does not fit the field's type.
		p.Data = nil
	case c.Class == row.Blob && c.Misfit:
		// Package sqlite has written a blob as hexadecimal digits. Those are compared as bytes.
		p.Data, _ = hex.DecodeString(string(c.Data))
	case c.Class == row.Blob && f.Blob != "":
		// The cell has the text of the GUID. The blob is sorted by its bytes.
		p.Data = row.GuidBlob(string(c.Data), f.Blob)
	case c.Class == row.ClassOfType && isInteger:
		// The value is Int. Data may be left over from another row.
		p.Data = nil
	}
	return p
}

// ErrOtherQuery is wrapped by the error for a cursor of another query.
var ErrOtherQuery = errors.New("cursor of another query")

// ErrEarlierCursor is wrapped by the error for a cursor of an earlier version of the service.
var ErrEarlierCursor = errors.New("cursor of an earlier version")

// Cursors makes and reads cursors, the tokens of pages: places, encrypted and authenticated with a
// key.
type Cursors struct{ sealer cipher.AEAD }

// NewCursors returns the cursors of a key.
func NewCursors(key [32]byte) *Cursors {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("query: " + err.Error()) // the length is right
	}
	sealer, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("query: " + err.Error())
	}
	return &Cursors{sealer}
}

// Start sets the place of the first page of a request that has the conditions of a path as
// well. The key's fields identify a row; they have the direction of the order, since most
// indexes are followed by the key and can be read backwards.
func (c *Cursors) Start(r *Request, path []Condition, key []int) error {
	if key == nil {
		return noKeyError(r.Kind)
	}
	p := &Place{
		Form:      placeForm,
		Where:     r.Where,
		Path:      path,
		Requested: r.Order,
		Order:     requestedOrder(r),
		Fields:    r.Fields,
		cursors:   c,
		kind:      r.Kind,
	}
	if r.Kind.Key == nil || r.Kind.Database != record.RecordsDB {
		p.Proven = key
	}
	desc := len(p.Order) > 0 && p.Order[len(p.Order)-1].Desc
	for _, field := range key {
		if !ordersBy(p.Order, field) {
			p.Order = append(slices.Clip(p.Order), Order{Field: field, Desc: desc})
		}
	}
	r.Place = p
	return nil
}

// noKeyError is the error of pages of a kind without a proven key.
func noKeyError(kind *record.Kind) error {
	advice := ""
	if kind.Database == record.RecordsDB { // the service's own kinds cannot be changed
		advice = fmt.Sprintf(", or declare its key in a file of record kinds: key = [...] under [%s]", kind.Name)
	}
	return CursorError("has no effect here: %s has no proven key. None is declared, and its table or view has neither "+
		"a primary key nor a unique index without nulls. Use Skip and Take%s", kind.Name, advice)
}

// Continue takes the place of a request from its cursor, and the conditions and fields that the
// request does not repeat.
func (c *Cursors) Continue(r *Request, path []Condition) error {
	p, err := c.place(r)
	if err != nil {
		return CursorError("is not a cursor of this query: " +
			"use Next of the previous page unchanged, or an empty Cursor for the first page")
	}
	if p.Form != placeForm {
		e := CursorError("is of an earlier version of the service: begin again with an empty Cursor")
		e.Err = ErrEarlierCursor
		return e
	}
	if !p.fits(r, path) {
		e := CursorError("belongs to another query: " +
			"repeat the conditions, order and fields of the first page, or leave out all of them")
		e.Err = ErrOtherQuery
		return e
	}
	r.Where = p.Where
	r.Fields = p.Fields
	r.Place = p
	return nil
}

// fits reports whether a request, with the conditions of its path, repeats the query of a place.
// It may leave out conditions, order or fields. Of the conditions of the path, some are of members
// such as Since, and may be left out as well; those that are given must be the same.
func (p *Place) fits(r *Request, path []Condition) bool {
	if !repeats(r.Where, p.Where) || !includes(p.Path, path) {
		return false
	}
	sameOrder := len(r.Order) == 0 || slices.Equal(r.Order, p.Requested)
	sameFields := len(r.Fields) == 0 || slices.Equal(r.Fields, p.Fields)
	return sameOrder && sameFields
}

// repeats reports whether conditions are none or the same as before, in any order.
func repeats(conditions, before []Condition) bool {
	return len(conditions) == 0 || slices.Equal(sortedTexts(conditions), sortedTexts(before))
}

// includes reports whether conditions are among those before.
func includes(before, conditions []Condition) bool {
	texts := sortedTexts(before)
	return !slices.ContainsFunc(sortedTexts(conditions), func(text string) bool {
		_, isIncluded := slices.BinarySearch(texts, text)
		return !isIncluded
	})
}

// sortedTexts returns the texts of conditions in a fixed order.
func sortedTexts(conditions []Condition) []string {
	var texts []string
	for _, c := range conditions {
		texts = append(texts, string(encoded(c)))
	}
	return slices.Sorted(slices.Values(texts))
}

// Next returns the cursor of the page after a row.
func (p *Place) Next(row []Position) string {
	next := *p
	next.After = row
	text := encoded(next)
	if len(text) > maxUnpacked {
		text = pack(text)
	}
	sealed := p.cursors.sealer.Seal(nil, nil, text, fieldsOf(p.kind))
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// maxUnpacked is the length of the longest text of a place that is not compressed. Compressing and
// decompressing a short one takes longer than all else that a cursor adds to a page; of a longer one
// it keeps the cursor short.
const maxUnpacked = 300

// packers are reused: making one costs more than the rest of a page.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic("query: " + err.Error()) // the level is right
	}
	return w
}}

// pack compresses the text of a place.
func pack(text []byte) []byte {
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)

	var packed bytes.Buffer
	w.Reset(&packed)
	_, _ = w.Write(text) // a buffer has no errors
	_ = w.Close()
	return packed.Bytes()
}

// place reads the cursor of a request.
func (c *Cursors) place(r *Request) (*Place, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(*r.Cursor)
	if err != nil {
		return nil, err
	}
	text, err := c.sealer.Open(nil, nil, sealed, fieldsOf(r.Kind))
	if err != nil {
		return nil, err
	}
	// Compressed texts cannot start with a brace: it would be the header of the last block, which
	// their writer makes an empty one.
	if !bytes.HasPrefix(text, []byte("{")) {
		text, err = io.ReadAll(flate.NewReader(bytes.NewReader(text)))
		if err != nil {
			return nil, err
		}
	}
	p := &Place{cursors: c, kind: r.Kind}
	err = json.Unmarshal(text, p)
	return p, err
}

// fieldsOf identifies a kind and its fields. A place has indexes of fields, so that a cursor
// is lost when they change.
func fieldsOf(kind *record.Kind) []byte {
	text := make([]byte, 0, 32*(1+len(kind.Fields)))
	text = append(text, kind.Name...)
	for _, f := range kind.Fields {
		text = append(text, '\n')
		text = append(text, f.Name...)
		text = append(text, ' ')
		text = append(text, f.Type.String()...)
		if f.Blob != "" {
			text = append(text, ' ')
			text = append(text, f.Blob...)
		}
	}
	return text
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("query: " + err.Error()) // conditions and values can always be encoded
	}
	return text
}

// CursorError returns the error of a request that cannot have a cursor.
func CursorError(format string, args ...any) *fault.Error {
	e := fault.New(fault.Invalid, Cursor+" "+format, args...)
	e.Fields = []fault.Field{{Name: Cursor, Message: strings.TrimPrefix(e.Message, Cursor+" ")}}
	return e
}

// Parts returns the plans of the rows of a page, one after the other: each one reads a range
// of an index that starts with the fields of the order. Its columns are followed by the columns of
// the order that it lacks; the indexes of the order's columns are returned as well.
func (p *Place) Parts(whole Plan) (parts []Plan, positions []int) {
	for _, o := range p.Order {
		i := slices.Index(whole.Columns, o.Field)
		if i < 0 {
			i = len(whole.Columns)
			whole.Columns = append(slices.Clip(whole.Columns), o.Field)
		}
		positions = append(positions, i)
	}
	if p.After == nil {
		return []Plan{whole}, positions
	}
	for i := len(p.After) - 1; i >= 0; i-- {
		where := whole.Where
		for j, position := range p.After[:i] {
			where = append(slices.Clip(where), position.equal(p.kind, p.Order[j].Field)...)
		}
		for _, beyond := range p.beyond(p.Order[i], p.After[i], whole.Where) {
			part := whole
			part.Where = append(markImplied(where, beyond), beyond)
			parts = append(parts, part)
		}
	}
	if parts == nil { // the row was the last one
		whole.Where = []Condition{{Join: Or}}
		parts = []Plan{whole}
	}
	return parts, positions
}

// equal returns the conditions for rows with the same position. SQL Server sorts bytes as
// if they were followed by zeros, and Equal compares their lengths.
func (p Position) equal(kind *record.Kind, field int) []Condition {
	if p.Null {
		return []Condition{{Field: field, Operator: record.IsNull, Raw: true}}
	}
	if kind.Fields[field].Type == record.Bytes {
		return []Condition{
			p.Compare(kind, field, record.GreaterThanOrEqualTo),
			p.Compare(kind, field, record.LessThanOrEqualTo),
		}
	}
	return []Condition{p.Compare(kind, field, record.Equal)}
}

// Compare returns the comparison of a field with the value.
func (p Position) Compare(kind *record.Kind, field int, op record.Operator) Condition {
	t := kind.Fields[field].Type.Stored()
	hasClassOfType := p.Class == row.ClassOfType
	isBlob := p.Class == row.Blob || (hasClassOfType && t == record.Bytes)
	isInteger := hasClassOfType && (t.Integer() || t == record.Bool)
	v := wire.Value{Int: p.Int}
	if isBlob {
		v.Bytes = p.Data
	} else if !isInteger {
		v.Text = string(p.Data)
	}
	return Condition{Field: field, Operator: op, Operands: []wire.Value{v}, Raw: true, Class: p.Class}
}

// beyond returns the conditions for rows after a position, in their order: null is first
// in ascending order. Declarations do not exclude nulls from the tables of others.
func (p *Place) beyond(o Order, position Position, where []Condition) []Condition {
	if position.Null && o.Desc {
		return nil
	}
	if position.Null {
		return []Condition{{Field: o.Field, Operator: record.IsNotNull, Raw: true}}
	}
	if !o.Desc {
		return []Condition{position.Compare(p.kind, o.Field, record.GreaterThan)}
	}

	less := position.Compare(p.kind, o.Field, record.LessThan)
	neverNull := slices.Contains(p.Proven, o.Field) && !slices.Contains(p.Unchecked, o.Field)
	excludesNull := func(c Condition) bool {
		return c.IsPlain() && c.Field == o.Field && c.Operator != record.IsNull
	}
	if neverNull || slices.ContainsFunc(where, excludesNull) {
		return []Condition{less}
	}
	return []Condition{less, {Field: o.Field, Operator: record.IsNull, Raw: true}}
}

// markImplied returns conditions of which those that follow from the condition beyond are marked as
// implied: databases may start at either bound otherwise. They are kept, since a file may hold
// values beyond that are not of the field's type. Of a range, one bound follows.
func markImplied(where []Condition, beyond Condition) []Condition {
	marked := make([]Condition, 0, len(where)+1)
	for _, c := range where {
		implied := c
		implied.Implied = true
		switch {
		case impliedBy(c, beyond):
			marked = append(marked, implied)
		case c.Operator == record.Between && canImply(c, beyond):
			marked = append(marked, implied, otherBound(c, beyond))
		default:
			marked = append(marked, c)
		}
	}
	return marked
}

// canImply reports whether a bound of c can follow from beyond: both compare the same field, in
// the same way.
func canImply(c, beyond Condition) bool {
	if c.Field != beyond.Field || !c.IsPlain() || c.Folded || c.Implied {
		return false
	}
	return beyond.Operator == record.GreaterThan || beyond.Operator == record.LessThan
}

// impliedBy reports whether c is a bound that follows from beyond. The row before the page
// fulfils c, so that the rows beyond it do.
func impliedBy(c, beyond Condition) bool {
	if !canImply(c, beyond) {
		return false
	}
	if beyond.Operator == record.GreaterThan {
		return c.Operator == record.GreaterThan || c.Operator == record.GreaterThanOrEqualTo
	}
	return c.Operator == record.LessThan || c.Operator == record.LessThanOrEqualTo
}

// otherBound returns the bound of a range that does not follow from beyond.
func otherBound(between, beyond Condition) Condition {
	bound := between
	if beyond.Operator == record.GreaterThan {
		bound.Operator = record.LessThanOrEqualTo
		bound.Operands = between.Operands[1:]
	} else {
		bound.Operator = record.GreaterThanOrEqualTo
		bound.Operands = between.Operands[:1]
	}
	return bound
}
