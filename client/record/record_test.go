package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// TestKindsGolden shows changes of the kinds as a difference of the golden file.
func TestKindsGolden(t *testing.T) {
	var got strings.Builder
	for _, k := range Builtin().Kinds() {
		fmt.Fprintf(&got, "%s | %s | %s\n", k.Name, k.Area, k.Summary)
		for _, f := range k.Fields {
			var members []string
			for _, o := range f.Filter.Operators() {
				members = append(members, f.Name+o.Suffix())
			}
			fmt.Fprintf(&got, "  %s | %s | %s | %s\n", f.Name, f.TypeName(), f.Filter, strings.Join(members, " "))
		}
	}
	goldentest.Compare(t, "testdata/kinds.golden", got.String())
}

// TestNamesAreUnique does not use NewRegistry, which has the same check.
func TestNamesAreUnique(t *testing.T) {
	kinds := make(map[string]bool)
	for _, k := range Kinds() {
		for _, name := range []string{k.Name, k.Operation()} {
			lower := strings.ToLower(name)
			if kinds[lower] {
				t.Errorf("duplicate kind %s", name)
			}
			kinds[lower] = true
		}
		members := make(map[string]string)
		for _, name := range Reserved() {
			members[strings.ToLower(name)] = "a reserved name"
		}
		for _, f := range k.Fields {
			for _, o := range Operators() { // also those that the family does not allow: errors name them
				lower := strings.ToLower(f.Name + o.Suffix())
				if other, taken := members[lower]; taken {
					t.Errorf("%s: %s%s is also %s", k.Name, f.Name, o.Suffix(), other)
				}
				members[lower] = f.Name + " " + o.String()
			}
		}
	}
}

func TestKindsHaveAreaSummaryAndFamily(t *testing.T) {
	for _, k := range Kinds() {
		if k.Area == "" || k.Summary == "" || strings.HasSuffix(k.Summary, ".") {
			t.Errorf("%s: area %q, summary %q", k.Name, k.Area, k.Summary)
		}
		for _, f := range k.Fields {
			if want := familyOf(f.Type); f.Filter != want {
				t.Errorf("%s.%s of type %s has family %s, want %s", k.Name, f.Name, f.Type, f.Filter, want)
			}
		}
	}
}

// familyOf returns the family of all fields of a type in the published interface.
func familyOf(t Type) Family {
	switch t {
	case Text:
		return TextFilter
	case Bool, Bytes:
		return EqualFilter
	case Guid:
		return GuidFilter
	}
	return OrderedFilter
}

func TestFamilyOperators(t *testing.T) {
	for _, c := range []struct {
		family Family
		want   string
	}{
		{NoFilter, ""},
		{TextFilter, " StartsWith EndsWith Contains Like Between In"},
		{OrderedFilter, " GreaterThanOrEqualTo GreaterThan LessThan LessThanOrEqualTo NotEqualTo Between In"},
		{EqualFilter, ""},
		{GuidFilter, " In"},
	} {
		var suffixes []string
		for _, o := range c.family.Operators() {
			suffixes = append(suffixes, o.Suffix())
		}
		if got := strings.Join(suffixes, " "); got != c.want {
			t.Errorf("operators of family %s are %q, want %q", c.family, got, c.want)
		}
		if allows := c.family.Allows(Equal); allows != (c.family != NoFilter) {
			t.Errorf("family %s: Allows(Equal) = %t", c.family, allows)
		}
	}
}

func TestOperatorArity(t *testing.T) {
	for _, o := range Operators() {
		want := One
		switch o {
		case Between:
			want = Two
		case In:
			want = Many
		}
		if o.Arity() != want {
			t.Errorf("%s has arity %d, want %d", o, o.Arity(), want)
		}
	}
}

