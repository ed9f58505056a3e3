package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestConventions compares the rows of implicit conventions with those of the equivalent
// suffixes, in a query string, a form and a JSON body.
func TestConventions(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const totals = "/Queries/SO_Totals?Fields=InvoiceID&OrderBy=InvoiceID"
	var row struct{ InvoiceTotal json.Number }
	found := c.do("GET /Queries/SO_Totals?OrderByDesc=InvoiceTotal&Skip=50&Take=1", "").want(t, 200).envelope(t).Results
	if err := json.Unmarshal(found[0], &row); err != nil {
		t.Fatal(err)
	}

	value := row.InvoiceTotal.String()
	all := c.do("GET "+totals, "").want(t, 200).body
	for suffix, names := range map[string][]string{
		"GreaterThan":          {"InvoiceTotal>", "invoicetotal>", "InvoiceTotalOver", "BeginInvoiceTotal"},
		"GreaterThanOrEqualTo": {">InvoiceTotal", "SinceInvoiceTotal", "InvoiceTotalFROM"},
		"LessThan":             {"<InvoiceTotal", "BelowInvoiceTotal", "InvoiceTotalBefore"},
		"LessThanOrEqualTo":    {"InvoiceTotal<", "UntilInvoiceTotal"},
		"NotEqualTo":           {"InvoiceTotal!"},
		"In":                   {"InvoiceTotalIds"},
	} {
		want := c.do("GET "+totals+"&InvoiceTotal"+suffix+"="+value, "").want(t, 200)
		if len(want.envelope(t).Results) == 0 || want.body == all {
			t.Fatalf("InvoiceTotal%s=%s does not separate rows", suffix, value)
		}
		for _, name := range names {
			for way, got := range map[string]answer{
				"raw query":     c.do("GET "+totals+"&"+name+"="+value, ""),
				"escaped query": c.do("GET "+totals+"&"+url.QueryEscape(name)+"="+value, ""),
				"form": c.do("POST "+totals, url.QueryEscape(name)+"="+value,
					"Content-Type: application/x-www-form-urlencoded"),
				"JSON": c.do("POST "+totals, `{"`+name+`":"`+value+`"}`),
			} {
				got.want(t, 200).wantHeader(t, "X-Ignored-Members", "")
				if got.body != want.body {
					t.Errorf("%s in a %s: %s\nwant as with %s: %s", name, way, got.body, suffix, want.body)
				}
			}
		}
	}
}

// TestUnreadableComparisons sends, to every record kind, a comparison that the field does
// not have, and comparisons that cannot be read.
func TestUnreadableComparisons(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, kind := range record.Builtin().Kinds() {
		f := kind.Fields[0]
		names := []string{
			f.Name + "<>",
			"!" + f.Name,
			f.Name + ">5",
			"5<" + strings.ToLower(f.Name),
			f.Name + " >",
		}
		for _, other := range kind.Fields {
			if !other.Filter.Allows(record.NotEqualTo) {
				names = append(names, other.Name+"!", other.Name+">", "<"+other.Name, "OnOrAfter"+other.Name)
			}
		}
		for _, path := range []string{"/json/reply/" + kind.Operation(), "/Queries/" + kind.Name} {
			for _, name := range names {
				for _, a := range []answer{
					c.do("GET "+path+"?"+url.QueryEscape(name)+"=1", ""),
					c.do("GET "+path+"?"+url.QueryEscape(name), ""),
					c.do("POST "+path, fmt.Sprintf(`{%q:null}`, name)),
				} {
					status := a.want(t, 400).envelope(t).ResponseStatus
					if status.ErrorCode != "ArgumentException" || len(status.Errors) != 1 ||
						status.Errors[0].FieldName != name || !strings.Contains(status.Message, "which accepts") {
						t.Errorf("%s: got %+v, want an ArgumentException that lists the accepted filters",
							name, status)
					}
				}
			}
		}
	}
}

// TestConventionsOnPages follows the links and the form of a page. Its conditions are
// implicit conventions; one has no value.
func TestConventionsOnPages(t *testing.T) {
	c := signIn(t, demo.start(t))
	a := c.do("GET /Queries/BM_Inputs.html?NoteIsNotNull&Quantity%3E=1&Take=2", "").want(t, 200)
	a.wantText(t, "Note is not null <b></b>", "Quantity is over <b>1</b>",
		`<input type="hidden" name="NoteIsNotNull" value="true">`)
	want := c.do("GET /Queries/BM_Inputs.json?NoteIsNotNull&QuantityGreaterThan=1&Take=2", "").want(t, 200)
	_, link := a.exports(t, "JSON")
	got := c.do("GET "+link, "").want(t, 200)
	if got.body != want.body || len(want.envelope(t).Results) == 0 {
		t.Errorf("JSON at %s has %s, want %s", link, got.body, want.body)
	}
}

// TestIgnoredMembersAreCounted checks the metric and the request log, of queries and of
// other requests. /metrics of the service needs no login, so it has no names of accounts.
func TestIgnoredMembersAreCounted(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	id := c.do("GET /Queries/SO_Totals?InvoiceTotl=1&Colour=x&Take=1", "").want(t, 200).header.Get("X-Request-Id")
	c.do("POST /json/reply/SO_TotalsQuery", `{"Nope":1,"Take":1}`).want(t, 200)
	c.do("GET /Queries/SO_Totals?Take=1", "").want(t, 200)
	c.do("GET /Queries/SO_Totals?Nope=1&Strict=true", "").want(t, 400)
	anonymous(t, i).do("GET /auth?Shade=1", "").want(t, 401)
	if got := c.entry(id).Items["IgnoredMembers"]; got != "InvoiceTotl, Colour" {
		t.Errorf("the request log has the ignored members %q", got)
	}
	var lines []string
	for line := range strings.Lines(anonymous(t, i).do("GET /metrics", "").want(t, 200).body) {
		if strings.HasPrefix(line, "whd_http_requests_with_ignored_members_total{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{
		`whd_http_requests_with_ignored_members_total{account="",operation="Authenticate"} 1`,
		`whd_http_requests_with_ignored_members_total{account="***",operation="SO_TotalsQuery"} 2`,
	}
	slices.Sort(lines)
	if !slices.Equal(lines, want) {
		t.Errorf("got %q\nwant %q", lines, want)
	}
}
