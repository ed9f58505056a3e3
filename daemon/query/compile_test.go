package query

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
)

func dialects() []*dialect.Dialect { return []*dialect.Dialect{dialect.TSQL(), dialect.SQLite()} }

// compileAll compiles all statements of a request in both dialects and checks them.
// The only error allowed is a limit of the database.
func compileAll(t rapid.TB, request *Request) {
	t.Helper()
	plan, err := NewPlan(request, true)
	if err != nil {
		if !fault.Is(err, fault.Invalid) || len(fault.From(err).Fields) == 0 {
			t.Fatalf("plan: %v", err)
		}
		return
	}
	for _, d := range dialects() {
		source := string(d.Quote(nil, plan.Kind.Name))
		compilers := []func(*Plan, *dialect.Dialect, string) (Statement, error){Compile, CompileCount}
		if len(plan.Aggregates) > 0 {
			compilers = append(compilers, CompileAggregates)
		}
		for _, compile := range compilers {
			s, err := compile(plan, d, source)
			if err != nil {
				if !fault.Is(err, fault.Invalid) || len(fault.From(err).Fields) == 0 {
					t.Fatalf("%s: %v", d.Name, err)
				}
				continue
			}
			if err := checkSQL(plan.Kind, d, s); err != nil {
				t.Fatalf("%s: %v\n%s\n%v", d.Name, err, s.SQL, s.Args)
			}
		}
	}
}

// token is a single token of SQL.
var token = regexp.MustCompile(`^(?:"[^"]*"|\[[^\]]*\]|[@?]p?[0-9]+|[A-Za-z_0-9]+|<>|>=|<=|'\$'|[-+=<>,*() ])`)

// words are the SQL keywords that statements may contain.
var words = strings.Fields(`SELECT DISTINCT FROM WHERE AND BETWEEN IN LIKE ORDER BY DESC OFFSET ROWS FETCH NEXT ONLY LIMIT AS CAST
	COUNT COUNT_BIG SUM AVG MIN MAX dec_sum dec_avg datetime2 decimal q
	DATALENGTH OPENJSON WITH COLLATE DATABASE_DEFAULT v nvarchar int smallint tinyint bigint uniqueidentifier`)

// longest is the length of texts in a list, the only number beyond the digits.
const longest = "4000"

// checkSQL returns an error if a statement contains anything except SQL keywords,
// names of the registry and parameters, or if its parameters do not match its
// arguments.
func checkSQL(kind *record.Kind, d *dialect.Dialect, s Statement) error {
	text := withoutGoal(s)
	params := 0
	remaining := text
	for remaining != "" {
		part := token.FindString(remaining)
		if part == "" {
			return fmt.Errorf("unexpected text at %q", remaining)
		}
		before := text[:len(text)-len(remaining)]
		remaining = remaining[len(part):]
		if !strings.HasPrefix(part, d.Param) {
			if err := checkToken(kind, d, part); err != nil {
				return err
			}
			continue
		}
		isRepeated := d.ByteLength.After != "" && strings.HasSuffix(before, d.ByteLength.After)
		if isRepeated {
			continue
		}
		params++
		if part != d.Param+strconv.Itoa(params) {
			return fmt.Errorf("%s is not the next parameter", part)
		}
	}
	if params != len(s.Args) || params > d.MaxParams {
		return fmt.Errorf("%d parameters for %d arguments", params, len(s.Args))
	}
	if strings.Count(s.SQL, "(") != strings.Count(s.SQL, ")") {
		return fmt.Errorf("unbalanced brackets")
	}
	return nil
}

// withoutGoal returns the SQL of a statement without the goal of a page, which repeats parameters.
func withoutGoal(s Statement) string {
	text := s.SQL
	if !strings.Contains(text, " FETCH ") {
		return text
	}
	n := len(s.Args)
	for _, goal := range []int{smallGoal, largeGoal} {
		text = strings.TrimSuffix(text, fmt.Sprintf(" OPTION (OPTIMIZE FOR (@p%d = 0, @p%d = %d))", n-1, n, goal))
	}
	return text
}

