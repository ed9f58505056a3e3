package rest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

// TestCursor reads all rows page by page in each format.
func TestCursor(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const query = "/Queries/SO_Totals?InvoiceTotalGreaterThan=1000&OrderByDesc=InvoiceTotal,InvoiceID&Fields=InvoiceID"
	var want []string
	for _, row := range c.do("GET "+query, "").want(t, 200).envelope(t).Results {
		want = append(want, string(row))
	}

	for _, following := range []string{"/Queries/SO_Totals?Strict=true", query} {
		var got []string
		total := int64(len(want))
		next := ""
		path := query
		hasMore := true
		for hasMore {
			page := c.do("GET "+path+"&Take=70&Include=Total&Cursor="+next, "").want(t, 200).envelope(t)
			if *page.Total != total {
				t.Fatalf("total %d, want %d", *page.Total, total)
			}
			for _, row := range page.Results {
				got = append(got, string(row))
			}
			next, hasMore = page.Meta["Next"]
			if hasMore == (len(page.Results) < 70) {
				t.Fatalf("a page of %d rows has the cursor %q", len(page.Results), next)
			}
			path = following
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows, want %d", len(got), len(want))
		}
		first := c.do("GET "+query+"&Take=70&Cursor=", "").envelope(t)
		second := c.do("GET "+query+"&Take=70&Cursor="+first.Meta["Next"], "").envelope(t)
		if *first.Total != total || *second.Total != 0 {
			t.Errorf("the totals of pages are %d and %d, want %d only once", *first.Total, *second.Total, total)
		}
	}

	var ids []string
	for _, row := range want {
		ids = append(ids, read[map[string]string](t, answer{body: row})["InvoiceID"])
	}

	for _, f := range encode.Formats() {
		var got []string
		take := 700
		next := ""
		hasMore := true
		for hasMore {
			page := c.do("POST "+query+"&format="+f.Name,
				fmt.Sprintf(`{"Take":%d,"Cursor":%q}`, take, next)).want(t, 200)
			rows, err := encodetest.Rows(f.Name, []byte(page.body), []string{"InvoiceID"})
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			for _, row := range rows {
				got = append(got, row["InvoiceID"])
			}
			next = nextOf(f, page)
			hasMore = next != "" && len(got) <= len(ids)
			take = 7000
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%s has %d rows, want %d in the same order", f.Name, len(got), len(ids))
		}
	}
}

// nextOf returns the cursor of the next page as a client of the format reads it, empty on the
// last page.
func nextOf(f encode.Format, a answer) string {
	if f.Bare() {
		return cmp.Or(a.header.Get(wire.HeaderNextCursor), a.http.Trailer.Get(wire.HeaderNextCursor))
	}
	m := regexp.MustCompile(`\bNext\b[^\w-]+(?:\w{1,5}[^\w-]+){0,4}?([\w-]{40,})`).FindStringSubmatch(a.body)
	if m != nil {
		return m[1]
	}
	return ""
}

// TestCursorInBrowser reads all rows by the only link to other rows on a page by cursor. The
// links to other formats are valid.
func TestCursorInBrowser(t *testing.T) {
	c := signIn(t, demo.start(t))
	const query = "/Queries/SO_Totals?InvoiceTotalGreaterThan=100&OrderByDesc=InvoiceTotal&Fields=InvoiceID"
	rowsOf := func(a answer) (ids []string) {
		rows, err := encodetest.Rows("html", []byte(a.body), []string{"InvoiceID"})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			ids = append(ids, row["InvoiceID"])
		}
		return ids
	}
	want := rowsOf(c.do("GET "+query+"&Take=300", "").want(t, 200))
	html, _ := encode.ByName("html")
	next := nextOf(html, c.do("GET "+query+"&Take=100&Cursor=", "").want(t, 200))
	a := c.do("GET "+query+"&Take=100&Cursor="+next, "").want(t, 200).
		wantText(t, "This page follows a cursor", "100 rows on this page")
	if got := rowsOf(a); !slices.Equal(got, want[100:200]) {
		t.Errorf("the second page has %q, want %q", got, want[100:200])
	}
	if strings.Contains(a.body, "<form method=\"get\" action=\"/Queries") || strings.Contains(a.body, "First") {
		t.Error("the page has a filter form or a pager")
	}

	others := 0
	for _, to := range hrefs(a) {
		if strings.HasPrefix(to, "/Queries/") {
			others++
			c.do("GET "+to, "").want(t, 200)
		}
	}
	if others != 1+len(encode.Formats())-1 {
		t.Errorf("%d links to rows: %q", others, hrefs(a))
	}
	if got := rowsOf(c.do("GET "+a.link(t, "Next page"), "").want(t, 200)); !slices.Equal(got, want[200:]) {
		t.Errorf("the third page has %q, want %q", got, want[200:])
	}

	last := c.do("GET "+query+"&Take=100000&Cursor="+next, "").want(t, 200)
	if strings.Contains(last.body, "Next page") {
		t.Error("the last page has a link to the next one")
	}
}

