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
	for _, text := range []string{
		"", "a", " a ", `"`, `a "b", {c}`, "[1,2]", "{a:b}", "\r\n", "\t",
		"null", "1.50", "True", "é😀", "a:b", `\"`, "\ufeff",
	} {
		f.Add(text, "x")
		f.Add("x", text)
	}

	jsv, _ := encode.ByName("jsv")
	f.Fuzz(func(t *testing.T, first, second string) {
		if !utf8.ValidString(first) || !utf8.ValidString(second) {
			return
		}

		shape := encode.Shape{
			Nulls: true,
			Columns: []encode.Column{
				{Name: "A", Type: record.Text},
				{Name: "Null", Type: record.Text},
				{Name: "N", Type: record.Long},
				{Name: "B", Type: record.Text},
				{Name: "Bytes", Type: record.Bytes},
			},
		}

		cells := []row.Cell{
			{Data: []byte(first)}, {Null: true}, {Int: int64(len(first))},
			{Data: []byte(second)}, {Data: []byte(second)},
		}
		members, err := query.ReadJSV(jsv.New(shape).Row(nil, cells))
		null, ok := members.Get("Null")
		if err != nil || !ok || !null.Empty || members.Text("A") != first || members.Text("B") != second ||
			members.Text("N") != strconv.Itoa(len(first)) ||
			members.Text("Bytes") != base64.StdEncoding.EncodeToString([]byte(second)) {
			t.Errorf("%q and %q: %+v, %v", first, second, members, err)
		}

		text, err := jsv.Document(nil, "", map[string]any{
			"A":      first,
			"List":   []string{first, second, "x"},
			"Nested": []map[string]string{{"Name": first}},
			"Z":      second,
		})
		if err != nil {
			t.Fatal(err)
		}

		members, err = query.ReadJSV(text)
		list, _ := members.Get("List")
		if err != nil || members.Text("A") != first || members.Text("Z") != second ||
			!slices.Equal(list.Texts, []string{
				first, second, "x",
			}) {
			t.Errorf("%q and %q: %s: %+v, %v", first, second, text, members, err)
		}

		headers, _ := members.Get("Nested")
		if got, err := parseHeaders(headers.Raw); err != nil || len(got) != 1 || got[0].Name != first {
			t.Errorf("the header named %q, written as %s, is read as %+v (%v)", first, headers.Raw, got, err)
		}
	})
}
