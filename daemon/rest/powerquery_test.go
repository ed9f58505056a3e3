package rest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/daemontest"
)

// powerQuery has requests of Power Query in Excel and Power BI, in the order of a first import,
// with the page that shows their form. Where no page does, the form is our own.
var powerQuery = []struct{ source, path string }{
	// The address in the dialog is that of the service, or of an entity set.
	{source: "https://learn.microsoft.com/power-query/connectors/odata-feed", path: "/"},
	{source: "https://learn.microsoft.com/power-query/connectors/odata-feed", path: "/$metadata"},
	// The navigator and Table.FirstN.
	{source: "https://github.com/microsoft/DataConnectors/issues/107", path: "/DB_Class?$top=3"},
	// A filtered row, and columns that were chosen; the comma is escaped, blanks are not.
	{
		source: "https://learn.microsoft.com/power-query/querydiagnosticsfolding",
		path:   "/IN_Colours?$filter=ColourCode eq 'RED'&$select=RecID%2CDescription",
	},
	// A column that is true or false.
	{
		source: "https://github.com/microsoft/DataConnectors/issues/295",
		path:   "/BM_Inputs?$filter=IsRatio eq true&$select=RecID,Quantity&$top=2",
	},
	// Sorting, skipped rows, and the number of rows.
	{
		source: "https://learn.microsoft.com/power-query/samples/trippin/10-tableview1/readme",
		path:   "/DB_Class?$orderby=Class desc&$skip=2&$top=2",
	},
	{
		source: "https://learn.microsoft.com/power-query/samples/trippin/10-tableview1/readme",
		path:   "/DB_Class/$count",
	},
	// A row that another one refers to, by its key.
	{source: "https://github.com/microsoft/DataConnectors/issues/250", path: "/SO_Totals('00120')"},
	// RangeStart and RangeEnd, converted to instants.
	{
		source: "https://docs.cognite.com/cdf/dashboards/references/rest/powerbi_rest_incremental_refresh",
		path:   "/CR_BatchTransDocuments?$filter=LastSavedDateTime ge 2025-01-01T00:00:00Z and LastSavedDateTime lt 2025-01-05T00:00:00Z&$select=RecID,LastSavedDateTime&$orderby=LastSavedDateTime",
	},
	// Table.SelectRows with two values of a column, without blanks around commas.
	{source: "", path: "/DB_Class?$filter=Class eq 'B - Regular' or startswith(Class,'A')&$select=Class"},
	// The same with a column that is not null.
	{
		path: "/IN_Colours?$filter=(DisplayOrder ge 1 and DisplayOrder le 2 or Description eq null) and ColourCode ne null&$select=RecID&$top=3",
	},
	// A step that is not folded is not an error of the import.
	{source: "", path: "/DB_Class?$apply=groupby((Class))"},
}

// perRun matches the parts of responses that differ between runs.
var perRun = regexp.MustCompile(`http://127\.0\.0\.1:\d+|"requestId":"[0-9a-f]+"`)

// TestPowerQueryRequests compares the responses with a golden file. The first request of Power
// Query has no credentials: it sends them after the challenge.
func TestPowerQueryRequests(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--query-time-zone", feedZone)
	c := anonymous(t, i).with("Accept: application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,application/atomsvc+xml;q=0.8,text/plain;q=0.7", "OData-MaxVersion: 4.0", "MaxDataServiceVersion: 3.0")
	var got strings.Builder
	for n, r := range powerQuery {
		line := "GET /odata" + strings.ReplaceAll(r.path, " ", "%20")
		if n == 0 {
			c.do(line, "").want(t, 401).wantHeader(t, "WWW-Authenticate", `Basic realm="whd"`)
			c = c.with(basic(i.Key(t, "reader"), ""))
		}
		a := c.do(line, "")
		body := perRun.ReplaceAllString(a.body, "…")
		if strings.HasSuffix(r.path, "$metadata") {
			body = fmt.Sprint(strings.Count(body, "<EntitySet "), " entity sets")
		}
		fmt.Fprintf(&got, "%s\n%d %s\n%s\n\n", r.path, a.status, a.header.Get("Content-Type"), body)
	}
	goldentest.Compare(t, "testdata/feeds/powerquery.golden", got.String())
}
