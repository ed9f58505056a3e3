package queries

import (
	"net/url"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
)

// kindNamed returns a kind of the records.
func kindNamed(t testing.TB, name string) *record.Kind {
	t.Helper()
	registry, err := record.NewRegistry(record.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	kind, ok := registry.Lookup(name)
	if !ok {
		t.Fatalf("there is no kind %s", name)
	}
	return kind
}

// TestFormAddressKeepsBlanksOfTexts submits forms with blanks around values. In a condition on a text
// they count, so a form must not change them; in other values they are typing errors.
func TestFormAddressKeepsBlanksOfTexts(t *testing.T) {
	kind := kindNamed(t, "SO_Totals")
	text := ""
	for _, f := range kind.Fields {
		if f.Type == record.Text && f.Filter == record.TextFilter {
			text = f.Name
			break
		}
	}
	if text == "" {
		t.Fatalf("%s has no field with a text", kind.Name)
	}
	for _, test := range []struct{ submitted, want string }{
		{text + ".op=StartsWith&" + text + ".value=A+", text + "StartsWith=A+"},
		{text + ".op=EndsWith&" + text + ".value=+", text + "EndsWith=+"},
		{text + ".op=Equal&" + text + ".value=", ""},
		{text + "EndsWith=+&" + text + ".op=Equal&" + text + ".value=", text + "EndsWith=+"},
		{"InvoiceTotal.op=GreaterThan&InvoiceTotal.value=+9+", "InvoiceTotalGreaterThan=9"},
		{"InvoiceTotal.op=GreaterThan&InvoiceTotal.value=+", ""},
		{"Fields.op=Equal&Fields.value=+InvoiceID&Fields.value=InvoiceTotal", "Fields=InvoiceID%2CInvoiceTotal"},
	} {
		u := &url.URL{Path: "/Queries/SO_Totals", RawQuery: test.submitted}
		want := "/Queries/SO_Totals"
		if test.want != "" {
			want += "?" + test.want
		}
		if got := FormAddress(u, kind); got != want {
			t.Errorf("the form %s leads to %s, want %s", test.submitted, got, want)
		}
	}
}

// TestLinksReplaceMembersOfAnyCase changes members with names that have other letters that count as
// the same, as the Turkish upper case of i. With two of them, a link would have two values.
func TestLinksReplaceMembersOfAnyCase(t *testing.T) {
	a := address{path: "/Queries/IN_Colours", members: query.Members{
		{Name: "SKİP", Texts: []string{"20"}},
		{Name: "tAKE", Texts: []string{"10"}},
	}}
	if got, want := a.page(40, 20), "/Queries/IN_Colours?Skip=40&Take=20"; got != want {
		t.Errorf("the link to the next page is %s, want %s", got, want)
	}
	if got, want := a.without(query.Skip), "/Queries/IN_Colours?tAKE=10"; got != want {
		t.Errorf("the link without %s is %s, want %s", query.Skip, got, want)
	}
	var v encode.View
	viewFilters(&v, a, kindNamed(t, "IN_Colours"))
	if want := []encode.Pair{{Name: "tAKE", Value: "10"}}; !slices.Equal(v.Form.Hidden, want) {
		t.Errorf("the filter form repeats %v, want %v, since a new filter shows its first page", v.Form.Hidden, want)
	}
}

// TestTotalIsAddedOnce adds the total to a link that has a member Include in other letters.
func TestTotalIsAddedOnce(t *testing.T) {
	a := address{members: query.Members{{Name: "İNCLUDE", Texts: []string{"COUNT(*)"}}}}
	workbook := encode.Format{MaxRows: 10}
	if got := countFirst(a, workbook, nil, query.NoTake); len(got) > 0 {
		t.Errorf("the link adds %v to %v", got, a.members)
	}
}