func TestTypeNamesAndRanges(t *testing.T) {
	seen := make(map[string]bool)
	for _, typ := range Types() {
		if typ.String() == "" || seen[typ.String()] {
			t.Errorf("type %d has the duplicate or empty name %q", typ, typ)
		}
		seen[typ.String()] = true
		if typ.Integer() && !typ.Number() {
			t.Errorf("%s is an integer type but not a number", typ)
		}
	}
	for _, c := range []struct {
		typ    Type
		lo, hi int64
	}{
		{Byte, 0, 255},
		{Short, -32768, 32767},
		{Int, -2147483648, 2147483647},
		{Long, -9223372036854775808, 9223372036854775807},
	} {
		if lo, hi := c.typ.Range(); lo != c.lo || hi != c.hi {
			t.Errorf("range of %s is %d to %d, want %d to %d", c.typ, lo, hi, c.lo, c.hi)
		}
	}
}

func TestTypeName(t *testing.T) {
	for _, c := range []struct {
		field Field
		want  string
	}{
		{Field{Name: "A", Type: Text, Filter: TextFilter, Null: Nullable}, "string"},
		{Field{Name: "A", Type: Bytes, Filter: EqualFilter, Null: Nullable}, "byte[]"},
		{Field{Name: "A", Type: Short, Filter: OrderedFilter, Null: Nullable}, "short?"},
		{Field{Name: "A", Type: Short, Filter: OrderedFilter, Null: NotNull}, "short"},
		{Field{Name: "A", Type: Guid, Filter: GuidFilter, Null: NotNull}, "Guid"},
	} {
		if got := c.field.TypeName(); got != c.want {
			t.Errorf("type name of %+v is %s, want %s", c.field, got, c.want)
		}
	}
}

func TestMemberIgnoresCase(t *testing.T) {
	kind, _ := Builtin().Lookup("BM_Inputs")
	for _, c := range []struct {
		name    string
		want    string // "" for no member
		allowed bool
	}{
		{"Note", "Note Equal", true},
		{"NOTE", "Note Equal", true},
		{"noteStartswith", "Note StartsWith", true},
		{"SubAssemblyExplodePolicyBetween", "SubAssemblyExplodePolicy Between", true},
		{"SubAssemblyIn", "SubAssembly In", true},
		{"SubAssembly", "SubAssembly Equal", true},
		{"quantityGREATERTHANOREQUALTO", "Quantity GreaterThanOrEqualTo", true},
		{"QuantityLike", "Quantity Like", false},
		{"NoteNotEqualTo", "Note NotEqualTo", false},
		{"IsRatioIn", "IsRatio In", false},
		{"RowHashIn", "RowHash In", false},
		{"NoteX", "", false},
		{"Not", "", false},
		{"StartsWith", "", false},
		{"", "", false},
		{"Take", "", false},
	} {
		m, ok := kind.Member(c.name)
		got := ""
		if ok {
			got = kind.Fields[m.Field].Name + " " + m.Operator.String()
		}
		if got != c.want || m.Allowed != c.allowed {
			t.Errorf("Member(%q) = %q, allowed %t; want %q, %t", c.name, got, m.Allowed, c.want, c.allowed)
		}
	}
}

func TestMembersAndColumnsResolve(t *testing.T) {
	for _, k := range Builtin().Kinds() {
		for _, name := range k.Members() {
			for _, spelt := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
				m, ok := k.Member(spelt)
				if !ok || !m.Allowed || k.Fields[m.Field].Name+m.Operator.Suffix() != name {
					t.Errorf("%s: Member(%s) = %+v, %t", k.Name, spelt, m, ok)
				}
			}
		}
		for i, name := range k.FieldNames() {
			if got, ok := k.Column(strings.ToUpper(name)); !ok || got != i {
				t.Errorf("%s: column %s is %d, %t, want %d", k.Name, name, got, ok, i)
			}
		}
		if _, ok := k.Column("Unknown"); ok {
			t.Errorf("%s has a column Unknown", k.Name)
		}
	}
}

