package record

import (
	"slices"
	"strings"
	"testing"
)

// TestConventionsOfAllFields resolves every convention of every field, in three letter
// cases. A field or suffix of the same name takes precedence, as does a longer field.
func TestConventionsOfAllFields(t *testing.T) {
	const minNames = 8000
	count := 0
	for _, k := range slices.Concat(Builtin().Kinds(), System().Kinds()) {
		declared := declaredMembers(t, k)
		for field := range k.Fields {
			count += checkConventions(t, k, field, declared)
		}
	}
	if count < minNames {
		t.Errorf("checked %d names, want at least %d", count, minNames)
	}
}

// checkConventions checks the names of a field by the conventions. It returns the number of those
// that are not declared.
func checkConventions(t *testing.T, k *Kind, field int, declared map[string]Member) (count int) {
	t.Helper()
	f := k.Fields[field]
	for _, c := range Conventions() {
		for _, name := range spellings(f.Name, c.Names) {
			want, isDeclared := declared[strings.ToLower(name)]
			if !isDeclared {
				want = Member{field, c.Operator, f.Filter.Allows(c.Operator)}
				count++
			}
			for _, spelt := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
				got, ok := k.Member(spelt)
				isOfLongerField := ok && len(k.Fields[got.Field].Name) > len(f.Name)
				isWanted := ok && got == want
				if !isWanted && !isOfLongerField {
					t.Errorf("%s: Member(%s) = %+v, %t; want %+v", k.Name, spelt, got, ok, want)
				}
			}
		}
	}
	return count
}

// declaredMembers returns the members of a kind's fields and suffixes by name in lower
// case. A field takes precedence; no two suffixes form the same name.
func declaredMembers(t *testing.T, k *Kind) map[string]Member {
	t.Helper()
	declared := make(map[string]Member)
	for i, f := range k.Fields {
		declared[strings.ToLower(f.Name)] = Member{i, Equal, f.Filter.Allows(Equal)}
	}
	for i, f := range k.Fields {
		for _, o := range Operators()[1:] {
			name := strings.ToLower(f.Name + o.Suffix())
			existing, isTaken := declared[name]
			if isTaken && existing.Operator != Equal {
				t.Errorf("%s is ambiguous: %s or %s", name, k.Fields[existing.Field].Name, f.Name)
			}
			if !isTaken {
				declared[name] = Member{i, o, f.Filter.Allows(o)}
			}
		}
	}
	return declared
}

// TestOneSuffix checks that no suffix ends with another, so that a name is of one field and
// one suffix at most.
func TestOneSuffix(t *testing.T) {
	for i, a := range operatorSuffixes[1:] {
		for j, b := range operatorSuffixes[1:] {
			if i != j && strings.HasSuffix(a, b) {
				t.Errorf("%s ends with %s", a, b)
			}
		}
	}
}

// spellings returns the names of a field by the conventions.
func spellings(field string, names []string) (spelled []string) {
	for _, name := range names {
		text := strings.Trim(name, "%")
		if strings.HasSuffix(name, "%") {
			spelled = append(spelled, text+field)
		}
		if strings.HasPrefix(name, "%") {
			spelled = append(spelled, field+text)
		}
	}
	return spelled
}

// TestConventionsAreThoseOfAutoQuery has the names of ServiceStack's documentation, so that none is
// lost by mistake.
func TestConventionsAreThoseOfAutoQuery(t *testing.T) {
	want := map[Operator]string{
		GreaterThan:          "%> %Above% Begin% %Beyond% %Over% %OlderThan %After% GreaterThan%",
		GreaterThanOrEqualTo: ">% OnOrAfter% %From% Since% Start% %Higher% GreaterThanOrEqualTo%",
		LessThan:             "<% Behind% %Below% %Under% %Lower% %Before% %YoungerThan LessThan%",
		LessThanOrEqualTo:    "%< OnOrBefore% End% Stop% To% Until% LessThanOrEqualTo%",
		NotEqualTo:           "%!",
		Like:                 "%Like%",
		In:                   "%In %Ids",
		Between:              "%Between%",
		IsNull:               "%IsNull",
		IsNotNull:            "%IsNotNull",
	}
	got := make(map[Operator]string)
	for _, c := range Conventions() {
		got[c.Operator] = strings.Join(c.Names, " ")
	}
	for operator, names := range want {
		if got[operator] != names {
			t.Errorf("the names for %s are %s, want %s", operator, got[operator], names)
		}
	}
	if len(got) != len(want) || len(Conventions()) != len(want) {
		t.Errorf("%d conventions for %d operators, want one for each of %d",
			len(Conventions()), len(got), len(want))
	}
}

