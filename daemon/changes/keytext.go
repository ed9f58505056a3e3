package changes

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// An embedded file can hold keys that differ, but have the same form in JSON: the text 10 and the
// number 10 in a column without a type, or bytes and the text that they are. Whoever follows the
// changes would take their rows for one. Most tables hold all keys in one form, in which they do
// not meet; only where a sweep finds a second one, keys are looked up in the others.

// keyForm is how a row holds the values of its key.
type keyForm []valueForm

type valueForm struct {
	class  row.Class
	misfit bool
}

func formOfKey(key []row.Cell) keyForm {
	form := make(keyForm, len(key))
	for i, c := range key {
		form[i] = valueForm{c.Class, c.Misfit}
	}
	return form
}

// keyForms are the forms of keys that a sweep has found.
type keyForms struct {
	list  []keyForm
	lossy map[string]string // descriptions of the keys that JSON does not have exactly, by their objects
}

// isOnly reports whether keys in another form than that of a row have not been found.
func (f *keyForms) isOnly(columns []column, cells []row.Cell) bool {
	if len(f.list) != 1 {
		return false
	}
	for i, c := range columns {
		cell := cells[c.at]
		if f.list[0][i] != (valueForm{cell.Class, cell.Misfit}) {
			return false
		}
	}
	return true
}

// add adds a form and returns the others.
func (f *keyForms) add(form keyForm) []keyForm {
	isSame := func(g keyForm) bool { return slices.Equal(form, g) }
	if !slices.ContainsFunc(f.list, isSame) {
		f.list = append(f.list, form)
	}
	return slices.DeleteFunc(slices.Clone(f.list), isSame)
}

// addLossy adds a key that JSON does not have exactly. It returns the description of one with
// the same object.
func (f *keyForms) addLossy(object, description string) (first string, isRepeated bool) {
	first, isRepeated = f.lossy[object]
	if f.lossy == nil {
		f.lossy = make(map[string]string)
	}
	f.lossy[object] = description
	return first, isRepeated
}

// uniqueTexts stops the capture if two keys have the same object in JSON. added are the keys of
// the page that the shadow does not have.
func (s *sweep) uniqueTexts(ctx context.Context, list [][]row.Cell, added map[string]bool) error {
	var alike []alikeKey
	for _, cells := range list {
		isLossy := s.rows.losesKey(cells)
		if !isLossy && s.forms.isOnly(s.rows.key, cells) {
			continue
		}
		key := s.rows.keyOf(cells)
		object := s.rows.keyObject(key)
		if isLossy {
			stored := s.rows.storedKey(key)
			first, isRepeated := s.forms.addLossy(string(object), stored)
			if isRepeated {
				return s.sameText(key, first, stored)
			}
		}
		for _, form := range s.forms.add(formOfKey(key)) {
			other, ok := s.rows.inForm(key, form)
			if !ok || !bytes.Equal(s.rows.keyObject(other), object) {
				continue
			}
			encoded, err := appendKey(nil, s.rows.types(), other)
			if err != nil {
				return err
			}
			if added[string(encoded)] {
				return s.sameText(key, s.rows.storedKey(other), s.rows.storedKey(key))
			}
			alike = append(alike, alikeKey{
				key:      cloneRow(key),
				first:    s.rows.storedKey(other),
				encoding: encoded,
			})
		}
	}
	return s.lookUpAlike(ctx, alike)
}

// alikeKey is a key, and another one that has the same object.
type alikeKey struct {
	key      []row.Cell
	first    string // description of the other one
	encoding []byte // of the other one
}

// lookUpAlike stops the capture if this sweep has found the rows of the other keys.
func (s *sweep) lookUpAlike(ctx context.Context, alike []alikeKey) error {
	for part := range slices.Chunk(alike, MaxKeys) {
		keys := make([][]byte, len(part))
		for i, a := range part {
			keys[i] = a.encoding
		}
		entries, err := s.Store.Find(ctx, s.kind.Name, keys)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if e != nil && s.swept.Has(e.Number) {
				return s.sameText(part[i].key, part[i].first, s.rows.storedKey(part[i].key))
			}
		}
	}
	return nil
}

