package rest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	demodata "github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// feedZone is the time zone of the records in tests of OData.
const feedZone = "Australia/Sydney"

var feedLocation, _ = time.LoadLocation(feedZone) // embedded in tests of dates

// feedPage is a page of OData.
type feedPage struct {
	Context string `json:"@odata.context"`
	Count   *int64 `json:"@odata.count"`
	Next    string `json:"@odata.nextLink"`
	Value   []map[string]any
}

// feed reads one page; the path is below /odata.
func (c client) feed(path string, headers ...string) feedPage {
	c.t.Helper()
	return readPage(c.t, c.do("GET /odata/"+escapedOptions(path), "", headers...).want(c.t, 200))
}

func readPage(t testing.TB, a answer) (p feedPage) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		t.Fatalf("%v in %s", err, shortened(a.body))
	}
	return p
}

// escapedOptions escapes the values of options.
func escapedOptions(path string) string {
	path, options, _ := strings.Cut(path, "?")
	for pair := range strings.SplitSeq(options, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			separator := "?"
			if strings.Contains(path, "?") {
				separator = "&"
			}
			path += separator + name + "=" + url.QueryEscape(value)
		}
	}
	return path
}

// allFeed reads all pages.
func (c client) allFeed(path string, headers ...string) (rows []map[string]any, pages int) {
	c.t.Helper()
	p := c.feed(path, headers...)
	for {
		rows = append(rows, p.Value...)
		pages++
		if p.Next == "" {
			return rows, pages
		}
		p = readPage(c.t, c.do("GET "+strings.TrimPrefix(p.Next, c.url), "", headers...).want(c.t, 200))
	}
}