// checkToken returns an error if a token other than a parameter is not expected in a statement.
func checkToken(kind *record.Kind, d *dialect.Dialect, part string) error {
	first := part[0]
	switch {
	case string(first) == d.OpenQuote:
		name := part[1 : len(part)-1]
		if name != kind.Name && !slices.Contains(kind.FieldNames(), name) {
			return fmt.Errorf("%s is not in the registry", part)
		}
	case part == longest, part == "'$'":
	case first >= '0' && first <= '9':
		if n, err := strconv.Atoi(part); err != nil || n > wire.MaxDigits {
			return fmt.Errorf("unexpected number %s", part)
		}
	case strings.Contains("-+=<>,*() ", string(first)):
	case !slices.Contains(words, part):
		return fmt.Errorf("unexpected word %s", part)
	}
	return nil
}

// TestCompile checks the statements of drawn requests.
func TestCompile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		request, err := Parse(kind, drawMembers(t, kind), inUTC)
		if err != nil {
			t.Fatal(err)
		}
		compileAll(t, request)
	})
}

// TestCompileArguments checks that every operand of a request is an argument, in
// order and with its field.
func TestCompileArguments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		request, err := Parse(kind, drawMembers(t, kind), inUTC)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(request, true)
		if err != nil || plan.Take == 0 {
			return
		}
		for _, d := range dialects() {
			s, err := Compile(plan, d, "t")
			if err != nil {
				t.Fatal(err)
			}
			var want []Arg
			for _, c := range plan.Where {
				want = append(want, wantArguments(d, kind, c)...)
			}
			got := s.Args[:len(want)]
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: got %v, want %v", d.Name, got, want)
			}
			for _, a := range s.Args[len(want):] {
				if a.Field != NoField || a.Type != record.Long {
					t.Fatalf("%s: unexpected page argument %+v", d.Name, a)
				}
			}
			if !slices.Equal(s.Types, plan.Types()) {
				t.Fatalf("%s: types are %v, want %v", d.Name, s.Types, plan.Types())
			}
		}
	})
}

// wantArguments returns the arguments of a condition.
func wantArguments(d *dialect.Dialect, kind *record.Kind, c Condition) []Arg {
	fieldType := kind.Fields[c.Field].Type
	if values, ok := inOne(d, kind, c); ok {
		return []Arg{{Field: c.Field, Type: fieldType, List: values}}
	}
	var args []Arg
	for _, v := range c.Operands {
		v.Text = dialect.Matches[c.Operator].Operand(v.Text)
		args = append(args, Arg{Field: c.Field, Type: fieldType, Value: v})
	}
	return args
}

// inOne returns the values of a condition that are passed as one parameter.
func inOne(d *dialect.Dialect, kind *record.Kind, c Condition) ([]wire.Value, bool) {
	if c.Operator != record.In || d.List.MaxInline == 0 || len(c.Operands) <= d.List.MaxInline {
		return nil, false
	}
	t := kind.Fields[c.Field].Type
	items, values := itemType(d, t, d.Column(c.Field), c.Operands)
	return values, items != ""
}

