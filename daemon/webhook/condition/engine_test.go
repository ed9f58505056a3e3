package condition_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// values are stored values, and operands of conditions, of each type.
var values = map[record.Type][]string{
	record.Text: {
		"", " ", "a", "A", "ab", "AB ", "abc", "a b",
		"é", "É", "e\u0301", "ß", "ẞ", "ss", "\u212a", "k", "ſ", "σ", "ς", "Σ", "İ", "i", "ı",
		"%", "100%", "_", "a_c", "[", "]", "[a-f]", "[^a]", "a[b", "-",
		"O'Brien", `"`, `\`, "日本", "日本語", "😀",
		"\x00", "a\x00b", "tab\there", "line\nend",
		"00123", "1E5", "null", "true",
		strings.Repeat("x", 300),
	},
	record.Int:   {"-2147483648", "-1", "0", "1", "2", "10", "2147483647"},
	record.Short: {"-32768", "-1", "0", "1", "7", "32767"},
	record.Byte:  {"0", "1", "2", "127", "128", "255"},
	record.Long:  {"-9223372036854775808", "0", "9007199254740993", "9223372036854775807"},
	record.Decimal: {
		"0", "0.0000", "1", "1.0", "1.0000", "-1", "9", "10", "-10.5", "0.1", "0.10", "12345.6789", "-0.01",
		strings.Repeat("9", 38), "-" + strings.Repeat("9", 38), "9007199254740993", "9007199254740992.5",
	},
	record.Double: {"0", "-0.5", "1", "1.5", "1e-7", "1e21", "0.1", "0.30000000000000004", "-1.7e308", "123456.789"},
	record.Bool:   {"0", "1"},
	record.DateTime: {
		"0001-01-01T00:00:00.0000000",
		"2019-05-01T10:11:12.1230000",
		"2019-05-01T10:11:12.1230001",
		"2019-05-01T00:00:00.0000000",
		"2024-02-29T23:59:59.9999999",
		"9999-12-31T23:59:59.9999999",
	},
	record.Guid: {
		"00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff",
		"0f8fad5b-d9cb-469f-a165-70867728950e",
	},
	record.TimeSpan: {"0", "1", "36000000000", "863999999999"},
}

// patterns are operands of Like.
var patterns = []string{
	"%", "%%", "a%", "%b", "%B%", "_", "__", "a_c",
	"[abc]", "[a-c]%", "[^a-c]%", "%[%]", "[_]", "a[_]c", "[[]%", "]", "[]", "[^]", "[]a]",
	"[a", "a[", "[a-", "[-a]", "[c-a]",
	"%é", "%É%", "[à-ý]", "日_", "_語", "😀%",
	"a ", "%ab ", "% ", "[Α-Ω]", "%[0-9]%", "%\x00%",
}

// engine is the embedded store with rows of some kinds.
type engine struct {
	*erp.Records
	kinds  []*record.Kind
	bodies map[string][]*condition.Body // by kind, of the rows in the order of their numbers
}

const rowsOfKind = 40

// newEngine returns an engine with the fields of all kinds, and one kind that has all types.
func newEngine(t *testing.T, random *rand.Rand) *engine {
	t.Helper()
	config := erp.Config{
		Path:        filepath.Join(t.TempDir(), "records.db"),
		Registry:    numberedKinds(t),
		Connections: 1,
		Limits:      func() executor.Limits { return executor.Limits{} },
	}
	records, err := erp.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { records.Close() })
	e := &engine{
		Records: records,
		kinds:   config.Registry.Kinds(),
		bodies:  make(map[string][]*condition.Body),
	}
	conn, err := sqlite.Open(config.Path, sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, kind := range e.kinds {
		insertRows(t, conn, kind, random)
		e.readBodies(t, kind)
	}
	return e
}

// everyType is the name of the kind that has all types.
const everyType = "Every"

// numberedKinds returns the fields of all kinds, and one kind that has all types, with a number as
// their keys.
func numberedKinds(t *testing.T) *record.Registry {
	t.Helper()
	types := []record.Type{
		record.Text,
		record.Int,
		record.Short,
		record.Byte,
		record.Long,
		record.Decimal,
		record.Double,
		record.Bool,
		record.DateTime,
		record.Guid,
		record.TimeSpan,
	}
	every := record.Kind{Name: everyType}
	for n, typ := range types {
		field := record.Field{Name: fmt.Sprint("F", n), Type: typ, Filter: typ.Filter(), Null: record.Nullable}
		every.Fields = append(every.Fields, field)
	}
	declared := []record.Kind{every}
	for _, kind := range record.Builtin().Kinds() {
		declared = append(declared, record.Kind{Name: kind.Name, Fields: kind.Fields})
	}
	for i, kind := range declared {
		number := record.Field{Name: "RowNumber", Type: record.Long, Filter: record.OrderedFilter}
		declared[i].Fields = append([]record.Field{number}, kind.Fields...)
		declared[i].Key = []string{number.Name}
	}
	registry, err := record.NewRegistry(declared...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// insertRows adds rows of a kind with random values.
func insertRows(t *testing.T, conn *sqlite.Conn, kind *record.Kind, random *rand.Rand) {
	t.Helper()
	for n := range rowsOfKind {
		cells := []string{strconv.Itoa(n)}
		for _, f := range kind.Fields[1:] {
			cells = append(cells, literal(random, f))
		}
		err := conn.Exec("INSERT INTO " + sqlite.Quote(kind.Name) + " VALUES (" + strings.Join(cells, ", ") + ")")
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readBodies reads the rows of a kind as bodies of events.
func (e *engine) readBodies(t *testing.T, kind *record.Kind) {
	t.Helper()
	plan := &query.Plan{
		Kind:    kind,
		Columns: allFields(kind),
		Order:   []query.Order{{Field: 0}}, // by number
		Take:    query.NoTake,
	}
	e.read(t, plan, func(cells []row.Cell) {
		e.bodies[kind.Name] = append(e.bodies[kind.Name], &condition.Body{
			Data:   bodyOf(kind, cells),
			Change: &condition.Change{Fields: kind.FieldNames()},
		})
	})
}

// allFields returns the indexes of all fields of a kind.
func allFields(kind *record.Kind) []int {
	fields := make([]int, len(kind.Fields))
	for i := range fields {
		fields[i] = i
	}
	return fields
}

// literal returns a random value in SQL.
func literal(random *rand.Rand, f record.Field) string {
	isNull := random.IntN(5) == 0 && f.Null
	if f.Type == record.Bytes || isNull {
		return "NULL"
	}
	texts := values[f.Type]
	text := texts[random.IntN(len(texts))]
	switch f.Type {
	case record.Text, record.Decimal, record.DateTime, record.Guid:
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", text)
	}
	return text
}

// bodyOf returns the body of the creation of a row.
func bodyOf(kind *record.Kind, cells []row.Cell) []byte {
	var members [][]byte
	for i, c := range cells {
		if c.Null {
			continue
		}
		field := kind.Fields[i]
		member := []byte(`"` + field.Name + `":`)
		members = append(members, encode.AppendJSON(member, field.Type, c))
	}
	body := []byte(`{"ChangeID":1,"Kind":"K","Op":"created","Key":"1","KeyFields":{"RowNumber":1},"Record":{`)
	body = append(body, bytes.Join(members, []byte(","))...)
	return append(body, `},"CapturedAt":"2026-11-26T10:00:00.0000000Z"}`...)
}

// read calls each with the cells of each row of a plan.
func (e *engine) read(t *testing.T, plan *query.Plan, each func([]row.Cell)) {
	t.Helper()
	result, err := executor.Select(t.Context(), e.Records, e.Limits, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			return
		}
		each(cells)
	}
}

// operand returns a random operand as JSON.
func operand(random *rand.Rand, t record.Type, o record.Operator) string {
	texts := values[t]
	switch {
	case o == record.Like && random.IntN(3) > 0:
		texts = patterns
	case t == record.TimeSpan:
		texts = []string{"PT0S", "PT0.0000001S", "PT1H", "PT23H59M59.9999999S"}
	case t == record.Bool:
		texts = []string{"true", "false"}
	}
	text := texts[random.IntN(len(texts))]
	isNumber := t.Number() && random.IntN(2) == 0 // a number may also be quoted
	if isNumber || t == record.Bool {
		return text
	}
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// member returns a random member of a condition.
func member(random *rand.Rand, kind *record.Kind) string {
	for {
		f := kind.Fields[random.IntN(len(kind.Fields))]
		operators := append(f.Filter.Operators(), record.IsNull, record.IsNotNull)
		o := operators[random.IntN(len(operators))]
		isTextRange := o == record.Between && f.Type == record.Text
		if f.Type == record.Bytes || f.Filter == record.NoFilter || isTextRange {
			continue
		}
		return fmt.Sprintf("%q:%s", f.Name+o.Suffix(), operands(random, f.Type, o))
	}
}

// operands returns as many random operands as an operator takes, as JSON.
func operands(random *rand.Rand, t record.Type, o record.Operator) string {
	count := 0
	switch o.Arity() {
	case record.Two:
		count = 2
	case record.Many:
		count = 1 + random.IntN(4)
	default:
		return operand(random, t, o)
	}
	var items []string
	for range count {
		items = append(items, operand(random, t, o))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// TestEqualToTheEngine compares generated conditions with queries of the embedded store.
func TestEqualToTheEngine(t *testing.T) {
	const conditions, maxFailed = 6_000, 20
	random := rand.New(rand.NewPCG(24, 1))
	e := newEngine(t, random)
	every := e.kinds[slices.IndexFunc(e.kinds, func(k *record.Kind) bool { return k.Name == everyType })]
	met, failed := 0, 0
	for n := 0; n < conditions && failed < maxFailed; n++ {
		kind := e.kinds[n%len(e.kinds)]
		if n%3 == 0 {
			kind = every
		}
		rows, isEqual := e.compare(t, kind, randomCondition(random, kind))
		met += rows
		if !isEqual {
			failed++
		}
	}
	t.Logf("%d conditions for %d rows each; %d were met", conditions, rowsOfKind, met)
}

// randomCondition returns a condition with one member, or sometimes with two different ones.
func randomCondition(random *rand.Rand, kind *record.Kind) string {
	members := []string{member(random, kind)}
	if random.IntN(4) == 0 {
		second := member(random, kind)
		name, _, _ := strings.Cut(members[0], ":")
		if !strings.HasPrefix(second, name+":") {
			members = append(members, second)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// compare evaluates a condition for all rows of a kind, and reports whether the same rows meet it as
// a query returns. It returns their number.
func (e *engine) compare(t *testing.T, kind *record.Kind, text string) (rows int, isEqual bool) {
	t.Helper()
	c, err := condition.Parse(text, condition.Options{Kind: kind, Zone: time.UTC, Stored: true})
	if err != nil {
		t.Fatalf("%s: %s: %v", kind.Name, text, err)
	}
	want := e.matching(t, kind, text)
	for number, body := range e.bodies[kind.Name] {
		unmet := c.Unmet(body)
		if (unmet == "") != slices.Contains(want, int64(number)) {
			t.Errorf("%s: %s: unmet is %q; the engine has the rows %v: %s", kind.Name, text, unmet, want, body.Data)
			return len(want), false
		}
	}
	return len(want), true
}

// matching returns the numbers of the rows that a query with the same members returns.
func (e *engine) matching(t *testing.T, kind *record.Kind, text string) []int64 {
	t.Helper()
	members, err := query.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	request, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(request.Where) != len(members) {
		t.Fatalf("%s: the query has %d conditions, want %d", text, len(request.Where), len(members))
	}
	plan := &query.Plan{Kind: kind, Columns: []int{0}, Where: request.Where, Take: query.NoTake}
	var numbers []int64
	e.read(t, plan, func(cells []row.Cell) { numbers = append(numbers, cells[0].Int) })
	return numbers
}