// restRow returns a row of OData as REST returns it.
func restRow(kind *record.Kind, row map[string]any) string {
	texts := make([]string, 0, len(row))
	for name, value := range row {
		field, _ := kind.Column(name)
		if text, ok := value.(string); ok {
			switch kind.Fields[field].Type {
			case record.DateTime:
				at, err := time.Parse(time.RFC3339, text)
				isFirst := at.IsZero()                                      // also for times with an instant in the year before
				if err == nil && strings.HasSuffix(text, "Z") && !isFirst { // before there were zones
					value = at.In(feedLocation).Format("2006-01-02T15:04:05.0000000")
				} else {
					value = text[:len("2006-01-02T15:04:05.0000000")]
				}
			case record.Bytes:
				data, _ := base64.RawURLEncoding.DecodeString(text)
				value = base64.StdEncoding.EncodeToString(data)
			}
		}
		texts = append(texts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// restRows returns the rows of REST queries, one after the other.
func (c client) restRows(kind *record.Kind, queries string) (rows []string) {
	c.t.Helper()
	for part := range strings.SplitSeq(queries, " + ") {
		var e struct{ Results []map[string]any }
		d := json.NewDecoder(strings.NewReader(c.do("GET "+escapedOptions("/Queries/"+kind.Name+"?Include=NoTotal&nulls=include&"+part), "").want(c.t, 200).body))
		d.UseNumber()
		if err := d.Decode(&e); err != nil {
			c.t.Fatal(err)
		}
		for _, row := range e.Results {
			texts := make([]string, 0, len(row))
			for name, value := range row {
				texts = append(texts, fmt.Sprintf("%s=%v", name, value))
			}
			slices.Sort(texts)
			rows = append(rows, strings.Join(texts, "\n"))
		}
	}
	return rows
}

// feedQueries are queries by OData and by REST. REST queries with + between them together have
// the rows, in any order.
var feedQueries = []struct{ odata, rest string }{
	{odata: "SO_Totals?$top=10", rest: "Take=10&OrderBy=InvoiceID"},
	{odata: "SO_Totals?$filter=InvoiceID eq '00120'", rest: "InvoiceID=00120"},
	{
		odata: "SO_Totals?$filter=InvoiceID eq '00120'&$select=InvoiceTotal,InvoiceID",
		rest:  "InvoiceID=00120&Fields=InvoiceTotal,InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=InvoiceTotal gt 24000",
		rest:  "InvoiceTotalGreaterThan=24000&OrderBy=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=InvoiceTotal ge 3394.545&$top=20",
		rest:  "InvoiceTotalGreaterThanOrEqualTo=3394.545&Take=20&OrderBy=InvoiceID",
	},
	{odata: "SO_Totals?$filter=InvoiceTotal lt 10.5", rest: "InvoiceTotalLessThan=10.5&OrderBy=InvoiceID"},
	{
		odata: "SO_Totals?$filter=10.5 ge InvoiceTotal",
		rest:  "InvoiceTotalLessThanOrEqualTo=10.5&OrderBy=InvoiceID",
	},
	{odata: "SO_Totals?$filter=InvoiceTotal eq 3394.5450", rest: "InvoiceTotal=3394.545&OrderBy=InvoiceID"},
	{
		odata: "SO_Totals?$filter=InvoiceTotal eq 1e2 or InvoiceTotal eq 3394.545",
		rest:  "InvoiceTotalIn=100,3394.545&OrderBy=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=InvoiceTotal in (1e2,3394.545)",
		rest:  "InvoiceTotalIn=100,3394.545&OrderBy=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=InvoiceID in ('00120','d000001','none')",
		rest:  "InvoiceIDIn=00120,d000001&OrderBy=InvoiceID",
	},
	{odata: "SY_Filters?$filter=not (ItemNo in (1,2))", rest: "ItemNoLessThan=1 + ItemNoGreaterThan=2"},
	{
		odata: "BM_Inputs?$filter=ItemNo in (2,3,2.5) and IsRatio in (true)&$top=50",
		rest:  "ItemNoIn=2,3&IsRatio=true&Take=50&OrderBy=RecID",
	},
	{
		odata: "IN_ProductAvailability?$filter=Available in (null,true) and LogicalID eq '0000000XC20000000001'",
		rest:  "Available=true&LogicalID=0000000XC20000000001 + AvailableIsNull=1&LogicalID=0000000XC20000000001",
	},
	{
		odata: "SO_Totals?$filter=InvoiceTotal ge 100 and InvoiceTotal le 200&$orderby=InvoiceTotal desc",
		rest:  "InvoiceTotalBetween=100,200&OrderBy=-InvoiceTotal,-InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=Cartage3Total ne 5",
		rest:  "Cartage3TotalNotEqualTo=5 + Cartage3TotalIsNull=1",
	},
	{
		odata: "SO_Totals?$filter=not (Cartage3Total gt 5)",
		rest:  "Cartage3TotalLessThanOrEqualTo=5 + Cartage3TotalIsNull=1",
	},
	{
		odata: "SO_Totals?$filter=not (Cartage3Total gt 5 or Cartage3Total eq null)",
		rest:  "Cartage3TotalLessThanOrEqualTo=5&OrderBy=InvoiceID",
	},
	{odata: "SO_Totals?$filter=Cartage3Total eq null", rest: "Cartage3TotalIsNull=1&OrderBy=InvoiceID"},
	{
		odata: "SO_Totals?$filter=Cartage3Total ne null and InvoiceTotal lt 50",
		rest:  "Cartage3TotalIsNotNull=1&InvoiceTotalLessThan=50&OrderBy=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=Cartage3Total eq null or InvoiceTotal lt 50",
		rest:  "Cartage3TotalIsNull=1 + Cartage3TotalIsNotNull=1&InvoiceTotalLessThan=50",
	},
	{
		odata: "SO_Totals?$filter=(InvoiceTotal lt 50 or InvoiceTotal gt 24500) and Cartage1Total gt 0",
		rest:  "InvoiceTotalLessThan=50&Cartage1TotalGreaterThan=0 + InvoiceTotalGreaterThan=24500&Cartage1TotalGreaterThan=0",
	},
	{
		odata: "SO_Totals?$filter=startswith(InvoiceID,'0012')",
		rest:  "InvoiceIDStartsWith=0012&OrderBy=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=endswith(InvoiceID,'99')&$orderby=InvoiceID desc",
		rest:  "InvoiceIDEndsWith=99&OrderByDesc=InvoiceID",
	},
	{
		odata: "SO_Totals?$filter=contains(InvoiceID,'00012')",
		rest:  "InvoiceIDContains=00012&OrderBy=InvoiceID",
	},
	{odata: "SO_Totals?$filter=tolower(InvoiceID) eq 'd000001'", rest: "InvoiceID=d000001"},
	{
		odata: "SO_Totals?$filter=InvoiceID ge '00120' and InvoiceID le '00130'",
		rest:  "InvoiceIDBetween=00120,00130&OrderBy=InvoiceID",
	},
	{odata: "SO_Totals?$skip=5&$top=7", rest: "Skip=5&Take=7&OrderBy=InvoiceID"},
	{
		odata: "SO_Totals?$orderby=Cartage3Total,InvoiceID desc&$top=50",
		rest:  "OrderBy=Cartage3Total,-InvoiceID&Take=50",
	},
	{
		odata: "SO_Totals?$orderby=Cartage3Total desc,InvoiceTotal&$top=50&$skip=10",
		rest:  "OrderBy=-Cartage3Total,InvoiceTotal,InvoiceID&Take=50&Skip=10",
	},
	{odata: "SO_Totals?$filter=false", rest: "Take=0"},
	{
		odata: "SO_Totals?$filter=true and InvoiceTotal lt 20",
		rest:  "InvoiceTotalLessThan=20&OrderBy=InvoiceID",
	},
	{odata: "BM_Inputs?$filter=IsRatio&$top=100", rest: "IsRatio=true&Take=100&OrderBy=RecID"},
	{odata: "BM_Inputs?$filter=not IsRatio&$top=100", rest: "IsRatio=false&Take=100&OrderBy=RecID"},
	{
		odata: "BM_Inputs?$filter=IsRatio ne true and ItemNo eq 3&$top=100",
		rest:  "IsRatio=false&ItemNo=3&Take=100&OrderBy=RecID",
	},
	{
		odata: "BM_Inputs?$filter=ItemNo gt 2.5 and ItemNo lt 3.5&$top=100",
		rest:  "ItemNo=3&Take=100&OrderBy=RecID",
	},
	{odata: "BM_Inputs?$filter=ItemNo lt 99999999999&$top=10", rest: "Take=10&OrderBy=RecID"},
	{odata: "BM_Inputs?$filter=ItemNo gt 99999999999", rest: "Take=0"},
	{
		odata: "BM_Inputs?$filter=SubAssemblyExplodePolicy eq 1&$top=100",
		rest:  "SubAssemblyExplodePolicy=1&Take=100&OrderBy=RecID",
	},
	{
		odata: "BM_Inputs?$filter=SubAssemblyExplodePolicy ge 1 and SubAssemblyExplodePolicy ne 2&$top=50",
		rest:  "SubAssemblyExplodePolicyGreaterThanOrEqualTo=1&SubAssemblyExplodePolicyNotEqualTo=2&Take=50&OrderBy=RecID",
	},
	{odata: "BM_Inputs?$filter=Note eq null&$top=100", rest: "NoteIsNull=1&Take=100&OrderBy=RecID"},
	{
		odata: "BM_Inputs?$filter=contains(Note,'m; see')&$top=100",
		rest:  "NoteContains=m; see&Take=100&OrderBy=RecID",
	},
	{odata: "BM_Inputs?$filter=contains(Note,'%')", rest: "NoteContains=%&OrderBy=RecID"},
	{odata: "BM_Inputs?$filter=RowHash eq binary'AAAAAAAe2bI'", rest: "RowHash=AAAAAAAe2bI="},
	{
		odata: "BM_Inputs?$orderby=Quantity desc,RecID&$top=30&$select=RecID,Quantity",
		rest:  "OrderBy=-Quantity,RecID&Take=30&Fields=RecID,Quantity",
	},
	{odata: "CR_BatchTransDocuments?$top=20", rest: "Take=20&OrderBy=RecID"},
	{
		odata: "CR_BatchTransDocuments?$filter=LastSavedDateTime ge 2025-01-01&$top=50",
		rest:  "LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01&Take=50&OrderBy=RecID",
	},
	{
		odata: "CR_BatchTransDocuments?$filter=LastSavedDateTime ge 2024-12-31T13:00:00Z and LastSavedDateTime lt 2025-06-30T14:00:00Z&$orderby=RecID",
		rest:  "LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01&LastSavedDateTimeLessThan=2025-07-01&OrderBy=RecID",
	},
	{
		odata: "CR_BatchTransDocuments?$filter=LastSavedDateTime eq 2025-09-23T06:26:40.0417014Z",
		rest:  "LastSavedDateTime=2025-09-23T16:26:40.0417014",
	},
	{
		odata: "CR_BatchTransDocuments?$filter=LastSavedDateTime eq 2025-09-23T16:26:40.0417014+10:00",
		rest:  "LastSavedDateTime=2025-09-23T16:26:40.0417014",
	},
	{
		odata: "CR_BatchTransDocuments?$filter=not (LastSavedDateTime lt 2025-01-01)&$orderby=LastSavedDateTime desc,RecID&$top=25",
		rest:  "LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01&OrderBy=-LastSavedDateTime,RecID&Take=25",
	},
	{odata: "Demo_Extremes?$filter=BytesValue eq null", rest: "BytesValueIsNull=1&OrderBy=RecID"},
	{
		odata: "BM_InputCustomFields?$filter=SY_Plugin_RecID eq e16451b5-38ad-4d5c-a968-d992cd792b2e",
		rest:  "SY_Plugin_RecID=e16451b5-38ad-4d5c-a968-d992cd792b2e&OrderBy=RecID",
	},
	{
		odata: "BM_InputCustomFields?$filter=SY_Plugin_RecID eq E16451B5-38AD-4D5C-A968-D992CD792B2E or DisplayOrder eq 7",
		rest:  "SY_Plugin_RecID=e16451b5-38ad-4d5c-a968-d992cd792b2e&DisplayOrderNotEqualTo=7 + DisplayOrder=7",
	},
	{
		odata: "BM_InputCustomFields?$filter=CellType le 1 and SettingName ne null",
		rest:  "CellTypeLessThanOrEqualTo=1&SettingNameIsNotNull=1&OrderBy=RecID",
	},
	{odata: "Demo_Extremes?$filter=TextValue eq '=SUM(A1)'", rest: "TextValue==SUM(A1)&OrderBy=RecID"},
	{odata: "JB_EstimateResourceLines?$top=20", rest: "Take=20&OrderBy=RecID"},
	{
		odata: "Demo_Extremes?$filter=DecimalValue eq 9999999999999999999.9999999999999999999",
		rest:  "DecimalValue=9999999999999999999.9999999999999999999&OrderBy=RecID",
	},
	{
		odata: "Demo_Extremes?$filter=DecimalValue eq 9007199254740993",
		rest:  "DecimalValue=9007199254740993&OrderBy=RecID",
	},
	{
		odata: "Demo_Extremes?$filter=contains(TextValue,'50%_[a-c]')",
		rest:  "TextValueContains=50%_[a-c]&OrderBy=RecID",
	},
	{odata: "DB_Class", rest: "Fields=Class + Take=0"},
	{
		odata: "DB_Class?$filter=startswith(Class,'A')&$orderby=Class desc",
		rest:  "ClassStartsWith=A&OrderByDesc=Class",
	},
	{
		odata: "INMGT020POQty?$top=20&$orderby=InventoryID,IN_LogicalID",
		rest:  "Take=20&OrderBy=InventoryID,IN_LogicalID",
	},
	{odata: "INMGT020POQty?$filter=Qty gt 700", rest: "QtyGreaterThan=700 + Take=0"},
	{
		odata: "SY_Filters?$filter=Description eq null or Description eq 'Top 3% by value'",
		rest:  "DescriptionIsNull=1 + Description=Top 3% by value",
	},
	{
		odata: "SY_Filters?$filter=FilterNo ge 3 and FilterNo le 5 and (ItemNo eq 1 or ItemNo eq 2)",
		rest:  "FilterNoBetween=3,5&ItemNoIn=1,2&OrderBy=RecID",
	},
	{
		odata: "IN_ProductAvailability?$filter=Available eq null&$top=100",
		rest:  "AvailableIsNull=1&Take=100&OrderBy=RecID",
	},
	{
		odata: "IN_ProductAvailability?$filter=Available ne true and LogicalID eq '0000000XC20000000001'",
		rest:  "Available=false&LogicalID=0000000XC20000000001 + AvailableIsNull=1&LogicalID=0000000XC20000000001",
	},
	{
		odata: "IN_KitStockTakeMain?$filter=KitStockTakeDate ge 2019-01-01 and KitStockTakeDate lt 2020-01-01&$orderby=KitStockTakeID",
		rest:  "KitStockTakeDateGreaterThanOrEqualTo=2019-01-01&KitStockTakeDateLessThan=2020-01-01&OrderBy=KitStockTakeID",
	},
	{
		odata: "IN_Colours?$orderby=DisplayOrder desc,Description&$top=40",
		rest:  "OrderBy=-DisplayOrder,Description,RecID&Take=40",
	},
	{
		odata: "IN_Colours?$filter=startswith(Description,'b') or endswith(Description,'E')",
		rest:  "DescriptionStartsWith=b + DescriptionEndsWith=E",
	},
}

// TestFeeds runs the tests of feedStores.
func TestFeeds(t *testing.T) {
	feedStores(t, func(t *testing.T, c client) {
		for name, test := range map[string]func(*testing.T, client){
			"Queries": compareFeedQueries,
			"Pages":   readFeedPages,
		} {
			t.Run(name, func(t *testing.T) {
				c.t = t
				test(t, c)
			})
		}
	})
}

// compareFeedQueries compares the rows of queries by OData and by REST. Each filter and its
// negation together have all rows, and no row twice.
func compareFeedQueries(t *testing.T, c client) {
	if len(feedQueries) < 60 {
		t.Errorf("only %d queries", len(feedQueries))
	}

	count := func(kind, filter string) (n int) {
		path := "/odata/" + kind + "/$count"
		if filter != "" {
			path += "?$filter=" + url.QueryEscape(filter)
		}
		_, _ = fmt.Sscan(c.do("GET "+path, "").want(t, 200).body, &n)
		return n
	}
	many := strings.Repeat("InvoiceTotal ne 1 or ", 499) + "InvoiceTotal eq 1"
	all := count("SO_Totals", "")
	if n := count("SO_Totals", many); n != all {
		t.Errorf("%d rows match one of 500 comparisons, want %d", n, all)
	}
	if n := count("SO_Totals", "not ("+many+")"); n != 0 {
		t.Errorf("%d rows match none of 500 comparisons", n)
	}

	nonEmpty := 0
	allRows := make(map[string]int) // by kind
	for _, q := range feedQueries {
		name, options, _ := strings.Cut(q.odata, "?")
		kind, _ := demodata.Kinds().Lookup(name)
		var got []string
		rows, _ := c.allFeed(q.odata)
		for _, row := range rows {
			got = append(got, restRow(kind, row))
		}

		want := c.restRows(kind, q.rest)
		if strings.Contains(q.rest, " + ") {
			slices.Sort(got)
			slices.Sort(want)
			want = slices.Compact(want)
		}

		if !slices.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s: %d rows, %d by REST; from row %d\n%.400s\n\n%.400s",
				q.odata, len(got), len(want), at, strings.Join(got[at:], "\n\n"), strings.Join(want[at:], "\n\n"))
		}

		nonEmpty += min(len(got), 1)
		_, filter, isFiltered := strings.Cut(options, "$filter=")
		if !isFiltered {
			continue
		}

		filter, _, _ = strings.Cut(filter, "&")
		negation := " not (" + filter + ")"
		all, isCounted := allRows[name]
		if !isCounted {
			all = count(name, "")
			allRows[name] = all
		}

		matching := count(name, filter)
		others := count(name, negation)
		both := count(name, "("+filter+") and"+negation)
		either := count(name, "("+filter+") or"+negation)
		if matching+others != all || both != 0 || either != all {
			t.Errorf("%s: %d rows, %d by its negation, %d by both, %d by either of them, %d in all",
				filter, matching, others, both, either, all)
		}
	}
	if nonEmpty < 60 {
		t.Errorf("only %d queries have rows", nonEmpty)
	}
}

// readFeedPages reads many rows by next links, which have the rest of $top and the first
// count, and no credentials.
func readFeedPages(t *testing.T, c client) {
	kind, _ := record.Builtin().Lookup("SO_Totals")
	for _, q := range []struct {
		odata, rest string
		size, pages int
	}{
		{odata: "SO_Totals", rest: "OrderBy=InvoiceID", size: 1000, pages: 12},
		{
			odata: "SO_Totals?$top=1203&$skip=7",
			rest:  "OrderBy=InvoiceID&Skip=7&Take=1203",
			size:  400,
			pages: 4,
		},
		{
			odata: "SO_Totals?$top=800&$orderby=Cartage3Total desc",
			rest:  "OrderBy=-Cartage3Total,-InvoiceID&Take=800",
			size:  400,
			pages: 2,
		},
		{
			odata: "SO_Totals?$filter=not (Cartage3Total gt 5) and InvoiceTotal ge 100&$orderby=Cartage2Total&$select=InvoiceID",
			rest:  "OrderBy=Cartage2Total,InvoiceID&InvoiceTotalGreaterThanOrEqualTo=100&Cartage3TotalLessThanOrEqualTo=5&Fields=InvoiceID,Cartage2Total + OrderBy=Cartage2Total,InvoiceID&InvoiceTotalGreaterThanOrEqualTo=100&Cartage3TotalIsNull=1&Fields=InvoiceID,Cartage2Total",
			size:  700,
			pages: 0,
		},
	} {
		rows, pages := c.allFeed(q.odata, fmt.Sprintf("Prefer: odata.maxpagesize=%d", q.size))
		if q.pages > 0 && pages != q.pages {
			t.Errorf("%s: %d pages, want %d", q.odata, pages, q.pages)
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row["InvoiceID"].(string)
		}
		var want []string
		for _, row := range c.restRows(kind, q.rest) {
			_, id, _ := strings.Cut(row, "InvoiceID=")
			id, _, _ = strings.Cut(id, "\n")
			want = append(want, id)
		}
		if strings.Contains(q.rest, " + ") {
			slices.Sort(ids)
			slices.Sort(want)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %d rows, want %d", q.odata, len(ids), len(want))
		}
	}

	followNextLinks(t, c)
}

// followNextLinks reads five rows, two on a page. All pages have the count and the format of the
// first one; the links do not repeat unknown options.
func followNextLinks(t *testing.T, c client) {
	t.Helper()
	const path = "/odata/SO_Totals?$count=true&$top=5&$select=InvoiceID" +
		"&$format=application/json;odata.metadata=none;IEEE754Compatible=true&x=secret"
	a := c.do("GET "+escapedOptions(path), "", "Prefer: respond-async, odata.maxpagesize=2").want(t, 200).
		wantHeader(t, "Preference-Applied", "odata.maxpagesize=2")
	for _, size := range []int{2, 2, 1} {
		var p struct {
			Count string `json:"@odata.count"`
			Next  string `json:"@odata.nextLink"`
			Value []any
		}
		err := json.Unmarshal([]byte(a.body), &p)
		if err != nil || p.Count != "12000" || len(p.Value) != size || strings.Contains(a.body, "context") {
			t.Fatalf("got %s (%v), want %d of 12000 rows without a context", shortened(a.body), err, size)
		}
		isLast := size == 1
		if (p.Next == "") != isLast || strings.Contains(p.Next, "secret") {
			t.Fatalf("the page of %d rows has the link %q", size, p.Next)
		}
		if !isLast {
			a = c.do("GET "+strings.TrimPrefix(p.Next, c.url), "", "Prefer: odata.maxpagesize=2").want(t, 200)
		}
	}
}

// TestFeedPageSize: the settings limit a page, and a key in the URL is in no next link.
func TestFeedPageSize(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--odata-max-page", "300", "--query-max-take", "250", "--auth-key-in-url")
	c := anonymous(t, i)
	key := i.Key(t, "reader")
	p := c.feed("SO_Totals?$select=InvoiceID&apikey="+key, "Prefer: odata.maxpagesize=1000")
	if len(p.Value) != 250 || p.Next == "" || strings.Contains(p.Next, key) || strings.Contains(p.Next, "apikey") {
		t.Errorf("%d rows, then %s", len(p.Value), p.Next)
	}
	path := strings.TrimPrefix(p.Next, i.URL)
	c.do("GET "+path, "").want(t, 401)
	c.do("GET "+path+"&apikey="+key, "").want(t, 200)
	c.do("GET "+path+"x&apikey="+key, "").want(t, 400)
	c.do("GET "+path+"&$top=1&apikey="+key, "").want(t, 400)
	if all := c.feed("INMGT020POQty?$select=Qty&apikey=" + key); len(all.Value) != 4800 || all.Next != "" {
		t.Errorf("%d rows without a key, then %s", len(all.Value), all.Next)
	}
	c.do("GET /odata/INMGT020POQty('a')?apikey="+key, "").want(t, 404)
}

// feedStores runs a test on the demo records in files, and on SQL Server.
func feedStores(t *testing.T, test func(*testing.T, client)) {
	t.Run("SQLite", func(t *testing.T) {
		test(t, asAdmin(t, daemontest.Start(t, "--demo", "--query-time-zone", feedZone, "--erp-kinds", extremesFile)))
	})
	t.Run("SQLServer", func(t *testing.T) {
		dsn := mssqltest.Database(t)
		var out bytes.Buffer
		for _, command := range []string{"migrate", "demo"} {
			status := whd.Main(whd.Process{
				Args:   []string{command, "--store", dsn, "--data-dir", t.TempDir()},
				Stdout: &out,
				Stderr: &out,
			})
			if status != 0 {
				t.Fatalf("whd %s: %s", command, &out)
			}
		}
		test(t, asAdmin(t, daemontest.Start(t, "--store", dsn, "--query-time-zone", feedZone,
			"--erp-kinds", extremesFile)))
	})
}