// sameText returns the reason for a stop that names a key, and how two rows hold it.
func (s *sweep) sameText(key []row.Cell, first, second string) error {
	return &stopped{reason: fmt.Sprintf("two rows of %s have the key %s in JSON: in one %s, in the other %s; correct one of them",
		s.kind.Name, KeyText(s.rows.types(), key), first, second)}
}

// storedKey describes how a row holds its key, such as "Code is bytes".
func (r *rows) storedKey(key []row.Cell) string {
	values := make([]string, len(key))
	for i, c := range key {
		held := "of type " + r.key[i].Type.String()
		if c.Class != row.ClassOfType {
			held = classNames[c.Class]
		}
		values[i] = r.key[i].Name + " is " + held
		if bytes.ContainsRune(c.Data, utf8.RuneError) && r.key[i].Type != record.Bytes {
			values[i] += fmt.Sprintf(" (the bytes x'%x')", c.Data)
		}
	}
	return strings.Join(values, " and ")
}

var classNames = map[row.Class]string{
	row.Integer: "a whole number",
	row.Real:    "a number with a fraction",
	row.Text:    "a text",
	row.Blob:    "bytes",
}

// keyObject returns the object of a key in JSON, by which a copy finds its row. The scale of
// decimals does not count.
func (r *rows) keyObject(key []row.Cell) []byte {
	columns := slices.Clone(r.key)
	values := slices.Clone(key)
	for i := range columns {
		columns[i].at = i
		if columns[i].Type == record.Decimal {
			values[i].Data = plainDecimal(values[i].Data)
		}
	}
	return appendObject(nil, columns, values)
}

// losesKey reports whether the object of a row's key can be that of other keys in the same form:
// of texts that are not valid UTF-8, and of the several texts of a boolean.
func (r *rows) losesKey(cells []row.Cell) bool {
	for _, c := range r.key {
		cell := cells[c.at]
		if c.Type == record.Bool && cell.Class == row.Text && !cell.Misfit {
			return true
		}
		if c.Type != record.Bytes && bytes.ContainsRune(cell.Data, utf8.RuneError) { // also invalid ones
			return true
		}
	}
	return false
}

// inForm returns a key with the same texts in another form. ok is false if there is none.
func (r *rows) inForm(key []row.Cell, form keyForm) (other []row.Cell, ok bool) {
	other = make([]row.Cell, len(key))
	for i, c := range key {
		t := r.key[i].Type
		other[i], ok = valueInForm(t, c.Text(t), form[i])
		if !ok {
			return nil, false
		}
	}
	return other, true
}

func valueInForm(t record.Type, text string, form valueForm) (cell row.Cell, ok bool) {
	cell = row.Cell{Class: form.class, Misfit: form.misfit, Data: []byte(text)}
	if t == record.Decimal {
		cell.Data = plainDecimal(cell.Data)
	}
	if t == record.Bytes && form.class == row.ClassOfType {
		data, err := base64.StdEncoding.DecodeString(text)
		cell.Data = data
		return cell, err == nil
	}
	if form.class == row.Integer || formOf(t) == integers && !form.misfit {
		n, err := numberOf(t, text)
		if err != nil {
			return cell, false
		}
		cell.Int = n
		if form.class == row.Text && t != record.Bool {
			cell.Data = strconv.AppendInt(nil, n, 10) // of a TimeSpan, too
		}
	}
	return cell, true
}

// numberOf returns the number of a cell with a text.
func numberOf(t record.Type, text string) (int64, error) {
	switch t {
	case record.Bool:
		return wire.ParseBool(text)
	case record.TimeSpan:
		return wire.ParseTimeSpan(text)
	}
	return strconv.ParseInt(text, 10, 64)
}
