package changes

import (
	"bytes"
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
// number 10 in a column without a type, or bytes and the text that they are. Those that follow the
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
		cell := cells[c.index]
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

// sweptRows are the rows of the pages of a sweep: their numbers, and the forms of their keys.
type sweptRows struct {
	Bitmap
	forms keyForms
}

// keyTexts are the columns of a key, by which its values have a form in JSON.
type keyTexts []column

// alikeKey is a key, and another one that has the same object.
type alikeKey struct {
	key      []row.Cell
	first    string // description of the other one
	encoding []byte // encoding of the other one
}

// stored describes how a row holds its key, such as "Code is bytes".
func (t keyTexts) stored(key []row.Cell) string {
	values := make([]string, len(key))
	for i, c := range key {
		held := "of type " + t[i].Type.String()
		if c.Class != row.ClassOfType {
			held = classNames[c.Class]
		}
		values[i] = t[i].Name + " is " + held
		if bytes.ContainsRune(c.Data, utf8.RuneError) && t[i].Type != record.Bytes {
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

// object returns the object of a key in JSON, by which a copy finds its row. The scale of
// decimals does not count.
func (t keyTexts) object(key []row.Cell) []byte {
	columns := slices.Clone(t)
	values := slices.Clone(key)
	for i := range columns {
		columns[i].index = i
		if columns[i].Type == record.Decimal {
			values[i].Data = plainDecimal(values[i].Data)
		}
	}
	return appendObject(nil, columns, values)
}

// loses reports whether the object of a row's key can be that of other keys in the same form:
// of texts that are not valid UTF-8, and of the several texts of a boolean.
func (t keyTexts) loses(cells []row.Cell) bool {
	for _, c := range t {
		cell := cells[c.index]
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
func (t keyTexts) inForm(key []row.Cell, form keyForm) (other []row.Cell, ok bool) {
	other = make([]row.Cell, len(key))
	for i, c := range key {
		typ := t[i].Type
		other[i], ok = valueInForm(typ, c.Text(typ), form[i])
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
	readsAsInteger := formOf(t) == integers && !form.misfit
	if form.class == row.Integer || readsAsInteger {
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
