package rest_test

import (
	"strings"
	"testing"
)

// manyRows are more rows than are counted for the total of a page that was not requested.
const manyRows = "SELECT %s FROM numbers LIMIT 100000"

func TestCostlyTotalOfPage(t *testing.T) {
	i := startWithView(t, "SY_Filters", manyRows)
	c := asAdmin(t, i)

	e := c.do("GET /json/reply/SY_FiltersQuery?Take=2", "").want(t, 200).envelope(t)
	if notice := e.Meta["Total"]; *e.Total != 0 || !strings.Contains(notice, "Include=Total") {
		t.Errorf("total %d, notice %q, want 0 and a notice that names Include=Total", *e.Total, notice)
	}
	c.do("GET /csv/reply/SY_FiltersQuery?Take=2", "").want(t, 200).wantHeader(t, "X-Total", "unknown")
	c.do("GET /csv/reply/SY_FiltersQuery?Take=2&Include=NoTotal", "").want(t, 200).wantHeader(t, "X-Total", "")

	page := c.do("GET /Queries/SY_Filters?format=html&Take=2", "").want(t, 200).body
	if !strings.Contains(page, "Include=Total") {
		t.Errorf("the web page has no link that requests the total:\n%s", page[strings.Index(page, "</table>"):])
	}

	c.do("GET /csv/reply/SY_FiltersQuery?Take=2&Include=Total", "").want(t, 200).wantHeader(t, "X-Total", "100000")
}
