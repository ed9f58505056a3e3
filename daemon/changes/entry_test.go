package changes

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestEntryEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) []byte {
			if rapid.Bool().Draw(t, name+" is nil") {
				return nil
			}
			return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, name)...)
		}
		want := Entry{
			Scheme: rapid.Int64().Draw(t, "scheme"),
			Hash:   [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "hash")),
			Fields: part("fields"),
			Stamp:  part("stamp"),
			Kept:   part("kept"),
		}
		b := want.Encode()
		got := Entry{Fields: []byte("earlier"), Stamp: []byte("earlier"), Kept: []byte("earlier")}
		if err := DecodeEntry(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v became %x and that %+v (%v)", want, b, got, err)
		}
		if n := rapid.IntRange(0, 16).Draw(t, "cut"); DecodeEntry(b[:n], &got) == nil {
			t.Fatalf("the first %d bytes of %x are decoded, want an error", n, b)
		}
	})
}

func TestEntryWithAByteAfterIt(t *testing.T) {
	e := Entry{Fields: []byte{}, Stamp: []byte{}, Kept: []byte{1}}
	b := append(e.Encode(), 0)
	if err := DecodeEntry(b, new(Entry)); !errors.Is(err, ErrEntry) {
		t.Errorf("decoding %x: got the error %v, want %v", b, err, ErrEntry)
	}
}

// TestEntrySize bounds the size of an entry of a usual row: 20 fields and a rowversion.
func TestEntrySize(t *testing.T) {
	e := Entry{Scheme: 1, Fields: make([]byte, 80), Stamp: make([]byte, 8)}
	const overhead = 4 // bytes of the scheme and the lengths
	limit := len(e.Hash) + len(e.Fields) + len(e.Stamp) + overhead
	if n := len(e.Encode()); n > limit {
		t.Errorf("the entry is encoded in %d bytes, want at most %d", n, limit)
	}
}

// FuzzDecodeEntry decodes anything. An entry is encoded as the same one again.
func FuzzDecodeEntry(f *testing.F) {
	f.Add((&Entry{Scheme: 3, Fields: []byte("1234"), Stamp: []byte{}, Kept: []byte(`{"A":1}`)}).Encode())
	f.Add((&Entry{Scheme: -1, Kept: []byte("{}")}).Encode())
	f.Add((&Entry{}).Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, decoded Entry
		if DecodeEntry(b, &e) != nil {
			return
		}
		if err := DecodeEntry(e.Encode(), &decoded); err != nil || !reflect.DeepEqual(e, decoded) {
			t.Errorf("%x is %+v, and again %+v (%v)", b, e, decoded, err)
		}
	})
}