// TestDecimalCast checks that values are cast to the smallest type that holds their
// digits.
func TestDecimalCast(t *testing.T) {
	for digits, want := range map[string]string{
		"0":                            "decimal(1,0)",
		"0.00":                         "decimal(2,2)",
		"-0.5":                         "decimal(1,1)",
		"12.340":                       "decimal(5,3)",
		"-120":                         "decimal(3,0)",
		"0." + strings.Repeat("1", 38): "decimal(38,38)",
		strings.Repeat("9", 38):        "decimal(38,0)",
	} {
		if got := decimalType(decimalDigits(digits)); got != want {
			t.Errorf("the type of %s is %s, want %s", digits, got, want)
		}
	}
	texts := rapid.StringMatching(`[-+]?[0-9]{0,40}\.?[0-9]{0,40}(e-?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		digits, err := wire.ParseDecimal(texts.Draw(t, "digits"))
		if err != nil {
			return
		}
		var precision, scale int
		if _, err := fmt.Sscanf(decimalType(decimalDigits(digits)), "decimal(%d,%d)", &precision, &scale); err != nil {
			t.Fatal(err)
		}
		if precision < 1 || precision > wire.MaxDigits || scale < 0 || scale > precision {
			t.Fatalf("the type of %s is decimal(%d,%d), which SQL Server does not have", digits, precision, scale)
		}
	})
}

// TestCompilePageKeysAfterImplied checks that conditions which are left out for a server do not
// count as the first of its WHERE.
func TestCompilePageKeysAfterImplied(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: []record.Field{{Name: "ID", Type: record.Int}}})
	if err != nil {
		t.Fatal(err)
	}
	implied := Condition{Field: 0, Operator: record.GreaterThan, Operands: []wire.Value{{Int: 1}}, Implied: true}
	plan := &Plan{
		Kind:     registry.Kinds()[0],
		Columns:  []int{0},
		Where:    []Condition{implied},
		Take:     NoTake,
		PageKeys: &Fragment{SQL: "SELECT 7"},
	}
	s, err := Compile(plan, dialect.TSQL(), "[T]")
	const want = "SELECT [ID] FROM [T] WHERE [ID] IN (SELECT 7)"
	if err != nil || s.SQL != want {
		t.Errorf("page keys after an implied condition: got %s, %v, want %s", s.SQL, err, want)
	}
}

// TestCompileKeyCount checks that the keys of a page are counted with their arguments.
func TestCompileKeyCount(t *testing.T) {
	kind, _ := registry.Lookup("DB_Class")
	id := Arg{Field: NoField, Type: record.Long, Value: wire.Value{Int: 7}}
	plan := &Plan{Kind: kind, Take: 3, PageKeys: &Fragment{SQL: "SELECT ID FROM k WHERE ID > ?", Args: []Arg{id}}}
	s, err := CompileKeyCount(plan, dialect.TSQL(), "[T]")
	const want = "SELECT COUNT_BIG(*) FROM (SELECT ID FROM k WHERE ID > @p1) AS k"
	if err != nil || s.SQL != want || len(s.Args) != 1 {
		t.Errorf("the number of keys: got %s with %d arguments, %v, want %s with 1", s.SQL, len(s.Args), err, want)
	}
}

// TestCompileLongPattern checks the limit of SQL Server for patterns: 4,000
// characters, regardless of their number of bytes.
func TestCompileLongPattern(t *testing.T) {
	kind, _ := registry.Lookup("DB_Class")
	for _, c := range []struct {
		member, text string
		wantFit      bool
	}{
		{"ClassStartsWith", strings.Repeat("é", 3999), true},
		{"ClassStartsWith", strings.Repeat("é", 4000), false},
		{"ClassContains", strings.Repeat("😀", 1999), true},
		{"ClassContains", strings.Repeat("😀", 2000), false},
		{"ClassEndsWith", strings.Repeat("%", 1334), false},
		{"ClassLike", strings.Repeat("%", 4000), true},
		{"ClassLike", strings.Repeat("😀", 2001), false},
		{"Class", strings.Repeat("x", 10_000), true},
	} {
		request, err := Parse(kind, Members{{Name: c.member, Texts: []string{c.text}}}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(request, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compile(plan, dialect.SQLite(), "t"); err != nil {
			t.Errorf("compiling %s with %d bytes for SQLite: %v", c.member, len(c.text), err)
		}
		_, err = Compile(plan, dialect.TSQL(), "t")
		if fits := err == nil; fits != c.wantFit {
			t.Errorf("compiling %s with %d bytes for SQL Server: got the error %v, want it to fit: %v",
				c.member, len(c.text), err, c.wantFit)
			continue
		}
		if err != nil && fault.From(err).Fields[0].Name != c.member {
			t.Errorf("compiling %s with %d bytes: got the error %v, want it to name the member",
				c.member, len(c.text), err)
		}
	}
}

// FuzzCompile checks that no text of a query string reaches the SQL.
func FuzzCompile(f *testing.F) {
	for i, seed := range []string{
		"InvoiceID=1' OR '1'='1",
		"Fields=[RecID]--,RecID&OrderBy=RecID];DROP TABLE x",
		"Include=COUNT(*) as x;DROP,SUM(FilterNo) \"y\"",
		"NameIn=a,b,c&Take=5&Skip=1",
		"ClassLike=%25[a-z]&Class]=1",
		"Fields=DISTINCT Class&Take=0",
		"QtyBetween=1.5,2e3&Include=AVG(Qty)",
		"SubAssemblyExplodePolicyIn=AQI%3D&RowHash=AQI%3D",
		"LastSavedDateTimeLessThan=2019-05-01&OrderByDesc=-RecID;LastSavedDateTime",
	} {
		for k := range registry.Kinds() {
			f.Add(byte(k), seed)
		}
		f.Add(byte(i), strings.ReplaceAll(seed, "&", "'&\""))
	}
	kinds := registry.Kinds()
	f.Fuzz(func(t *testing.T, k byte, raw string) {
		members, err := ReadForm(raw)
		if err != nil {
			return
		}
		request, err := Parse(kinds[int(k)%len(kinds)], members, inUTC)
		if err != nil {
			return
		}
		compileAll(t, request)
	})
}
