package rest_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// TestCursor reads all rows page by page in each format.
func TestCursor(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const query = "/Queries/SO_Totals?InvoiceTotalGreaterThan=10&OrderByDesc=InvoiceTotal,InvoiceID&Fields=InvoiceID"
	var want []string
	for _, row := range c.do("GET "+query, "").want(t, 200).envelope(t).Results {
		want = append(want, string(row))
	}
	for _, following := range []string{"/Queries/SO_Totals?Strict=true", query} {
		var got []string
		total, next, path := int64(len(want)), "", query
		for more := true; more; path = following {
			page := c.do("GET "+path+"&Take=70&Include=Total&Cursor="+next, "").want(t, 200).envelope(t)
			if *page.Total != total {
				t.Fatalf("total %d, want %d", *page.Total, total)
			}
			for _, row := range page.Results {
				got = append(got, string(row))
			}
			if next, more = page.Meta["Next"]; more == (len(page.Results) < 70) {
				t.Fatalf("a page of %d rows has the cursor %q", len(page.Results), next)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows, want %d", len(got), len(want))
		}
		first := c.do("GET "+query+"&Take=70&Cursor=", "").envelope(t)
		if second := c.do("GET "+query+"&Take=70&Cursor="+first.Meta["Next"], "").envelope(t); *first.Total != total || *second.Total != 0 {
			t.Errorf("the totals of pages are %d and %d, want %d only once", *first.Total, *second.Total, total)
		}
	}
	for _, format := range []string{"csv", "ndjson"} {
		lines, next := []string(nil), ""
		for more := true; more; {
			a := c.do("POST "+query+"&format="+format, `{"Take":100,"Cursor":"`+next+`"}`).want(t, 200)
			if a.header.Get(wire.HeaderNextCursor) == "" {
				a.header = a.http.Trailer
			}
			next = a.header.Get(wire.HeaderNextCursor)
			more = next != ""
			lines = append(lines, strings.Fields(a.body)...)
		}
		if lines = slices.DeleteFunc(lines, func(l string) bool { return l == "InvoiceID" }); len(lines) != len(want) {
			t.Errorf("%s has %d rows, want %d", format, len(lines), len(want))
		}
	}
	for _, format := range []string{"xml", "jsv", "html"} {
		if a := c.do("GET "+query+"&Take=1&Cursor=&format="+format, "").want(t, 200); !strings.Contains(a.body, "Next") {
			t.Errorf("%s has no cursor: %s", format, shortened(a.body))
		}
	}
}

// TestWrongCursor checks that a cursor is refused if it is not one of the query.
func TestWrongCursor(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const query = "/Queries/SO_Totals?InvoiceTotalGreaterThan=10&InvoiceTotalLessThan=500&OrderByDesc=InvoiceTotal&Fields=InvoiceID&Take=5"
	next := c.do("GET "+query+"&Cursor=", "").want(t, 200).envelope(t).Meta["Next"]
	refused := func(path, why string) {
		t.Helper()
		status := c.do("GET "+path, "").want(t, 400).envelope(t).ResponseStatus
		if !strings.Contains(status.Message, why) || len(status.Errors) != 1 {
			t.Errorf("%s: %+v", path, status)
		}
	}
	for path, why := range map[string]string{
		"SO_Totals?Cursor=x":                                      "is not a cursor",
		"IN_Colours?Cursor=" + next:                               "is not a cursor",
		"SO_Totals?InvoiceTotalGreaterThan=10&Cursor=" + next:     "another query",
		"SO_Totals?OrderBy=InvoiceTotal&Cursor=" + next:           "another query",
		"SO_Totals?Fields=InvoiceTotal&Cursor=" + next:            "another query",
		"SO_Totals?Skip=1&Cursor=":                                "cannot be combined with Cursor",
		"SO_Totals?Fields=DISTINCT%20InvoiceTotal&Cursor=":        "cannot be DISTINCT",
		"SO_Totals?Fields=DISTINCT%20InvoiceTotal&Cursor=" + next: "cannot be DISTINCT",
		"INMGT020POQty?Cursor=":                                   "has no proven key",
	} {
		refused("/Queries/"+path, why)
	}
	same := "/Queries/SO_Totals?Fields=InvoiceID&InvoiceTotalLessThan=500&InvoiceTotalGreaterThan=10&Cursor=" + next
	if got, want := c.do("GET "+same, "").want(t, 200).body, c.do("GET /Queries/SO_Totals?Cursor="+next, "").want(t, 200).body; got != want {
		t.Errorf("with members in another order: %s, want %s", shortened(got), shortened(want))
	}
	for i := range len(next) {
		changed := []byte(next)
		changed[i] ^= 1 + byte(i)%64
		refused("/Queries/SO_Totals?Cursor="+url.QueryEscape(string(changed)), "is not a cursor")
		refused("/Queries/SO_Totals?Cursor="+url.QueryEscape(next[:i]+"A"+next[i:]), "is not a cursor")
		if i > 0 {
			refused("/Queries/SO_Totals?Cursor="+next[:i], "is not a cursor")
		}
	}
	if raw, _ := json.Marshal(next); strings.Contains(string(raw), "InvoiceTotal") || len(next) > 400 {
		t.Errorf("the cursor %s is readable or long", next)
	}
}
