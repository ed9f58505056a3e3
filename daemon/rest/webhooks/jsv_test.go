package webhooks

import (
	"encoding/base64"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// FuzzJSVReadsBack checks that a row and a document in JSV are read as their members.
func FuzzJSVReadsBack(f *testing.F) {
	for _, text := range []string{"", "a", " a ", `"`, `a "b", {c}`, "[1,2]", "{a:b}", "\r\n", "\t", "null", "1.50", "True", "é😀", "a:b", `\"`, "\ufeff"} {
		f.Add(text, "x")
		f.Add("x", text)
	}
	jsv, _ := encode.ByName("jsv")
	f.Fuzz(func(t *testing.T, one, two string) {
		if !utf8.ValidString(one) || !utf8.ValidString(two) {
			return
		}
		shape := encode.Shape{Nulls: true, Columns: []encode.Column{{Name: "A", Type: record.Text}, {Name: "Null", Type: record.Text}, {Name: "N", Type: record.Long}, {Name: "B", Type: record.Text}, {Name: "Bytes", Type: record.Bytes}}}
		cells := []row.Cell{{Data: []byte(one)}, {Null: true}, {Int: int64(len(one))}, {Data: []byte(two)}, {Data: []byte(two)}}
		members, err := query.ReadJSV(jsv.New(shape).Row(nil, cells))
		if null, given := members.Get("Null"); err != nil || !given || !null.Empty || members.Text("A") != one || members.Text("B") != two ||
			members.Text("N") != strconv.Itoa(len(one)) || members.Text("Bytes") != base64.StdEncoding.EncodeToString([]byte(two)) {
			t.Errorf("%q and %q: %+v, %v", one, two, members, err)
		}
		text, err := jsv.Document(nil, "", map[string]any{"A": one, "List": []string{one, two, "x"}, "Nested": []map[string]string{{"Name": one}}, "Z": two})
		if err != nil {
			t.Fatal(err)
		}
		members, err = query.ReadJSV(text)
		if list, _ := members.Get("List"); err != nil || members.Text("A") != one || members.Text("Z") != two || !slices.Equal(list.Texts, []string{one, two, "x"}) {
			t.Errorf("%q and %q: %s: %+v, %v", one, two, text, members, err)
		}
		headers, _ := members.Get("Nested")
		if got, err := parseHeaders(headers.Raw); err != nil || len(got) != 1 || got[0].Name != one {
			t.Errorf("%q: %s: %+v, %v", one, headers.Raw, got, err)
		}
	})
}
