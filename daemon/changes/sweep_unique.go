package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bizhook/whd/daemon/row"
)

// markSwept marks the rows of a page that the shadow has as swept. It stops the capture if a row of
// the page, or of the pages before it, has the same key as another one of the page. It returns the
// keys that the shadow does not have.
func (s *sweep) markSwept(list [][]row.Cell, keys [][]byte, entries []*Entry) (map[string]bool, error) {
	added := make(map[string]bool)
	for i, key := range keys {
		isRepeated := false
		if e := entries[i]; e != nil {
			isRepeated = s.swept.Has(e.Number)
			s.swept.Set(e.Number)
		} else {
			isRepeated = added[string(key)]
			added[string(key)] = true
		}
		if isRepeated {
			cells := s.capture.rows.keyOf(list[i])
			return nil, &stopped{reason: "two rows have the key " + KeyText(s.capture.rows.types(), cells)}
		}
	}
	return added, nil
}

// checkTexts stops the capture if a key of the page has the same object in JSON as another key of
// the page, or of the pages before it. added are the keys of the page that the shadow does not
// have; its other rows are marked as swept.
func (s *sweep) checkTexts(ctx context.Context, list [][]row.Cell, added map[string]bool) error {
	k := s.capture
	texts := keyTexts(k.rows.key)
	var alike []alikeKey
	for _, cells := range list {
		isLossy := texts.loses(cells)
		if !isLossy && s.swept.forms.isOnly(k.rows.key, cells) {
			continue // only the same key has its object
		}
		key := k.rows.keyOf(cells)
		if isLossy {
			if err := s.checkLossy(key); err != nil {
				return err
			}
		}
		inOtherForms, err := s.alikeKeys(key)
		if err != nil {
			return err
		}
		for _, a := range inOtherForms {
			if added[string(a.encoding)] {
				return s.sameText(a)
			}
		}
		alike = append(alike, inOtherForms...)
	}
	return s.lookUpAlike(ctx, alike)
}

// checkLossy stops the capture if a key that JSON does not have exactly has the object of another
// such key of the sweep.
func (s *sweep) checkLossy(key []row.Cell) error {
	texts := keyTexts(s.capture.rows.key)
	object := string(texts.object(key))
	first, isRepeated := s.swept.forms.addLossy(object, texts.stored(key))
	if isRepeated {
		return s.sameText(alikeKey{key: key, first: first})
	}
	return nil
}

// alikeKeys returns the keys that have the same object in JSON as a key, in the other forms that
// the sweep has found. It adds the form of the key to these.
func (s *sweep) alikeKeys(key []row.Cell) ([]alikeKey, error) {
	texts := keyTexts(s.capture.rows.key)
	object := texts.object(key)
	var alike []alikeKey
	for _, form := range s.swept.forms.add(formOfKey(key)) {
		sameForm, ok := texts.inForm(key, form)
		if !ok || !bytes.Equal(texts.object(sameForm), object) {
			continue
		}
		encoding, err := appendKey(nil, s.capture.rows.types(), sameForm)
		if err != nil {
			return nil, err
		}
		alike = append(alike, alikeKey{
			key:      cloneRow(key),
			first:    texts.stored(sameForm),
			encoding: encoding,
		})
	}
	return alike, nil
}

// lookUpAlike stops the capture if this sweep has found the rows of the other keys.
func (s *sweep) lookUpAlike(ctx context.Context, alike []alikeKey) error {
	k := s.capture
	for part := range slices.Chunk(alike, MaxKeys) {
		keys := make([][]byte, len(part))
		for i, a := range part {
			keys[i] = a.encoding
		}
		entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if e != nil && s.swept.Has(e.Number) {
				return s.sameText(part[i])
			}
		}
	}
	return nil
}

// sameText returns the reason for a stop that names a key, and how two rows hold it.
func (s *sweep) sameText(a alikeKey) error {
	r := s.capture.rows
	return &stopped{reason: fmt.Sprintf(
		"two rows of %s have the key %s in JSON: in one %s, in the other %s; correct one of them",
		s.capture.kind.Name, KeyText(r.types(), a.key), a.first, keyTexts(r.key).stored(a.key))}
}
