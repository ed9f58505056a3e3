package sqlstore

import (
	"bytes"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// kindShadow is the shadow of a kind in the file.
type kindShadow struct {
	conn    *sqlite.Conn
	fence   int64
	id      int64 // ID in the table Shadow
	base    int64 // the ID of an entry is base plus its number
	highest int64 // highest number of an entry
	next    int64 // the number after the last one that find has read in order
}

const maxNumber = 1<<numberBits - 1

func (k *kindShadow) end() int64 { return k.base + maxNumber }

// Statements that read entries.
const (
	entriesInOrder = `SELECT ID, ShadowKey, Entry FROM Entry WHERE ID >= ?1 AND ID <= ?2 ORDER BY ID`
	entriesByKey   = `SELECT ID, ShadowKey, Entry FROM Entry WHERE ShadowKey = ?1 AND ID >= ?2 AND ID <= ?3`
)

// entryTypes are the types of their columns.
var entryTypes = []record.Type{record.Long, record.Bytes, record.Bytes}

// finder reads the entries of keys. Keys that come in the order of the numbers are compared
// with the rows of one scan; only for the others the index of keys is used.
type finder struct {
	*kindShadow
	scan    *sqlite.Stmt // nil before the first row
	row     [3]row.Cell  // the last row of the scan
	waiting bool         // no key has matched row yet
	ended   bool         // the scan has no more rows
	text    []byte       // encodings of the found entries
}

// maxSkip is how many rows a scan skips, for example of deleted records, to reach a key.
const maxSkip = 16

// find returns the entries of keys, nil for those that the shadow does not have. When two keys in a
// row are found by the index in the order of the numbers, or one is near, the scan continues there.
func (k *kindShadow) find(keys [][]byte) ([]*changes.Entry, error) {
	f := finder{kindShadow: k}
	defer f.restart()
	entries := make([]changes.Entry, len(keys))
	found := make([]*changes.Entry, len(keys))
	last := int64(-1) // number of the last entry that was found by the index
	for i, key := range keys {
		if err := f.advance(); err != nil {
			return nil, err
		}
		e := &entries[i]
		if f.waiting && bytes.Equal(f.row[1].Data, key) {
			if err := f.decode(&f.row, key, e); err != nil {
				return nil, err
			}
			found[i] = e
			f.waiting = false
			k.next = e.Number + 1
			continue
		}
		ok, err := f.lookUp(key, e)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		found[i] = e
		if e.Number == last+1 || f.isNear(e.Number) {
			f.restart()
			k.next = e.Number + 1
		}
		last = e.Number
	}
	return found, nil
}

// isNear reports whether a number is among the next rows of the scan.
func (f *finder) isNear(number int64) bool {
	ahead := number - (f.row[0].Int - f.base)
	return f.waiting && ahead > 0 && ahead <= maxSkip
}

// advance reads the next row of the scan, unless one is waiting.
func (f *finder) advance() error {
	if f.waiting || f.ended {
		return nil
	}
	var err error
	if f.scan == nil {
		f.scan, err = f.conn.Prepare(entriesInOrder)
		if err != nil {
			return err
		}
		f.scan.BindInt(1, f.base+f.next)
		f.scan.BindInt(2, f.end())
	}
	f.waiting, err = f.scan.Step()
	f.ended = !f.waiting
	if f.waiting {
		f.scan.ReadRow(f.row[:], entryTypes)
	}
	return err
}

// restart makes the scan start at f.next.
func (f *finder) restart() {
	if f.scan != nil {
		_ = f.scan.Reset() // repeats the error of a step
	}
	f.scan = nil
	f.waiting = false
	f.ended = false
}

// lookUp finds an entry by the index.
func (f *finder) lookUp(key []byte, e *changes.Entry) (found bool, err error) {
	err = f.conn.Query(entriesByKey, func(s *sqlite.Stmt) error {
		var cells [3]row.Cell
		s.ReadRow(cells[:], entryTypes)
		found = true
		return f.decode(&cells, key, e)
	}, key, f.base, f.end())
	return found, err
}

// decode sets an entry from a row. Its texts are copied.
func (f *finder) decode(cells *[3]row.Cell, key []byte, e *changes.Entry) error {
	if f.text == nil {
		f.text = make([]byte, 0, 64<<10)
	}
	first := len(f.text)
	f.text = append(f.text, cells[2].Data...)
	e.Number = cells[0].Int - f.base
	e.Key = key
	return changes.DecodeEntry(f.text[first:], e)
}

// numbered returns the entries with the given numbers.
func (k *kindShadow) numbered(numbers []int64) ([]changes.Entry, error) {
	s, err := k.conn.Prepare(`SELECT ShadowKey, Entry FROM Entry WHERE ID = ?1`)
	if err != nil {
		return nil, err
	}
	defer s.Reset()
	var all []changes.Entry
	for _, n := range numbers {
		s.BindInt(1, k.base+n)
		exists, err := s.Step()
		if err != nil {
			return nil, err
		}
		if exists {
			e := changes.Entry{Number: n, Key: s.Bytes(0)}
			if err := changes.DecodeEntry(s.Bytes(1), &e); err != nil {
				return nil, err
			}
			all = append(all, e)
		}
		if err := s.Reset(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// put stores entries and the position in one transaction.
func (k *kindShadow) put(position int64, entries []changes.Entry) error {
	if err := k.conn.Query("BEGIN IMMEDIATE", nil); err != nil {
		return err
	}
	added := int64(0)
	for i := range entries {
		n, err := k.putEntry(&entries[i])
		if err != nil {
			return err
		}
		added += n
	}
	err := k.conn.Query(`UPDATE Shadow SET Position = MAX(Position, ?2), Entries = Entries + ?3 WHERE ID = ?1`,
		nil, k.id, position, added)
	if err != nil {
		return err
	}
	return k.conn.Query("COMMIT", nil)
}

// putEntry stores one entry, and returns by how many the number of entries has changed.
func (k *kindShadow) putEntry(e *changes.Entry) (added int64, err error) {
	id := k.base + e.Number
	switch {
	case e.Number == 0:
		return 0, nil
	case e.Deleted:
		err = k.conn.Query(`DELETE FROM Entry WHERE ID = ?1`, nil, id)
		return -k.conn.Changes(), err
	case e.Number <= k.highest:
		err = k.conn.Query(`UPDATE Entry SET ShadowKey = ?2, Entry = ?3 WHERE ID = ?1`, nil, id, e.Key, e.Encode())
		if err != nil || k.conn.Changes() > 0 {
			return 0, err
		}
	}
	k.highest = max(k.highest, e.Number)
	err = k.conn.Query(`INSERT INTO Entry (ID, ShadowKey, Entry) VALUES (?1, ?2, ?3)`, nil, id, e.Key, e.Encode())
	return 1, err
}
