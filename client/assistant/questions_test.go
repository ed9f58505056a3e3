package assistant_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// question is a business question about the demo records, with the calls by which an
// assistant answers it after it has found the kind, and SQL that answers it without whd.
type question struct {
	text      string
	words     string   // arguments of find_kinds
	kind      string   // find_kinds must return it
	calls     []string // the calls after find_kinds, with their arguments but for the kind
	path      string   // path of the answer in the last result, see answerAt
	sql       string   // selects the answer, or values to add up
	isAverage bool     // the answer is the average of the values of sql
}

// maxCalls is the maximum number of calls for an answer, including find_kinds.
const maxCalls = 3

var questions = []question{
	{
		text:  "How many invoices are there?",
		words: "invoices",
		kind:  "SO_Totals",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM SO_Totals`,
	},
	{
		text:  "How large is the total of all invoices?",
		words: "sales invoice total",
		kind:  "SO_Totals",
		calls: []string{`totals {"sum":["InvoiceTotal"]}`},
		path:  "totals.SumInvoiceTotal",
		sql:   `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal IS NOT NULL`,
	},
	{
		text:  "Which invoice is the largest?",
		words: "invoice",
		kind:  "SO_Totals",
		calls: []string{`query {"order":["-InvoiceTotal"],"limit":1}`},
		path:  "rows.0.InvoiceID",
		sql:   `SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceTotal DESC LIMIT 1`,
	},
	{
		text:  "How many invoices are over 50,000?",
		words: "invoices",
		kind:  "SO_Totals",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"InvoiceTotalGreaterThan":50000}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal > '50000'`,
	},
	{
		text:  "How large is the sum of invoices between 1,000 and 2,000?",
		words: "invoices",
		kind:  "SO_Totals",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"InvoiceTotalBetween":[1000,2000]},"sum":["InvoiceTotal"]}`,
		},
		path: "totals.SumInvoiceTotal",
		sql:  `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal BETWEEN '1000' AND '2000'`,
	},
	{
		text:      "How large is the average of invoices below 5,000?",
		words:     "invoices",
		kind:      "SO_Totals",
		calls:     []string{`totals {"filter":{"InvoiceTotalBetween":[0,5000]},"avg":["InvoiceTotal"]}`},
		path:      "totals.AvgInvoiceTotal",
		sql:       `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal BETWEEN '0' AND '5000'`,
		isAverage: true,
	},
	{
		text:  "How many invoices have no total?",
		words: "invoice total",
		kind:  "SO_Totals",
		calls: []string{`totals {"filter":{"InvoiceTotalIsNull":true}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal IS NULL`,
	},
	{
		text:  "How many invoices are negative?",
		words: "invoices",
		kind:  "SO_Totals",
		calls: []string{`totals {"filter":{"InvoiceTotalLessThan":0}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal < '0'`,
	},
	{
		text:  "How large is the total of invoice 00123?",
		words: "invoice",
		kind:  "SO_Totals",
		calls: []string{`query {"filter":{"InvoiceID":"00123"},"fields":["InvoiceTotal"]}`},
		path:  "rows.0.InvoiceTotal",
		sql:   `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceID = '00123'`,
	},
	{
		text:  "How much cartage was charged on invoices?",
		words: "cartage",
		kind:  "SO_Totals",
		calls: []string{`totals {"sum":["Cartage1Total"]}`},
		path:  "totals.SumCartage1Total",
		sql:   `SELECT Cartage1Total FROM SO_Totals WHERE Cartage1Total IS NOT NULL`,
	},
	{
		text:  "How high is the highest second cartage?",
		words: "cartage invoice",
		kind:  "SO_Totals",
		calls: []string{`totals {"max":["Cartage2Total"]}`},
		path:  "totals.MaxCartage2Total",
		sql:   `SELECT Cartage2Total FROM SO_Totals ORDER BY Cartage2Total DESC LIMIT 1`,
	},
	{
		text:  "How many stock takes are completed?",
		words: "stock takes status",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"filter":{"KitStockTakeStatus":true}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM IN_KitStockTakeMain WHERE KitStockTakeStatus = 1`,
	},
	{
		text:  "How many stock takes were there in 2021?",
		words: "stock takes",
		kind:  "IN_KitStockTakeMain",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"KitStockTakeDateBetween":["2021-01-01","2021-12-31"]}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM IN_KitStockTakeMain WHERE KitStockTakeDate LIKE '2021-%'`,
	},
	{
		text:  "How many stock takes had the busiest month?",
		words: "stock takes by date",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"by":["KitStockTakeDate:month"],"order":["-Count"],"limit":1}`},
		path:  "groups.0.Count",
		sql:   `SELECT count(*) FROM IN_KitStockTakeMain GROUP BY substr(KitStockTakeDate, 1, 7) ORDER BY 1 DESC LIMIT 1`,
	},
	{
		text:  "In how many years were stock takes made?",
		words: "stock take",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"by":["KitStockTakeDate:year"]}`},
		path:  "groups.#",
		sql:   `SELECT count(DISTINCT substr(KitStockTakeDate, 1, 4)) FROM IN_KitStockTakeMain`,
	},
	{
		text:  "When was the first stock take after 2018?",
		words: "stock take date",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"filter":{"KitStockTakeDateGreaterThan":"2018-12-31"},"min":["KitStockTakeDate"]}`},
		path:  "totals.MinKitStockTakeDate",
		sql:   `SELECT KitStockTakeDate FROM IN_KitStockTakeMain WHERE KitStockTakeDate > '2019' ORDER BY 1 LIMIT 1`,
	},
	{
		text:  "How many stock takes had the warehouse with the most?",
		words: "stock takes warehouse",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"by":["IN_LogicalID"],"order":["-Count"],"limit":1}`},
		path:  "groups.0.Count",
		sql:   `SELECT count(*) FROM IN_KitStockTakeMain GROUP BY IN_LogicalID ORDER BY 1 DESC LIMIT 1`,
	},
	{
		text:  "Which note does the stock take KST-000001 have?",
		words: "stock take notes",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`query {"filter":{"KitStockTakeNo":"KST-000001"}}`},
		path:  "rows.0.KitStockTakeNotes",
		sql:   `SELECT KitStockTakeNotes FROM IN_KitStockTakeMain WHERE KitStockTakeNo = 'KST-000001'`,
	},
	{
		text:  "How many stock takes did one member of staff make?",
		words: "stock takes staff",
		kind:  "IN_KitStockTakeMain",
		calls: []string{`totals {"filter":{"StaffID":"0000000OCS0000000003"}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM IN_KitStockTakeMain WHERE StaffID = '0000000OCS0000000003'`,
	},
	{
		text:  "How many debtor classes are there?",
		words: "debtor classes",
		kind:  "DB_Class",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM DB_Class`,
	},
	{
		text:  "Which debtor class starts with B?",
		words: "class of debtors",
		kind:  "DB_Class",
		calls: []string{`query {"filter":{"ClassStartsWith":"B"}}`},
		path:  "rows.0.Class",
		sql:   `SELECT Class FROM DB_Class WHERE Class LIKE 'B%' ORDER BY Class LIMIT 1`,
	},
	{
		text:  "Which is the default classification of creditors?",
		words: "creditor classification default",
		kind:  "CR_Classification",
		calls: []string{`query {"filter":{"IsDefault":true}}`},
		path:  "rows.0.Description",
		sql:   `SELECT Description FROM CR_Classification WHERE IsDefault = 1`,
	},
	{
		text:  "How many creditor classifications have terms of 30 days?",
		words: "creditor terms",
		kind:  "CR_Classification",
		calls: []string{`totals {"filter":{"TermsDays":30}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM CR_Classification WHERE TermsDays = 30`,
	},
	{
		text:  "How many creditor classifications have no account for insurance?",
		words: "creditor insurance ledger",
		kind:  "CR_Classification",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"LedgerIDCreditorInsuranceIsNull":true}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM CR_Classification WHERE LedgerIDCreditorInsurance IS NULL`,
	},
	{
		text:  "How many different terms do creditor classifications have?",
		words: "creditor terms days",
		kind:  "CR_Classification",
		calls: []string{`totals {"by":["TermsDays"]}`},
		path:  "groups.#",
		sql:   `SELECT count(*) FROM (SELECT DISTINCT TermsDays FROM CR_Classification)`,
	},
	{
		text:  "In how many units are resources of estimates counted?",
		words: "estimate resource units",
		kind:  "JB_EstimateResourceLines",
		calls: []string{`totals {"by":["Units"],"limit":200}`},
		path:  "groups.#",
		sql:   `SELECT count(*) FROM (SELECT DISTINCT Units FROM JB_EstimateResourceLines)`,
	},
	{
		text:  "How many lines of estimates are dated 2023?",
		words: "job estimate lines",
		kind:  "JB_EstimateResourceLines",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"TransactionDateBetween":["2023-01-01","2023-12-31"]}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM JB_EstimateResourceLines WHERE TransactionDate LIKE '2023-%'`,
	},
	{
		text:  "How low is the lowest cost of a unit in estimates?",
		words: "estimate cost",
		kind:  "JB_EstimateResourceLines",
		calls: []string{`totals {"min":["UnitCost"]}`},
		path:  "totals.MinUnitCost",
		sql:   `SELECT UnitCost FROM JB_EstimateResourceLines WHERE UnitCost IS NOT NULL ORDER BY UnitCost LIMIT 1`,
	},
	{
		text:  "How many inputs of bills of materials are ratios?",
		words: "bill of materials inputs ratio",
		kind:  "BM_Inputs",
		calls: []string{`totals {"filter":{"IsRatio":true}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM BM_Inputs WHERE IsRatio = 1`,
	},
	{
		text:  "How often is the item that most bills need an input?",
		words: "bills of materials items",
		kind:  "BM_Inputs",
		calls: []string{`totals {"filter":{"InventoryIDIsNotNull":true},"by":["InventoryID"],"order":["-Count"],"limit":1}`},
		path:  "groups.0.Count",
		sql:   `SELECT count(*) FROM BM_Inputs WHERE InventoryID IS NOT NULL GROUP BY InventoryID ORDER BY 1 DESC LIMIT 1`,
	},
	{
		text:  "How much of item NQ880NE12R776YTKSURC do bills need?",
		words: "bill inputs quantity",
		kind:  "BM_Inputs",
		calls: []string{`totals {"filter":{"InventoryID":"NQ880NE12R776YTKSURC"},"sum":["Quantity"]}`},
		path:  "totals.SumQuantity",
		sql:   `SELECT Quantity FROM BM_Inputs WHERE InventoryID = 'NQ880NE12R776YTKSURC' AND Quantity IS NOT NULL`,
	},
	{
		text:  "How many notes of inputs mention a drawing?",
		words: "bill input notes",
		kind:  "BM_Inputs",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"NoteContains":"drawing"}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM BM_Inputs WHERE Note LIKE '%drawing%'`,
	},
	{
		text:  "How much is on order for one warehouse?",
		words: "purchase orders quantity warehouse",
		kind:  "INMGT020POQty",
		calls: []string{`totals {"filter":{"IN_LogicalID":"0000000XC20000000004"},"sum":["Qty"]}`},
		path:  "totals.SumQty",
		sql:   `SELECT Qty FROM INMGT020POQty WHERE IN_LogicalID = '0000000XC20000000004' AND Qty IS NOT NULL`,
	},
	{
		text:  "Of how many orders was nothing delivered?",
		words: "purchase order delivered",
		kind:  "INMGT020POQty",
		calls: []string{`totals {"filter":{"Delivered":0}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM INMGT020POQty WHERE Delivered = '0'`,
	},
	{
		text:  "How many filters have names that start with Over?",
		words: "filters name",
		kind:  "SY_Filters",
		calls: []string{`totals {"filter":{"NameStartsWith":"Over"}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM SY_Filters WHERE Name LIKE 'Over%'`,
	},
	{
		text:  "How many screens have filters?",
		words: "filters",
		kind:  "SY_Filters",
		calls: []string{`totals {"by":["FilterNo"],"limit":200}`},
		path:  "groups.#",
		sql:   `SELECT count(*) FROM (SELECT DISTINCT FilterNo FROM SY_Filters)`,
	},
	{
		text:  "How many colours does one style have?",
		words: "colours of styles",
		kind:  "IN_Colours",
		calls: []string{`totals {"filter":{"StyleID":"E6RN2ID4PJHQLZXPKU2A"}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM IN_Colours WHERE StyleID = 'E6RN2ID4PJHQLZXPKU2A'`,
	},
	{
		text:  "How often is the most frequent colour used?",
		words: "colours",
		kind:  "IN_Colours",
		calls: []string{`totals {"by":["Description"],"order":["-Count"],"limit":1}`},
		path:  "groups.0.Count",
		sql:   `SELECT count(*) FROM IN_Colours GROUP BY Description ORDER BY 1 DESC LIMIT 1`,
	},
	{
		text:  "How many products are not available in a warehouse?",
		words: "availability of products",
		kind:  "IN_ProductAvailability",
		calls: []string{`totals {"filter":{"Available":false,"LogicalID":"0000000XC20000000001"}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM IN_ProductAvailability WHERE Available = 0 AND LogicalID = '0000000XC20000000001'`,
	},
	{
		text:  "How many documents of creditors are PDF files?",
		words: "creditor documents",
		kind:  "CR_BatchTransDocuments",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"PhysicalFileNameEndsWith":".pdf"}}`,
		},
		path: "totals.Count",
		sql:  `SELECT count(*) FROM CR_BatchTransDocuments WHERE PhysicalFileName LIKE '%.pdf'`,
	},
	{
		text:  "Which document of creditors was saved last before 2024?",
		words: "documents creditor saved",
		kind:  "CR_BatchTransDocuments",
		calls: []string{`query {"filter":{"LastSavedDateTimeLessThan":"2024-01-01"},"order":["-LastSavedDateTime"],"limit":1}`},
		path:  "rows.0.RecID",
		sql:   `SELECT RecID FROM CR_BatchTransDocuments WHERE LastSavedDateTime < '2024' ORDER BY LastSavedDateTime DESC LIMIT 1`,
	},
	{
		text:  "How many bins are kept at ambient temperature?",
		words: "bin locations values",
		kind:  "IN_BinLocationLookupCustomValues",
		calls: []string{`totals {"filter":{"Contents":"Ambient"}}`},
		path:  "totals.Count",
		sql:   `SELECT count(*) FROM IN_BinLocationLookupCustomValues WHERE Contents = 'Ambient'`,
	},
}

// TestQuestions answers each question in at most maxCalls calls.
func TestQuestions(t *testing.T) {
	if len(questions) < 40 {
		t.Errorf("there are %d questions, want at least 40", len(questions))
	}
	daemon := startDemo(t)
	db := openDemoRecords(t)
	for _, q := range questions {
		t.Run(q.text, func(t *testing.T) {
			kinds := foundKinds(t, daemon, q.words)
			if !slices.Contains(kinds, q.kind) {
				t.Errorf("find_kinds %q found %q, want %s among them", q.words, kinds, q.kind)
			}
			got := answerOf(t, daemon, q.kind, q.calls, q.path)
			want := q.want(t, db)
			isSame := sameNumber(got, want)
			if q.isAverage {
				isSame = sameAverage(got, want)
			}
			if want == "" || !isSame {
				t.Errorf("the calls %q answer %q, want %q", q.calls, got, want)
			}
		})
	}
}

// openDemoRecords opens the records of the demo, to read them without whd.
func openDemoRecords(t *testing.T) *sqlite.Conn {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(demo.dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// foundKinds returns the names of the kinds that find_kinds finds.
func foundKinds(t *testing.T, daemon *daemontest.Instance, words string) []string {
	t.Helper()
	r := call(t, daemon, "", "find_kinds", fmt.Sprintf(`{"words":%q}`, words))
	var content struct{ Kinds []struct{ Kind string } }
	if err := json.Unmarshal(r.StructuredContent, &content); err != nil {
		t.Fatalf("find_kinds %q: %v: %s", words, err, r.message)
	}
	return record.Texts(content.Kinds, func(k struct{ Kind string }) string { return k.Kind })
}

// answerOf makes calls on a kind and returns the value at a path of the last result.
func answerOf(t *testing.T, daemon *daemontest.Instance, kind string, calls []string, path string) string {
	t.Helper()
	if n := 1 + len(calls); n > maxCalls {
		t.Errorf("the answer takes find_kinds and %q, want at most %d calls", calls, maxCalls)
	}
	var last result
	for _, line := range calls {
		tool, arguments, _ := strings.Cut(line, " ")
		arguments = withKind(arguments, kind)
		last = call(t, daemon, "", tool, arguments)
		if last.IsError {
			t.Errorf("%s %s returned an error: %s", tool, arguments, last.message)
		}
	}
	return answerAt(last.decoded(t), path)
}

// withKind adds a kind to the JSON object of arguments.
func withKind(arguments, kind string) string {
	members := strings.TrimPrefix(arguments, "{")
	if members == "}" {
		return fmt.Sprintf(`{"kind":%q}`, kind)
	}
	return fmt.Sprintf(`{"kind":%q,%s`, kind, members)
}

// want returns the answer of SQL.
func (q question) want(t *testing.T, db *sqlite.Conn) string {
	t.Helper()
	var values []string
	err := db.Query(q.sql, func(s *sqlite.Stmt) error {
		values = append(values, s.Text(0))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", q.sql, err)
	}
	if len(values) == 1 {
		return values[0]
	}

	sum := new(big.Rat)
	for _, text := range values {
		number, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s selects %q, want a number", q.sql, text)
		}
		sum.Add(sum, number)
	}
	if q.isAverage {
		sum.Quo(sum, big.NewRat(int64(len(values)), 1))
	}
	return sum.FloatString(averageDecimals)
}

// answerAt returns the text of the value at a path of names and indexes, with dots between them.
// The index # means the number of items.
func answerAt(value any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			if name == "#" {
				return strconv.Itoa(len(v))
			}
			if n, err := strconv.Atoi(name); err == nil && n < len(v) {
				value = v[n]
			}
		}
	}
	if text, ok := value.(string); ok {
		return text
	}
	b, _ := json.Marshal(value)
	return string(b)
}

// averageDecimals is the number of fraction digits of averages.
const averageDecimals = 6

// sameNumber compares numbers exactly, and other texts by their characters.
func sameNumber(got, want string) bool {
	x, isNumber := new(big.Rat).SetString(got)
	y, expectsNumber := new(big.Rat).SetString(want)
	if !isNumber || !expectsNumber {
		return got == want
	}
	return x.Cmp(y) == 0
}

// sameAverage reports whether two averages differ at most in their last digit.
func sameAverage(got, want string) bool {
	x, isNumber := new(big.Rat).SetString(got)
	y, expectsNumber := new(big.Rat).SetString(want)
	if !isNumber || !expectsNumber {
		return false
	}
	difference := new(big.Rat).Sub(x, y)
	return difference.Abs(difference).Cmp(big.NewRat(1, 1_000_000)) <= 0
}
