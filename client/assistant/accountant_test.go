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
	"github.com/bizhook/whd/daemon/sqlite"
)

// values are the values of a row by field; it has none for nulls.
type values map[string]string

// accountantQuestions are questions in the words of accountants, with the calls that answer
// them after the kind has been found by such words. The answer is computed from all rows of
// the demo, without a query language.
var accountantQuestions = []struct {
	text  string
	words string // of find_kinds
	kind  string // that it must find among the first three
	calls []string
	path  string // of the answer in the last result, as in questions
	want  func(rows []values) string
}{
	{"How many customer classes do we have?", "customer classes", "DB_Class", []string{`totals {}`}, "totals.Count", countOf(always)},
	{"Which class of clients comes first in the alphabet?", "clients category", "DB_Class", []string{`query {"order":"Class","limit":1}`}, "rows.0.Class", firstOf("Class", always)},
	{"How many kinds of suppliers are there?", "suppliers", "CR_Classification", []string{`totals {}`}, "totals.Count", countOf(always)},
	{"How many kinds of vendors pay within 30 days?", "vendor terms", "CR_Classification", []string{`totals {"filter":{"TermsDays":30}}`}, "totals.Count", countOf(equals("TermsDays", "30"))},
	{"How long is the longest term of payment of a supplier?", "supplier payment days", "CR_Classification", []string{`totals {"max":"TermsDays"}`}, "totals.MaxTermsDays", largestOf("TermsDays", always)},
	{"How many kinds of suppliers have no account for freight?", "vendors freight account", "CR_Classification", []string{`describe_kind {}`, `totals {"filter":{"LedgerIDCreditorFreightIsNull":true}}`}, "totals.Count", countOf(isNull("LedgerIDCreditorFreight"))},
	{"How many scans of supplier bills did we keep?", "supplier scans", "CR_BatchTransDocuments", []string{`totals {}`}, "totals.Count", countOf(always)},
	{"How many attachments of suppliers are PDF files?", "attachments of payables", "CR_BatchTransDocuments", []string{`describe_kind {}`, `totals {"filter":{"PhysicalFileNameEndsWith":".pdf"}}`}, "totals.Count", countOf(endsWith("PhysicalFileName", ".pdf"))},
	{"How large are our sales?", "total sales", "SO_Totals", []string{`totals {"sum":"InvoiceTotal"}`}, "totals.SumInvoiceTotal", sumOf("InvoiceTotal", always)},
	{"How much GST is on the freight of our invoices?", "invoices freight gst", "SO_Totals", []string{`totals {"sum":"Cartage1TaxTotal"}`}, "totals.SumCartage1TaxTotal", sumOf("Cartage1TaxTotal", always)},
	{"How many credit notes, which are negative invoices, are there?", "invoice", "SO_Totals", []string{`describe_kind {}`, `totals {"filter":{"InvoiceTotalLessThan":0}}`}, "totals.Count", countOf(below("InvoiceTotal", 0))},
	{"How much revenue is on invoices of 10,000 and more?", "revenue", "SO_Totals", []string{`describe_kind {}`, `totals {"filter":{"InvoiceTotalGreaterThanOrEqualTo":10000},"sum":"InvoiceTotal"}`}, "totals.SumInvoiceTotal", sumOf("InvoiceTotal", not(below("InvoiceTotal", 10000)))},
	{"How large is the largest sale?", "sale", "SO_Totals", []string{`totals {"max":["InvoiceTotal"]}`}, "totals.MaxInvoiceTotal", largestOf("InvoiceTotal", always)},
	{"How much stock is on order?", "stock on purchase orders", "INMGT020POQty", []string{`totals {"sum":"Qty"}`}, "totals.SumQty", sumOf("Qty", always)},
	{"How much of the goods on order was delivered?", "goods procurement delivered", "INMGT020POQty", []string{`totals {"sum":"Delivered"}`}, "totals.SumDelivered", sumOf("Delivered", always)},
	{"How many stocktakes are finished?", "stocktakes", "IN_KitStockTakeMain", []string{`describe_kind {}`, `totals {"filter":{"KitStockTakeStatus":true}}`}, "totals.Count", countOf(equals("KitStockTakeStatus", "1"))},
	{"How many inventory counts were made in 2022?", "inventory counts", "IN_KitStockTakeMain", []string{`describe_kind {}`, `totals {"filter":{"KitStockTakeDateGreaterThanOrEqualTo":"2022-01-01","KitStockTakeDateLessThan":"2023-01-01"}}`}, "totals.Count", countOf(startsWith("KitStockTakeDate", "2022-"))},
	{"How many articles are not available in a depot?", "articles available depot", "IN_ProductAvailability", []string{`totals {"filter":{"Available":false}}`}, "totals.Count", countOf(equals("Available", "0"))},
	{"How high is the highest cost of a unit in a quote?", "quotes cost", "JB_EstimateResourceLines", []string{`totals {"max":"UnitCost"}`}, "totals.MaxUnitCost", largestOf("UnitCost", always)},
	{"How many components do the recipes have?", "recipes components", "BM_Inputs", []string{`totals {}`}, "totals.Count", countOf(always)},
	{"How many components are ratios of the recipe?", "recipe ratio", "BM_Inputs", []string{`totals {"filter":{"IsRatio":true}}`}, "totals.Count", countOf(equals("IsRatio", "1"))},
	{"How many colors do we offer?", "product colors", "IN_Colours", []string{`totals {"by":"Description","limit":200}`}, "groups.#", differentOf("Description")},
}

