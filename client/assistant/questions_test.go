package assistant_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/sqlite"
)

// question is a business question about the demo records, with the calls by which an
// assistant answers it after it has found the kind, and SQL that answers it without whd.
type question struct {
	text  string
	words string // of find_kinds
	kind  string // that it must find
	calls []string
	path  string // of the answer in the last result; # is the number of items
	sql   string // one value; several values are added up, or with avg averaged
	avg   bool
}

// maxCalls is the maximum number of calls for an answer.
const maxCalls = 3

var questions = []question{
	{"How many invoices are there?", "invoices", "SO_Totals", []string{`totals {}`}, "totals.Count", `SELECT count(*) FROM SO_Totals`, false},
	{"How large is the total of all invoices?", "sales invoice total", "SO_Totals", []string{`totals {"sum":["InvoiceTotal"]}`}, "totals.SumInvoiceTotal", `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal IS NOT NULL`, false},
	{"Which invoice is the largest?", "invoice", "SO_Totals", []string{`query {"order":["-InvoiceTotal"],"limit":1}`}, "rows.0.InvoiceID", `SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceTotal DESC LIMIT 1`, false},
	{"How many invoices are over 50,000?", "invoices", "SO_Totals", []string{`describe_kind {}`, `totals {"filter":{"InvoiceTotalGreaterThan":50000}}`}, "totals.Count", `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal > '50000'`, false},
	{"How large is the sum of invoices between 1,000 and 2,000?", "invoices", "SO_Totals", []string{`describe_kind {}`, `totals {"filter":{"InvoiceTotalBetween":[1000,2000]},"sum":["InvoiceTotal"]}`}, "totals.SumInvoiceTotal", `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal BETWEEN '1000' AND '2000'`, false},
	{"How large is the average of invoices below 5,000?", "invoices", "SO_Totals", []string{`totals {"filter":{"InvoiceTotalBetween":[0,5000]},"avg":["InvoiceTotal"]}`}, "totals.AvgInvoiceTotal", `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceTotal BETWEEN '0' AND '5000'`, true},
	{"How many invoices have no total?", "invoice total", "SO_Totals", []string{`totals {"filter":{"InvoiceTotalIsNull":true}}`}, "totals.Count", `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal IS NULL`, false},
	{"How many invoices are negative?", "invoices", "SO_Totals", []string{`totals {"filter":{"InvoiceTotalLessThan":0}}`}, "totals.Count", `SELECT count(*) FROM SO_Totals WHERE InvoiceTotal < '0'`, false},
	{"How large is the total of invoice 00123?", "invoice", "SO_Totals", []string{`query {"filter":{"InvoiceID":"00123"},"fields":["InvoiceTotal"]}`}, "rows.0.InvoiceTotal", `SELECT InvoiceTotal FROM SO_Totals WHERE InvoiceID = '00123'`, false},
	{"How much cartage was charged on invoices?", "cartage", "SO_Totals", []string{`totals {"sum":["Cartage1Total"]}`}, "totals.SumCartage1Total", `SELECT Cartage1Total FROM SO_Totals WHERE Cartage1Total IS NOT NULL`, false},
	{"How high is the highest second cartage?", "cartage invoice", "SO_Totals", []string{`totals {"max":["Cartage2Total"]}`}, "totals.MaxCartage2Total", `SELECT Cartage2Total FROM SO_Totals ORDER BY Cartage2Total DESC LIMIT 1`, false},
	{"How many stock takes are completed?", "stock takes status", "IN_KitStockTakeMain", []string{`totals {"filter":{"KitStockTakeStatus":true}}`}, "totals.Count", `SELECT count(*) FROM IN_KitStockTakeMain WHERE KitStockTakeStatus = 1`, false},
	{"How many stock takes were there in 2021?", "stock takes", "IN_KitStockTakeMain", []string{`describe_kind {}`, `totals {"filter":{"KitStockTakeDateBetween":["2021-01-01","2021-12-31"]}}`}, "totals.Count", `SELECT count(*) FROM IN_KitStockTakeMain WHERE KitStockTakeDate LIKE '2021-%'`, false},
	{"How many stock takes had the busiest month?", "stock takes by date", "IN_KitStockTakeMain", []string{`totals {"by":["KitStockTakeDate:month"],"order":["-Count"],"limit":1}`}, "groups.0.Count", `SELECT count(*) FROM IN_KitStockTakeMain GROUP BY substr(KitStockTakeDate, 1, 7) ORDER BY 1 DESC LIMIT 1`, false},
	{"In how many years were stock takes made?", "stock take", "IN_KitStockTakeMain", []string{`totals {"by":["KitStockTakeDate:year"]}`}, "groups.#", `SELECT count(DISTINCT substr(KitStockTakeDate, 1, 4)) FROM IN_KitStockTakeMain`, false},
	{"When was the first stock take after 2018?", "stock take date", "IN_KitStockTakeMain", []string{`totals {"filter":{"KitStockTakeDateGreaterThan":"2018-12-31"},"min":["KitStockTakeDate"]}`}, "totals.MinKitStockTakeDate", `SELECT KitStockTakeDate FROM IN_KitStockTakeMain WHERE KitStockTakeDate > '2019' ORDER BY 1 LIMIT 1`, false},
	{"How many stock takes had the warehouse with the most?", "stock takes warehouse", "IN_KitStockTakeMain", []string{`totals {"by":["IN_LogicalID"],"order":["-Count"],"limit":1}`}, "groups.0.Count", `SELECT count(*) FROM IN_KitStockTakeMain GROUP BY IN_LogicalID ORDER BY 1 DESC LIMIT 1`, false},
	{"Which note does the stock take KST-000001 have?", "stock take notes", "IN_KitStockTakeMain", []string{`query {"filter":{"KitStockTakeNo":"KST-000001"}}`}, "rows.0.KitStockTakeNotes", `SELECT KitStockTakeNotes FROM IN_KitStockTakeMain WHERE KitStockTakeNo = 'KST-000001'`, false},
	{"How many stock takes did one member of staff make?", "stock takes staff", "IN_KitStockTakeMain", []string{`totals {"filter":{"StaffID":"0000000OCS0000000003"}}`}, "totals.Count", `SELECT count(*) FROM IN_KitStockTakeMain WHERE StaffID = '0000000OCS0000000003'`, false},
	{"How many debtor classes are there?", "debtor classes", "DB_Class", []string{`totals {}`}, "totals.Count", `SELECT count(*) FROM DB_Class`, false},
	{"Which debtor class starts with B?", "class of debtors", "DB_Class", []string{`query {"filter":{"ClassStartsWith":"B"}}`}, "rows.0.Class", `SELECT Class FROM DB_Class WHERE Class LIKE 'B%' ORDER BY Class LIMIT 1`, false},
	{"Which is the default classification of creditors?", "creditor classification default", "CR_Classification", []string{`query {"filter":{"IsDefault":true}}`}, "rows.0.Description", `SELECT Description FROM CR_Classification WHERE IsDefault = 1`, false},
	{"How many creditor classifications have terms of 30 days?", "creditor terms", "CR_Classification", []string{`totals {"filter":{"TermsDays":30}}`}, "totals.Count", `SELECT count(*) FROM CR_Classification WHERE TermsDays = 30`, false},
	{"How many creditor classifications have no account for insurance?", "creditor insurance ledger", "CR_Classification", []string{`describe_kind {}`, `totals {"filter":{"LedgerIDCreditorInsuranceIsNull":true}}`}, "totals.Count", `SELECT count(*) FROM CR_Classification WHERE LedgerIDCreditorInsurance IS NULL`, false},
	{"How many different terms do creditor classifications have?", "creditor terms days", "CR_Classification", []string{`totals {"by":["TermsDays"]}`}, "groups.#", `SELECT count(*) FROM (SELECT DISTINCT TermsDays FROM CR_Classification)`, false},
	{"In how many units are resources of estimates counted?", "estimate resource units", "JB_EstimateResourceLines", []string{`totals {"by":["Units"],"limit":200}`}, "groups.#", `SELECT count(*) FROM (SELECT DISTINCT Units FROM JB_EstimateResourceLines)`, false},
	{"How many lines of estimates are dated 2023?", "job estimate lines", "JB_EstimateResourceLines", []string{`describe_kind {}`, `totals {"filter":{"TransactionDateBetween":["2023-01-01","2023-12-31"]}}`}, "totals.Count", `SELECT count(*) FROM JB_EstimateResourceLines WHERE TransactionDate LIKE '2023-%'`, false},
	{"How low is the lowest cost of a unit in estimates?", "estimate cost", "JB_EstimateResourceLines", []string{`totals {"min":["UnitCost"]}`}, "totals.MinUnitCost", `SELECT UnitCost FROM JB_EstimateResourceLines WHERE UnitCost IS NOT NULL ORDER BY UnitCost LIMIT 1`, false},
	{"How many inputs of bills of materials are ratios?", "bill of materials inputs ratio", "BM_Inputs", []string{`totals {"filter":{"IsRatio":true}}`}, "totals.Count", `SELECT count(*) FROM BM_Inputs WHERE IsRatio = 1`, false},
	{"How often is the item that most bills need an input?", "bills of materials items", "BM_Inputs", []string{`totals {"filter":{"InventoryIDIsNotNull":true},"by":["InventoryID"],"order":["-Count"],"limit":1}`}, "groups.0.Count", `SELECT count(*) FROM BM_Inputs WHERE InventoryID IS NOT NULL GROUP BY InventoryID ORDER BY 1 DESC LIMIT 1`, false},
	{"How much of item NQ880NE12R776YTKSURC do bills need?", "bill inputs quantity", "BM_Inputs", []string{`totals {"filter":{"InventoryID":"NQ880NE12R776YTKSURC"},"sum":["Quantity"]}`}, "totals.SumQuantity", `SELECT Quantity FROM BM_Inputs WHERE InventoryID = 'NQ880NE12R776YTKSURC' AND Quantity IS NOT NULL`, false},
	{"How many notes of inputs mention a drawing?", "bill input notes", "BM_Inputs", []string{`describe_kind {}`, `totals {"filter":{"NoteContains":"drawing"}}`}, "totals.Count", `SELECT count(*) FROM BM_Inputs WHERE Note LIKE '%drawing%'`, false},
	{"How much is on order for one warehouse?", "purchase orders quantity warehouse", "INMGT020POQty", []string{`totals {"filter":{"IN_LogicalID":"0000000XC20000000004"},"sum":["Qty"]}`}, "totals.SumQty", `SELECT Qty FROM INMGT020POQty WHERE IN_LogicalID = '0000000XC20000000004' AND Qty IS NOT NULL`, false},
	{"Of how many orders was nothing delivered?", "purchase order delivered", "INMGT020POQty", []string{`totals {"filter":{"Delivered":0}}`}, "totals.Count", `SELECT count(*) FROM INMGT020POQty WHERE Delivered = '0'`, false},
	{"How many filters have names that start with Over?", "filters name", "SY_Filters", []string{`totals {"filter":{"NameStartsWith":"Over"}}`}, "totals.Count", `SELECT count(*) FROM SY_Filters WHERE Name LIKE 'Over%'`, false},
	{"How many screens have filters?", "filters", "SY_Filters", []string{`totals {"by":["FilterNo"],"limit":200}`}, "groups.#", `SELECT count(*) FROM (SELECT DISTINCT FilterNo FROM SY_Filters)`, false},
	{"How many colours does one style have?", "colours of styles", "IN_Colours", []string{`totals {"filter":{"StyleID":"E6RN2ID4PJHQLZXPKU2A"}}`}, "totals.Count", `SELECT count(*) FROM IN_Colours WHERE StyleID = 'E6RN2ID4PJHQLZXPKU2A'`, false},
	{"How often is the most frequent colour used?", "colours", "IN_Colours", []string{`totals {"by":["Description"],"order":["-Count"],"limit":1}`}, "groups.0.Count", `SELECT count(*) FROM IN_Colours GROUP BY Description ORDER BY 1 DESC LIMIT 1`, false},
	{"How many products are not available in a warehouse?", "availability of products", "IN_ProductAvailability", []string{`totals {"filter":{"Available":false,"LogicalID":"0000000XC20000000001"}}`}, "totals.Count", `SELECT count(*) FROM IN_ProductAvailability WHERE Available = 0 AND LogicalID = '0000000XC20000000001'`, false},
	{"How many documents of creditors are PDF files?", "creditor documents", "CR_BatchTransDocuments", []string{`describe_kind {}`, `totals {"filter":{"PhysicalFileNameEndsWith":".pdf"}}`}, "totals.Count", `SELECT count(*) FROM CR_BatchTransDocuments WHERE PhysicalFileName LIKE '%.pdf'`, false},
	{"Which document of creditors was saved last before 2024?", "documents creditor saved", "CR_BatchTransDocuments", []string{`query {"filter":{"LastSavedDateTimeLessThan":"2024-01-01"},"order":["-LastSavedDateTime"],"limit":1}`}, "rows.0.RecID", `SELECT RecID FROM CR_BatchTransDocuments WHERE LastSavedDateTime < '2024' ORDER BY LastSavedDateTime DESC LIMIT 1`, false},
	{"How many bins are kept at ambient temperature?", "bin locations values", "IN_BinLocationLookupCustomValues", []string{`totals {"filter":{"Contents":"Ambient"}}`}, "totals.Count", `SELECT count(*) FROM IN_BinLocationLookupCustomValues WHERE Contents = 'Ambient'`, false},
}

