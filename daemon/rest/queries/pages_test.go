package queries

import (
	"net/url"
	"testing"

	"github.com/bizhook/whd/client/record"
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