// TestAccountantQuestions answers each question in at most three calls.
func TestAccountantQuestions(t *testing.T) {
	if len(accountantQuestions) < 20 {
		t.Errorf("only %d questions", len(accountantQuestions))
	}
	i := startDemo(t)
	db, err := sqlite.Open(filepath.Join(demo.dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range accountantQuestions {
		var found struct{ Kinds []struct{ Kind string } }
		last := call(t, i, "", "find_kinds", fmt.Sprintf(`{"words":%q}`, q.words))
		if err := json.Unmarshal(last.StructuredContent, &found); err != nil {
			t.Fatal(err)
		}
		names := record.Texts(found.Kinds, func(k struct{ Kind string }) string { return k.Kind })
		if !slices.Contains(names[:min(3, len(names))], q.kind) {
			t.Errorf("%s find_kinds %q: %q, want %s among the first three", q.text, q.words, names, q.kind)
		}
		for _, line := range q.calls {
			tool, arguments, _ := strings.Cut(line, " ")
			arguments = strings.Replace(fmt.Sprintf(`{"kind":%q,%s`, q.kind, arguments[1:]), ",}", "}", 1)
			last = call(t, i, "", tool, arguments)
			if last.IsError {
				t.Errorf("%s %s %s: %s", q.text, tool, arguments, last.message)
			}
		}
		n := 1 + len(q.calls)
		got, want := answerAt(last.decoded(t), q.path), q.want(allRows(t, db, q.kind))
		if n > maxCalls || want == "" || !sameAnswer(got, want, false) {
			t.Errorf("%s %q after %d calls, want %q", q.text, got, n, want)
		}
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

// condition reports whether a row counts.
type condition func(values) bool

func always(values) bool { return true }

func equals(field, value string) condition {
	return func(r values) bool { return r[field] == value }
}

func isNull(field string) condition {
	return func(r values) bool {
		_, known := r[field]
		return !known
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
		x, known := new(big.Rat).SetString(r[field])
		return known && x.Cmp(big.NewRat(limit, 1)) < 0
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
			x, known := new(big.Rat).SetString(r[field])
			if known && c(r) {
				sum.Add(sum, x)
			}
		}
		return sum.FloatString(40)
	}
}

func largestOf(field string, c condition) func([]values) string {
	return func(rows []values) string {
		var largest *big.Rat
		for _, r := range rows {
			x, known := new(big.Rat).SetString(r[field])
			if known && c(r) && (largest == nil || x.Cmp(largest) > 0) {
				largest = x
			}
		}
		return largest.FloatString(40)
	}
}

func firstOf(field string, c condition) func([]values) string {
	return func(rows []values) string {
		var texts []string
		for _, r := range rows {
			if text, known := r[field]; known && c(r) {
				texts = append(texts, text)
			}
		}
		return slices.Min(texts)
	}
}

func differentOf(field string) func([]values) string {
	return func(rows []values) string {
		texts := make(map[string]bool)
		for _, r := range rows {
			texts[strings.ToLower(r[field])] = true
		}
		return strconv.Itoa(len(texts))
	}
}
