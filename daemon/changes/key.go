package changes

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/row"
)

// form is the form in which values of a type are compared. Values of types with the same
// form are the same if they are equal, so that a wider type changes nothing.
type form byte

// The forms.
const (
	integers form = 'i'
	decimals form = 'd'
	floats   form = 'f'
	texts    form = 't'
	times    form = 'm'
	guids    form = 'g'
	binaries form = 'b'

	misfits form = '0' // plus the class of a value in an embedded file that its type does not have
	others  form = '5' // plus the class of one that can be read as its type
)

func formOf(t record.Type) form {
	switch t {
	case record.Decimal:
		return decimals
	case record.Double:
		return floats
	case record.DateTime, record.Epoch:
		return times
	case record.Guid:
		return guids
	case record.Bytes:
		return binaries
	case record.Text, record.Dictionary, record.Object:
		return texts
	}
	return integers
}

// plainDecimal returns a decimal without the zeros at its end, and without the sign of zero.
func plainDecimal(text []byte) []byte {
	for i, c := range text {
		if c != '.' {
			continue
		}
		end := len(text)
		for text[end-1] == '0' {
			end--
		}
		if end-1 == i {
			end--
		}
		text = text[:end]
		break
	}
	if len(text) == 2 && text[0] == '-' && text[1] == '0' {
		text = text[1:]
	}
	return text
}

var errNullKey = errors.New("a field of the key is null")

// appendKey appends the encoding of a key: for each value its form, its length and its
// bytes as they were read. Decimals are without zeros at the end, since the scale of a
// column is no part of a key.
func appendKey(dst []byte, types []record.Type, cells []row.Cell) ([]byte, error) {
	for i, t := range types {
		cell := cells[i]
		f := formOf(t)
		data := cell.Data
		var number [8]byte
		switch {
		case cell.Null:
			return dst, errNullKey
		case cell.Class != row.ClassOfType:
			f = others + form(cell.Class)
			data = classed(cell)
			if cell.Misfit {
				f = misfits + form(cell.Class)
			}
		case f == integers:
			binary.BigEndian.PutUint64(number[:], uint64(cell.Int))
			data = number[:]
		case f == decimals:
			data = plainDecimal(data)
		}
		dst = append(dst, byte(f))
		dst = binary.AppendUvarint(dst, uint64(len(data)))
		dst = append(dst, data...)
	}
	return dst, nil
}

// classed returns the encoding of a value with a class.
func classed(c row.Cell) []byte {
	number := binary.BigEndian.AppendUint64(nil, uint64(c.Int))
	return append(number, c.Data...)
}

var errKey = errors.New("the encoding of a key is damaged")

// readKey returns the values of a key.
func readKey(key []byte) ([]row.Cell, error) {
	var cells []row.Cell
	for len(key) > 0 {
		f := form(key[0])
		key = key[1:]
		size, n := binary.Uvarint(key)
		if n <= 0 || size > uint64(len(key)-n) {
			return nil, errKey
		}
		data := key[n : n+int(size)]
		key = key[n+int(size):]

		cell := row.Cell{Data: data}
		if f == integers {
			if size != 8 {
				return nil, errKey
			}
			cell = row.Cell{Int: int64(binary.BigEndian.Uint64(data))}
		} else if f < 'a' { // the form of a value with a class is no letter
			if size < 8 {
				return nil, errKey
			}
			cell = classedCell(f, data)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// classedCell is the inverse of classed.
func classedCell(f form, data []byte) row.Cell {
	cell := row.Cell{Int: int64(binary.BigEndian.Uint64(data)), Data: data[8:]}
	if f < others {
		cell.Misfit = true
		cell.Class = row.Class(f - misfits)
	} else {
		cell.Class = row.Class(f - others)
	}
	return cell
}

// Limits of the text of a key, in characters.
const (
	maxKeyText  = 128
	longKeyText = 90 // of the start of a longer one
)

// KeyText returns the text of a key, as events have it: the text of its value, or a JSON array if it
// has several. If the text is too long, a hash replaces its end. A hash is also appended to an empty
// text, and to one with control characters, which keys of events cannot have.
func KeyText(types []record.Type, cells []row.Cell) string {
	if len(types) == 1 {
		return limitKeyText(cells[0].Text(types[0]))
	}
	array := []byte{'['}
	for i, t := range types {
		if i > 0 {
			array = append(array, ',')
		}
		array = encode.AppendJSON(array, t, cells[i])
	}
	return limitKeyText(string(append(array, ']')))
}

// KeyTextOfJSON returns the text of a key from its values in a response in JSON.
func KeyTextOfJSON(types []record.Type, values []json.RawMessage) string {
	plain := make([][]byte, len(values))
	for i, value := range values {
		plain[i] = value
		if types[i] == record.Decimal {
			plain[i] = plainDecimal(value) // see appendKey
		}
	}
	if len(plain) > 1 {
		return limitKeyText("[" + string(bytes.Join(plain, []byte(","))) + "]")
	}
	var text string
	if json.Unmarshal(plain[0], &text) != nil { // a number or a boolean
		text = string(plain[0])
	}
	return limitKeyText(text)
}

// limitKeyText returns the text of a key as that of an event can be.
func limitKeyText(text string) string {
	isValid := text != "" && !strings.ContainsFunc(text, unicode.IsControl)
	if isValid && utf8.RuneCountInString(text) <= maxKeyText {
		return text
	}
	hash := sha256.Sum256([]byte(text))
	runes := slices.DeleteFunc([]rune(text), unicode.IsControl)
	return string(runes[:min(len(runes), longKeyText)]) + "~" + hex.EncodeToString(hash[:16])
}
