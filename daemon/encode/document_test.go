package encode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// parcel is a document with members of all types that wire structs have.
type parcel struct {
	ID      string `json:"Id"`
	Note    string
	Count   int
	Price   float64
	Open    bool
	Saved   string
	Headers map[string]string
	Lines   []line
	Ref     *string
	Hidden  string `json:",omitempty"`
}

type line struct {
	No   int
	Name string
}

func parcels() []parcel {
	return []parcel{
		{
			ID:      "a-1",
			Note:    "5\" <b>, & \u2028\r\nend",
			Count:   3,
			Price:   12.5,
			Open:    true,
			Saved:   "/Date(1530664812000+0000)/",
			Headers: map[string]string{"X-Key": "a,b", "Accept*": ""},
			Lines:   []line{{1, "x"}, {2, "{y}"}},
		},
		{ID: "b-2", Saved: "/Date(soon)/", Hidden: "seen"},
	}
}

func TestDocuments(t *testing.T) {
	session := wire.AuthenticateResponse{SessionID: "s-1", UserName: "kim", DisplayName: "Kim \"K\" O'Hara"}
	tests := []struct {
		name  string
		value any
	}{
		{"AuthenticateResponse", session},
		{"Parcel", parcels()[0]},
		{"Parcels", parcels()},
		{"NoParcels", []parcel(nil)},
		{"Names", []string{"a", "b,c", ""}},
	}
	for _, test := range tests {
		for _, f := range Formats() {
			got, err := f.Document(nil, test.name, test.value)
			if err != nil {
				t.Fatalf("%s as %s: %v", test.name, f.Name, err)
			}
			golden(t, test.name, f, got)
		}
	}
}

func TestDocumentAppends(t *testing.T) {
	for _, f := range Formats() {
		got, err := f.Document([]byte("before"), "N", "x")
		if err != nil || !strings.HasPrefix(string(got), "before") || len(got) < len("beforex") {
			t.Errorf("%s: got %q (%v), want the document after the given bytes", f.Name, got, err)
		}
	}
}

// TestTableLimits: a table has a cell for every name in every row.
func TestTableLimits(t *testing.T) {
	for _, test := range []struct {
		rows, names int // names of each row, which no other row has
		fits        bool
	}{
		{rows: 1, names: maxColumns, fits: true},
		{rows: 1, names: maxColumns + 1, fits: false},
		{rows: 100, names: maxCells / 100 / 100, fits: true},
		{rows: 100, names: maxCells/100/100 + 1, fits: false},
	} {
		list := make([]map[string]int, test.rows)
		for i := range list {
			list[i] = make(map[string]int)
			for j := range test.names {
				list[i][fmt.Sprint(i, "-", j)] = j
			}
		}
		for _, f := range Formats() {
			_, err := f.Document(nil, "Wide", list)
			table := f.Name == "csv" || f.Name == "html" || f.Name == "xlsx"
			if errors.Is(err, ErrTableSize) != (table && !test.fits) {
				t.Errorf("%+v as %s: %v", test, f.Name, err)
			}
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	for _, f := range Formats() {
		got, err := f.Document([]byte("before"), "Channel", make(chan int))
		if err == nil || string(got) != "before" {
			t.Errorf("%s: got %q (%v), want an error and the given bytes", f.Name, got, err)
		}
	}
}
