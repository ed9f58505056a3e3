package assistant_test

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// values are the values of a row by field, without nulls.
type values map[string]string

// accountantQuestions are questions in the words of accountants, with the calls that answer
// them after the kind has been found by such words. The answer is computed from all rows of
// the demo, without a query language.
var accountantQuestions = []struct {
	text  string
	words string                     // arguments of find_kinds
	kind  string                     // find_kinds must return it as one of the first three
	calls []string                   // the calls after find_kinds, with their arguments but for the kind
	path  string                     // path of the answer in the last result
	want  func(rows []values) string // computes the answer from all rows of the kind
}{
	{
		text:  "How many customer classes do we have?",
		words: "customer classes",
		kind:  "DB_Class",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		want:  countOf(always),
	},
	{
		text:  "Which class of clients comes first in the alphabet?",
		words: "clients category",
		kind:  "DB_Class",
		calls: []string{`query {"order":"Class","limit":1}`},
		path:  "rows.0.Class",
		want:  firstOf("Class", always),
	},
	{
		text:  "How many kinds of suppliers are there?",
		words: "suppliers",
		kind:  "CR_Classification",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		want:  countOf(always),
	},
	{
		text:  "How many kinds of vendors pay within 30 days?",
		words: "vendor terms",
		kind:  "CR_Classification",
		calls: []string{`totals {"filter":{"TermsDays":30}}`},
		path:  "totals.Count",
		want:  countOf(equals("TermsDays", "30")),
	},
	{
		text:  "How long is the longest term of payment of a supplier?",
		words: "supplier payment days",
		kind:  "CR_Classification",
		calls: []string{`totals {"max":"TermsDays"}`},
		path:  "totals.MaxTermsDays",
		want:  largestOf("TermsDays", always),
	},
	{
		text:  "How many kinds of suppliers have no account for freight?",
		words: "vendors freight account",
		kind:  "CR_Classification",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"LedgerIDCreditorFreightIsNull":true}}`,
		},
		path: "totals.Count",
		want: countOf(isNull("LedgerIDCreditorFreight")),
	},
	{
		text:  "How many scans of supplier bills did we keep?",
		words: "supplier scans",
		kind:  "CR_BatchTransDocuments",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		want:  countOf(always),
	},
	{
		text:  "How many attachments of suppliers are PDF files?",
		words: "attachments of payables",
		kind:  "CR_BatchTransDocuments",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"PhysicalFileNameEndsWith":".pdf"}}`,
		},
		path: "totals.Count",
		want: countOf(endsWith("PhysicalFileName", ".pdf")),
	},
	{
		text:  "How large are our sales?",
		words: "total sales",
		kind:  "SO_Totals",
		calls: []string{`totals {"sum":"InvoiceTotal"}`},
		path:  "totals.SumInvoiceTotal",
		want:  sumOf("InvoiceTotal", always),
	},
	{
		text:  "How much GST is on the freight of our invoices?",
		words: "invoices freight gst",
		kind:  "SO_Totals",
		calls: []string{`totals {"sum":"Cartage1TaxTotal"}`},
		path:  "totals.SumCartage1TaxTotal",
		want:  sumOf("Cartage1TaxTotal", always),
	},
	{
		text:  "How many credit notes, which are negative invoices, are there?",
		words: "invoice",
		kind:  "SO_Totals",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"InvoiceTotalLessThan":0}}`,
		},
		path: "totals.Count",
		want: countOf(below("InvoiceTotal", 0)),
	},
	{
		text:  "How much revenue is on invoices of 10,000 and more?",
		words: "revenue",
		kind:  "SO_Totals",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"InvoiceTotalGreaterThanOrEqualTo":10000},"sum":"InvoiceTotal"}`,
		},
		path: "totals.SumInvoiceTotal",
		want: sumOf("InvoiceTotal", not(below("InvoiceTotal", 10000))),
	},
	{
		text:  "How large is the largest sale?",
		words: "sale",
		kind:  "SO_Totals",
		calls: []string{`totals {"max":["InvoiceTotal"]}`},
		path:  "totals.MaxInvoiceTotal",
		want:  largestOf("InvoiceTotal", always),
	},
	{
		text:  "How much stock is on order?",
		words: "stock on purchase orders",
		kind:  "INMGT020POQty",
		calls: []string{`totals {"sum":"Qty"}`},
		path:  "totals.SumQty",
		want:  sumOf("Qty", always),
	},
	{
		text:  "How much of the goods on order was delivered?",
		words: "goods procurement delivered",
		kind:  "INMGT020POQty",
		calls: []string{`totals {"sum":"Delivered"}`},
		path:  "totals.SumDelivered",
		want:  sumOf("Delivered", always),
	},
	{
		text:  "How many stocktakes are finished?",
		words: "stocktakes",
		kind:  "IN_KitStockTakeMain",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"KitStockTakeStatus":true}}`,
		},
		path: "totals.Count",
		want: countOf(equals("KitStockTakeStatus", "1")),
	},
	{
		text:  "How many inventory counts were made in 2022?",
		words: "inventory counts",
		kind:  "IN_KitStockTakeMain",
		calls: []string{
			`describe_kind {}`,
			`totals {"filter":{"KitStockTakeDateGreaterThanOrEqualTo":"2022-01-01","KitStockTakeDateLessThan":"2023-01-01"}}`,
		},
		path: "totals.Count",
		want: countOf(startsWith("KitStockTakeDate", "2022-")),
	},
	{
		text:  "How many articles are not available in a depot?",
		words: "articles available depot",
		kind:  "IN_ProductAvailability",
		calls: []string{`totals {"filter":{"Available":false}}`},
		path:  "totals.Count",
		want:  countOf(equals("Available", "0")),
	},
	{
		text:  "How high is the highest cost of a unit in a quote?",
		words: "quotes cost",
		kind:  "JB_EstimateResourceLines",
		calls: []string{`totals {"max":"UnitCost"}`},
		path:  "totals.MaxUnitCost",
		want:  largestOf("UnitCost", always),
	},
	{
		text:  "How many components do the recipes have?",
		words: "recipes components",
		kind:  "BM_Inputs",
		calls: []string{`totals {}`},
		path:  "totals.Count",
		want:  countOf(always),
	},
	{
		text:  "How many components are ratios of the recipe?",
		words: "recipe ratio",
		kind:  "BM_Inputs",
		calls: []string{`totals {"filter":{"IsRatio":true}}`},
		path:  "totals.Count",
		want:  countOf(equals("IsRatio", "1")),
	},
	{
		text:  "How many colors do we offer?",
		words: "product colors",
		kind:  "IN_Colours",
		calls: []string{`totals {"by":"Description","limit":200}`},
		path:  "groups.#",
		want:  differentOf("Description"),
	},
}

// TestAccountantQuestions answers each question in at most maxCalls calls.
func TestAccountantQuestions(t *testing.T) {
	if len(accountantQuestions) < 20 {
		t.Errorf("there are %d questions, want at least 20", len(accountantQuestions))
	}
	daemon := startDemo(t)
	db := openDemoRecords(t)
	for _, q := range accountantQuestions {
		t.Run(q.text, func(t *testing.T) {
			kinds := foundKinds(t, daemon, q.words)
			if !slices.Contains(kinds[:min(3, len(kinds))], q.kind) {
				t.Errorf("find_kinds %q found %q, want %s among the first three", q.words, kinds, q.kind)
			}
			got := answerOf(t, daemon, q.kind, q.calls, q.path)
			want := q.want(allRows(t, db, q.kind))
			if want == "" || !sameNumber(got, want) {
				t.Errorf("the calls %q answer %q, want %q", q.calls, got, want)
			}
		})
	}
}

// allRows reads all rows of a kind of the demo.
func allRows(t *testing.T, db *sqlite.Conn, name string) []values {
	t.Helper()
	kind, _ := record.Builtin().Lookup(name)
	names := kind.FieldNames()
	var rows []values
	err := db.Query("SELECT "+strings.Join(names, ", ")+" FROM "+name, func(s *sqlite.Stmt) error {
		row := make(values)
		for i, field := range names {
			if !s.Null(i) {
				row[field] = s.Text(i)
			}
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// decimals is the number of fraction digits of computed answers. It is more than any value has.
const decimals = 40

// condition reports whether a row counts.
type condition func(values) bool

func always(values) bool { return true }

func equals(field, value string) condition {
	return func(r values) bool { return r[field] == value }
}

func isNull(field string) condition {
	return func(r values) bool {
		_, ok := r[field]
		return !ok
	}
}

func startsWith(field, text string) condition {
	return func(r values) bool { return strings.HasPrefix(r[field], text) }
}

// endsWith ignores letter case, as the database does.
func endsWith(field, text string) condition {
	return func(r values) bool { return strings.HasSuffix(strings.ToLower(r[field]), text) }
}

func below(field string, limit int64) condition {
	return func(r values) bool {
		number, ok := new(big.Rat).SetString(r[field])
		return ok && number.Cmp(big.NewRat(limit, 1)) < 0
	}
}

func not(c condition) condition {
	return func(r values) bool { return !c(r) }
}

func countOf(c condition) func([]values) string {
	return func(rows []values) string {
		n := 0
		for _, r := range rows {
			if c(r) {
				n++
			}
		}
		return strconv.Itoa(n)
	}
}

func sumOf(field string, c condition) func([]values) string {
	return func(rows []values) string {
		sum := new(big.Rat)
		for _, r := range rows {
			number, ok := new(big.Rat).SetString(r[field])
			if ok && c(r) {
				sum.Add(sum, number)
			}
		}
		return sum.FloatString(decimals)
	}
}

func largestOf(field string, c condition) func([]values) string {
	return func(rows []values) string {
		var largest *big.Rat
		for _, r := range rows {
			number, ok := new(big.Rat).SetString(r[field])
			if !ok || !c(r) {
				continue
			}
			if largest == nil || number.Cmp(largest) > 0 {
				largest = number
			}
		}
		return largest.FloatString(decimals)
	}
}

func firstOf(field string, c condition) func([]values) string {
	return func(rows []values) string {
		var texts []string
		for _, r := range rows {
			if text, ok := r[field]; ok && c(r) {
				texts = append(texts, text)
			}
		}
		return slices.Min(texts)
	}
}

// differentOf returns the number of different texts in a field, ignoring letter case.
func differentOf(field string) func([]values) string {
	return func(rows []values) string {
		texts := make(map[string]bool)
		for _, r := range rows {
			texts[strings.ToLower(r[field])] = true
		}
		return strconv.Itoa(len(texts))
	}
}