func TestConventionPrecedence(t *testing.T) {
	r, err := NewRegistry(Kind{Name: "Trips", Fields: []Field{
		{Name: "RecID", Type: Guid, Filter: GuidFilter, Null: NotNull},
		{Name: "Date", Type: DateTime, Filter: OrderedFilter, Null: Nullable},
		{Name: "FromDate", Type: DateTime, Filter: OrderedFilter, Null: Nullable},
		{Name: "DateTo", Type: DateTime, Filter: OrderedFilter, Null: Nullable},
		{Name: "DateFrom", Type: DateTime, Filter: OrderedFilter, Null: Nullable},
		{Name: "OrderIds", Type: Text, Filter: TextFilter, Null: Nullable},
		{Name: "Order", Type: Int, Filter: OrderedFilter, Null: Nullable},
		{Name: "LikeName", Type: Text, Filter: TextFilter, Null: Nullable},
		{Name: "Done", Type: Bool, Filter: EqualFilter, Null: Nullable},
		{Name: "Secret", Type: Text, Filter: NoFilter, Null: Nullable},
	}})
	if err != nil {
		t.Fatal(err)
	}
	kind := r.Kinds()[0]
	for name, want := range map[string]string{
		"FromDate":           "FromDate Equal", // fields
		"DateTo":             "DateTo Equal",
		"OrderIds":           "OrderIds Equal",
		"LikeName":           "LikeName Equal",
		"OrderIn":            "Order In", // suffixes
		"FromDateBetween":    "FromDate Between",
		"SinceDate":          "Date GreaterThanOrEqualTo",
		"FromFromDate":       "FromDate GreaterThanOrEqualTo",
		"FromDateFrom":       "DateFrom GreaterThanOrEqualTo", // as long as FromDate: the prefix
		"ToDateTo":           "DateTo LessThanOrEqualTo",
		"ToDate":             "Date LessThanOrEqualTo",
		"OrderIdsIds":        "OrderIds In",
		"LikeLikeName":       "LikeName Like",
		"likeorderids":       "OrderIds Like",
		"Order>":             "Order GreaterThan",
		"Order<":             "Order LessThanOrEqualTo",
		">order":             "Order GreaterThanOrEqualTo",
		"<ORDER":             "Order LessThan",
		"Order!":             "Order NotEqualTo",
		"OrderIsNull":        "Order IsNull",
		"RecIDIsNotNull":     "RecID IsNotNull",
		"DoneIsNull":         "Done IsNull",
		"OrderIds>":          "OrderIds GreaterThan refused",
		"RecID!":             "RecID NotEqualTo refused",
		"Done>":              "Done GreaterThan refused",
		"LikeOrder":          "Order Like refused",
		"SecretIsNull":       "Secret IsNull refused",
		"SinceDateX":         "",
		"Since":              "",
		">":                  "",
		"DateSince":          "", // a prefix only
		"!Order":             "Order compared",
		"Order<>":            "Order compared",
		"<>Order":            "Order compared",
		"Order>=":            "Order compared",
		"Order >":            "Order compared",
		"Order>5":            "Order compared",
		"5<Order":            "Order compared",
		"orderids!!":         "OrderIds compared",
		"OrderGreaterThan>":  "Order compared",
		"SinceDate<":         "Date compared",
		"Orders>":            "",
		"a>b":                "",
		"<script>":           "",
		"Order of things <b": "",
	} {
		got := ""
		if m, ok := kind.Member(name); ok {
			got = kind.Fields[m.Field].Name + " " + m.Operator.String()
			if !m.Allowed {
				got += " refused"
			}
		} else if field, compared := kind.Compared(name); compared {
			got = kind.Fields[field].Name + " compared"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := len(kind.Members()); got != 57 {
		t.Errorf("%d published members, want 57: the conventions are not among them", got)
	}
}
