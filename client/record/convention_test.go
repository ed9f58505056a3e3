package record

import (
	"slices"
	"strings"
	"testing"
)

// TestConventionsOfAllFields resolves every convention of every field, in three letter
// cases. A field or suffix of the same name takes precedence, as does a longer field.
func TestConventionsOfAllFields(t *testing.T) {
	kinds := slices.Concat(Builtin().Kinds(), System().Kinds())
	count := 0
	for _, k := range kinds {
		declared := declaredMembers(t, k)
		for i, f := range k.Fields {
			for _, c := range Conventions() {
				for _, name := range spellings(f.Name, c.Names) {
					want, exact := declared[strings.ToLower(name)]
					if !exact {
						want = Member{i, c.Operator, f.Filter.Allows(c.Operator)}
						count++
					}
					for _, spelt := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
						got, ok := k.Member(spelt)
						if !ok || got != want && len(k.Fields[got.Field].Name) <= len(f.Name) {
							t.Errorf("%s: Member(%s) = %+v, %t; want %+v", k.Name, spelt, got, ok, want)
						}
					}
				}
			}
		}
	}
	if count < 8000 {
		t.Errorf("%d names, want more", count)
	}
}

// declaredMembers returns the members of a kind's fields and suffixes by name in lower
// case. A field takes precedence; no two suffixes form the same name.
func declaredMembers(t *testing.T, k *Kind) map[string]Member {
	t.Helper()
	all := make(map[string]Member)
	for i, f := range k.Fields {
		all[strings.ToLower(f.Name)] = Member{i, Equal, f.Filter.Allows(Equal)}
	}
	for i, f := range k.Fields {
		for _, o := range Operators()[1:] {
			name := strings.ToLower(f.Name + o.Suffix())
			other, taken := all[name]
			if taken && other.Operator != Equal {
				t.Errorf("%s is ambiguous: %s or %s", name, k.Fields[other.Field].Name, f.Name)
			}
			if !taken {
				all[name] = Member{i, o, f.Filter.Allows(o)}
			}
		}
	}
	return all
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
func spellings(field string, names []string) (all []string) {
	for _, name := range names {
		text := strings.Trim(name, "%")
		if strings.HasSuffix(name, "%") {
			all = append(all, text+field)
		}
		if strings.HasPrefix(name, "%") {
			all = append(all, field+text)
		}
	}
	return all
}

// TestConventionsAreThoseOfAutoQuery has the list a second time, as ServiceStack's
// documentation orders it.
func TestConventionsAreThoseOfAutoQuery(t *testing.T) {
	want := []string{
		"%Above%>", "Begin%>", "%Beyond%>", "%Over%>", "%OlderThan>", "%After%>",
		"OnOrAfter%>=", "%From%>=", "Since%>=", "Start%>=", "%Higher%>=",
		">%>=", "%>>", "%!<>",
		"Behind%<", "%Below%<", "%Under%<", "%Lower%<", "%Before%<", "%YoungerThan<",
		"OnOrBefore%<=", "End%<=", "Stop%<=", "To%<=", "Until%<=", "%<<=", "<%<",
		"GreaterThan%>", "GreaterThanOrEqualTo%>=", "LessThan%<", "LessThanOrEqualTo%<=", // as suffixes: the published interface
		"%Like%like", "%Inin", "%Idsin", "%Between%between", "%IsNullnull", "%IsNotNullnot null",
	}
	signs := map[Operator]string{
		GreaterThan: ">", GreaterThanOrEqualTo: ">=", LessThan: "<", LessThanOrEqualTo: "<=", NotEqualTo: "<>",
		Like: "like", In: "in", Between: "between", IsNull: "null", IsNotNull: "not null",
	}
	var got []string
	for _, c := range Conventions() {
		for _, name := range c.Names {
			got = append(got, name+signs[c.Operator])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
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