// TestQuestions answers each question in at most three calls. The kind is in the result of
// the first one.
func TestQuestions(t *testing.T) {
	if len(questions) < 40 {
		t.Errorf("only %d questions", len(questions))
	}
	i := startDemo(t)
	db, err := sqlite.Open(filepath.Join(demo.dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range questions {
		last := call(t, i, "", "find_kinds", fmt.Sprintf(`{"words":%q}`, q.words))
		if !strings.Contains(string(last.StructuredContent), `"kind":"`+q.kind+`"`) {
			t.Errorf("%s %s is not found by %q", q.text, q.kind, q.words)
		}
		for _, line := range q.calls {
			tool, arguments, _ := strings.Cut(line, " ")
			arguments = strings.TrimSuffix(fmt.Sprintf(`{"kind":%q,%s`, q.kind, strings.TrimPrefix(arguments, "{")), ",}")
			if !strings.HasSuffix(arguments, "}") {
				arguments += "}"
			}
			last = call(t, i, "", tool, arguments)
			if last.IsError {
				t.Errorf("%s %s %s: %s", q.text, tool, arguments, last.message)
			}
		}
		n := 1 + len(q.calls)
		got, want := answerAt(last.decoded(t), q.path), q.want(t, db)
		if n > maxCalls || want == "" || !sameAnswer(got, want, q.avg) {
			t.Errorf("%s %q after %d calls, want %q", q.text, got, n, want)
		}
		t.Logf("%d calls: %s %s", n, q.text, got)
	}
}

// want returns the answer of SQL.
func (q question) want(t *testing.T, db *sqlite.Conn) string {
	t.Helper()
	var values []string
	if err := db.Query(q.sql, func(s *sqlite.Stmt) error { values = append(values, s.Text(0)); return nil }); err != nil {
		t.Fatalf("%s: %v", q.sql, err)
	}
	if len(values) == 1 {
		return values[0]
	}
	sum := new(big.Rat)
	for _, text := range values {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s: %q is no number", q.sql, text)
		}
		sum.Add(sum, x)
	}
	if q.avg {
		sum.Quo(sum, big.NewRat(int64(len(values)), 1))
	}
	return sum.FloatString(6)
}

// answerAt returns the text of the value at a path.
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

// sameAnswer compares texts, and numbers exactly. Averages have six decimals.
func sameAnswer(got, want string, avg bool) bool {
	x, isNumber := new(big.Rat).SetString(got)
	y, number := new(big.Rat).SetString(want)
	if !isNumber || !number {
		return got == want
	}
	d := new(big.Rat).Sub(x, y)
	return d.Sign() == 0 || avg && d.Abs(d).Cmp(big.NewRat(1, 1_000_000)) <= 0
}