func TestLookupFindsNamesAndOperations(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"SO_Totals", "SO_Totals"},
		{"so_totals", "SO_Totals"},
		{"SO_TOTALSQUERY", "SO_Totals"},
		{"INMGT020POQtyQuery", "INMGT020POQty"},
		{"db_classquery", "DB_Class"},
		{"SO_Total", ""},
		{"SO_TotalsQueryQuery", ""},
		{"Query", ""},
		{"", ""},
	} {
		got := ""
		if k, ok := Builtin().Lookup(c.name); ok {
			got = k.Name
		}
		if got != c.want {
			t.Errorf("Lookup(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSuggestSimilarKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"SO_Totls", []string{"SO_Totals"}},
		{"so_totalQUERY", []string{"SO_Totals"}},
		{"Totals", []string{"SO_Totals"}},
		{"colour", []string{"IN_Colours"}},
		{"BM_Input", []string{"BM_InputCustomFields", "BM_Inputs"}},
		{"custom", []string{"BM_InputCustomFields", "IN_BinLocationLookupCustomValues", "SM_LabourLineCustomValues"}},
		{"Invoices", []string{"SO_Totals"}}, // a word of its summary
		{"stock take", []string{"IN_KitStockTakeMain"}},
		{"Shipments", nil},
		{"", nil},
		{strings.Repeat("x", 5000), nil},
	} {
		if got := Builtin().Suggest(c.name); !slices.Equal(got, c.want) {
			t.Errorf("Suggest(%.20q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNewRegistryRejectsInvalidKinds(t *testing.T) {
	text := func(names ...string) []Field {
		var fields []Field
		for _, n := range names {
			fields = append(fields, Field{Name: n, Type: Text, Filter: TextFilter})
		}
		return fields
	}
	for _, c := range []struct {
		name  string
		kinds []Kind
		want  string
	}{
		{"no fields", []Kind{{Name: "A"}}, "no fields"},
		{"no name", []Kind{{Fields: text("X")}}, "no name"},
		{"field without name", []Kind{{Name: "A", Fields: text("X", "")}}, "field 2 has no name"},
		{
			name:  "duplicate kind",
			kinds: []Kind{{Name: "A", Fields: text("X")}, {Name: "a", Fields: text("X")}},
			want:  "a: duplicate name",
		},
		{
			name:  "kind named as an operation",
			kinds: []Kind{{Name: "A", Fields: text("X")}, {Name: "AQuery", Fields: text("X")}},
			want:  "AQuery: duplicate name",
		},
		{
			name:  "operation named as a kind",
			kinds: []Kind{{Name: "AQuery", Fields: text("X")}, {Name: "A", Fields: text("X")}},
			want:  "AQuery: duplicate name",
		},
		{"duplicate field", []Kind{{Name: "A", Fields: text("X", "x")}}, "duplicate field x"},
		{"reserved paging name", []Kind{{Name: "A", Fields: text("X", "TAKE")}}, "Take is reserved"},
		{
			name:  "two fields of a column",
			kinds: []Kind{{Name: "A", Fields: []Field{{Name: "X", Column: "c"}, {Name: "C"}}}},
			want:  "X and C have the same column C",
		},
		{"unknown key field", []Kind{{Name: "A", Key: []string{"X", "Y"}, Fields: text("X")}}, "unknown key field Y"},
		{"unknown stamp", []Kind{{Name: "A", Stamp: "Y", Fields: text("X")}}, "unknown stamp field Y"},
		{"unknown order field", []Kind{{Name: "A", OrderField: "Y", Fields: text("X")}}, "unknown order field Y"},
		{"unknown index field", []Kind{{Name: "A", Index: []string{"Y"}, Fields: text("X")}}, "unknown index field Y"},
		{"reserved format name", []Kind{{Name: "A", Fields: text("Format")}}, "format is reserved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewRegistry(c.kinds...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not contain %q", err, c.want)
			}
		})
	}
}

// TestCheckReturnsAllMistakes checks that each mistake names its member and its field.
func TestCheckReturnsAllMistakes(t *testing.T) {
	kind := Kind{
		Name:  "A",
		Key:   []string{"Ix"},
		Stamp: "S",
		Index: []string{"Nope"},
		Fields: []Field{
			{Name: "ID"},
			{Name: "id"},
			{Name: "X", Column: "ID"},
			{Name: "Format"},
			{Name: "Skip"},
			{Name: "IDs"},
		},
	}
	var got []string
	for _, m := range kind.Check() {
		got = append(got, m.Member+" "+m.Field+": "+m.Text)
	}
	want := []string{
		"fields id: duplicate field id",
		"fields X: ID and X have the same column ID",
		"fields Skip: Skip is reserved and cannot filter Skip",
		"fields Format: format is reserved and cannot filter Format",
		"key Ix: unknown key field Ix; did you mean ID or id or X?",
		"index Nope: unknown index field Nope",
		"stamp S: unknown stamp field S; did you mean X?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFieldsByColumn(t *testing.T) {
	r, err := NewRegistry(Kind{
		Name:   "A",
		Table:  "dbo.T",
		Fields: []Field{{Name: "Phone", Column: "Phone No."}, {Name: "Mail"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := r.Kinds()[0]
	for column, want := range map[string]int{"phone no.": 0, "MAIL": 1} {
		if got, ok := k.ByColumn(column); !ok || got != want {
			t.Errorf("ByColumn(%q) = %d, %t, want %d", column, got, ok, want)
		}
	}
	if _, ok := k.ByColumn("Phone"); ok {
		t.Error("Phone is a column")
	}
	if _, ok := k.Column("Phone No."); ok {
		t.Error("there is a field with the name of the column Phone No.")
	}
	if want := []string{"Phone No.", "Mail"}; !slices.Equal(k.ColumnNames(), want) {
		t.Errorf("the columns are %q, want %q", k.ColumnNames(), want)
	}
	if k.Source() != "dbo.T" {
		t.Errorf("the source is %s, want dbo.T", k.Source())
	}
}

func TestFieldNameTakesPrecedenceOverSuffix(t *testing.T) {
	r, err := NewRegistry(Kind{Name: "A", Fields: []Field{
		{Name: "Logged", Type: Text, Filter: TextFilter, Null: Nullable},
		{Name: "LoggedIn", Type: Bool, Filter: EqualFilter, Null: Nullable},
	}})
	if err != nil {
		t.Fatal(err)
	}
	k, _ := r.Lookup("a")
	m, ok := k.Member("loggedin")
	if want := (Member{1, Equal, true}); !ok || m != want {
		t.Errorf("Member(loggedin) = %+v, want %+v", m, want)
	}
	m, _ = k.Member("LoggedInIn")
	if want := (Member{1, In, false}); m != want {
		t.Errorf("Member(LoggedInIn) = %+v, want %+v", m, want)
	}
}

func TestNewRegistryCopiesKinds(t *testing.T) {
	kinds := Kinds()
	r, err := NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	kinds[0].Name = "Changed"
	kinds[0].Fields[0].Name = "Changed"
	if k := r.Kinds()[0]; k.Name == "Changed" || k.Fields[0].Name == "Changed" {
		t.Errorf("the registry was changed to %s.%s", k.Name, k.Fields[0].Name)
	}
}

func TestParseType(t *testing.T) {
	for _, typ := range Types() {
		for _, null := range []Nullability{Nullable, NotNull} {
			if typ == Text || typ == Bytes {
				null = Nullable // the notation does not distinguish them
			}
			got, gotNull, known := ParseType(Field{Type: typ, Null: null}.TypeName())
			if got != typ || gotNull != null || !known {
				t.Errorf("the name of %s, null %t, is parsed as %s, null %t, known %t", typ, null, got, gotNull, known)
			}
		}
	}
	if got, _, known := ParseType("geometry?"); got != Text || known {
		t.Errorf("geometry? is parsed as %s, known %t, want an unknown text", got, known)
	}
}