// TestLongCursor checks that a page is refused if its cursor would be too long for a header,
// in the formats that have it there.
func TestLongCursor(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	random := rand.New(rand.NewPCG(1, 2))
	var ids []string
	for _, row := range c.do("GET /Queries/SO_Totals?Take=3&Fields=InvoiceID", "").want(t, 200).envelope(t).Results {
		ids = append(ids, read[map[string]string](t, answer{body: string(row)})["InvoiceID"])
	}

	for range 1500 {
		ids = append(ids, strconv.FormatUint(random.Uint64(), 36))
	}

	page := func(format, cursor string, ids []string) answer {
		body, _ := json.Marshal(map[string]any{
			"Take":        1,
			"Cursor":      cursor,
			"InvoiceIDIn": ids,
			"Fields":      "InvoiceID",
		})
		return c.do("POST /Queries/SO_Totals?format="+format, string(body))
	}

	for _, f := range encode.Formats() {
		if !f.Bare() {
			a := page(f.Name, "", ids).want(t, 200)
			next := nextOf(f, a)
			a = page(f.Name, next, ids).want(t, 200)
			if !strings.Contains(a.body, ids[1]) {
				t.Errorf("%s: got %s, want the record %s", f.Name, shortened(a.body), ids[1])
			}
			if strings.Contains(a.body, "Next page") {
				t.Errorf("%s has a link of %d bytes", f.Name, len(next))
			}
			continue
		}
		a := page(f.Name, "", ids).want(t, 400)
		if next := nextOf(f, a); next != "" || !strings.Contains(a.body, "too long for the header X-Next-Cursor") {
			t.Errorf("%s: got %s, want an error, since the cursor is too long for its header", f.Name, a.body)
		}
		a = page(f.Name, "", ids[2:]).want(t, 200)
		if nextOf(f, a) != "" || a.header.Get("X-Row-Count") != "1" { // the last page needs no cursor
			t.Errorf("%s: got %s, want one row without a cursor", f.Name, a.body)
		}
		if next := nextOf(f, page(f.Name, "", ids[:100]).want(t, 200)); next == "" {
			t.Errorf("%s has no cursor", f.Name)
		}
	}

	// The values of a row make the cursor too long. No index proves the key of a view.
	declared := filepath.Join(t.TempDir(), "totals.toml")
	if err := os.WriteFile(declared, []byte("[SO_Totals]\nkey = ['InvoiceID']\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	c = asAdmin(t, startWithView(t, "SO_Totals", `SELECT n AS InvoiceTotal, /* %s */
		CAST((SELECT group_concat((k.n * k.n * 7919 + t.n * 104729) %% 1000003, '') FROM (WITH RECURSIVE some(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM some LIMIT 3000) SELECT n FROM some) k) AS TEXT) AS InvoiceID FROM numbers t LIMIT 5`, "--erp-kinds", declared))
	for _, f := range encode.Formats() {
		status := 200
		if f.Bare() {
			status = 400
		}
		c.do("GET /Queries/SO_Totals?Take=2&Cursor=&Fields=InvoiceTotal&format="+f.Name, "").want(t, status)
		c.do("GET /Queries/SO_Totals?Take=5&Cursor=&Fields=InvoiceTotal&format="+f.Name, "").want(t, 200)
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
			t.Errorf("%s: got %+v, want one error with %q", path, status, why)
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
	got := c.do("GET "+same, "").want(t, 200).body
	want := c.do("GET /Queries/SO_Totals?Cursor="+next, "").want(t, 200).body
	if got != want {
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
