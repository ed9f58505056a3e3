package query

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
)

// earlierCursor is a cursor of the first form: of OrderBy=Qty, after the row with Qty 7 and ID 3,
// with a key of zeros.
const earlierCursor = "WB6IM-BHE_FzYUlbuRlJ0rdhe71kewEFGEiGZbWxyyY2JgfvxF1gwDrf0jsj3ll0iUlEVB89SoGS4DPt71QdLk1fpglsTkv1m_Xc2jdgMPD1jODFvYUKIVWD21T_EsLLZp6W2JmUFpkIlxUTCpjgpHHGMXHoRfG9K7aLx8m9SkIwvGDY7I_OCUqiwcmNCTh1sc6u"

func TestCursorOfAnEarlierVersion(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{
		Name: "Rows",
		Key:  []string{"ID"},
		Fields: []record.Field{
			{Name: "ID", Type: record.Int, Filter: record.OrderedFilter},
			{Name: "Qty", Type: record.Int, Filter: record.OrderedFilter, Null: record.Nullable},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cursor := earlierCursor
	err = NewCursors([32]byte{}).Continue(&Request{Kind: registry.Kinds()[0], Cursor: &cursor}, nil)
	if !fault.Is(err, fault.Invalid) || !errors.Is(err, ErrEarlierCursor) {
		t.Fatalf("continuing after it: got the error %v, want a fault of kind %v that wraps %v",
			err, fault.Invalid, ErrEarlierCursor)
	}
	const advice = "begin again with an empty Cursor"
	if !strings.Contains(err.Error(), advice) {
		t.Errorf("continuing after it: got the error %v, want the advice %q", err, advice)
	}
}

// TestCursorsOfBothLengths checks that places with short and long texts are read back, and a short
// one that is compressed, as those of earlier versions are.
func TestCursorsOfBothLengths(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{
		Name: "Rows",
		Key:  []string{"ID"},
		Fields: []record.Field{
			{Name: "ID", Type: record.Text, Filter: record.OrderedFilter},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Kinds()[0]
	cursors := NewCursors([32]byte{})
	for _, length := range []int{0, 1, maxUnpacked, 10 * maxUnpacked} {
		id := strings.Repeat("x", length)
		request := &Request{
			Kind:  kind,
			Where: []Condition{{Operator: record.NotEqualTo, Operands: []wire.Value{{Text: id}}}},
		}
		if err := cursors.Start(request, nil, []int{0}); err != nil {
			t.Fatal(err)
		}
		last := []Position{{Data: []byte(id)}}
		written := *request.Place
		written.After = last
		compressed := cursors.sealer.Seal(nil, nil, pack(encoded(written)), fieldsOf(kind))

		for _, cursor := range []string{
			request.Place.Next(last),
			base64.RawURLEncoding.EncodeToString(compressed),
		} {
			following := &Request{Kind: kind, Cursor: &cursor}
			if err := cursors.Continue(following, nil); err != nil {
				t.Errorf("continuing after a text of %d bytes: %v", length, err)
				continue
			}
			if got, want := encoded(following.Place), encoded(written); !bytes.Equal(got, want) {
				t.Errorf("the cursor after a text of %d bytes has the place %s, want %s", length, got, want)
			}
		}
	}
}
