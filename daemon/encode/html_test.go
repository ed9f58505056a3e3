package encode

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// htmlText returns the text of a page and checks that its elements are balanced.
func htmlText(t *testing.T, page []byte) string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(page)))
	decoder.Strict = false
	decoder.AutoClose = []string{"meta", "input"}
	text, _ := readMarkup(t, decoder)
	return text
}

func TestHTMLCount(t *testing.T) {
	two := [][]row.Cell{{number(1)}, {number(2)}}
	page := func(take int64) *View {
		return &View{
			Take:     take,
			Page:     func(skip, take int64) string { return fmt.Sprintf("/p?%d-%d", skip, take) },
			CountURL: "/count",
		}
	}

	tests := []struct {
		rows  [][]row.Cell
		total int64
		view  *View
		want  string
	}{
		{nil, 0, nil, "No rows."},
		{nil, 7, nil, "No rows of 7."},
		{two, 0, nil, "Rows 21 to 22."},
		{two, 1234567, nil, "Rows 21 to 22 of 1,234,567."},
		{two, 0, page(2), "Rows 21 to 22; there may be more. Count all rows"},
		{two, 22, page(2), "Rows 21 to 22 of 22."},
		{two, 0, page(3), "Rows 21 to 22."},
		{two, 0, page(-1), "Rows 21 to 22."},
	}

	for _, test := range tests {
		page := result(format(t, "html"), Shape{
			Columns: []Column{{Name: "N", Type: record.Int}},
			View:    test.view,
		}, test.rows, Tail{Total: test.total})
		if !strings.Contains(htmlText(t, page), "\n"+test.want+"\n") {
			t.Errorf("%d rows, %d in all: %q is not in %s", len(test.rows), test.total, test.want, page)
		}
	}
}

// TestPager checks the links to other pages.
func TestPager(t *testing.T) {
	tests := []struct {
		offset, rows, take, total int64
		want                      string
	}{
		{0, 10, 100, 10, ""},
		{0, 100, 100, 0, "First Previous Next=100+100"},
		{0, 100, 100, 250, "First Previous Next=100+100 Last=200+100"},
		{100, 100, 100, 250, "First=0+100 Previous=0+100 Next=200+100 Last=200+100"},
		{200, 50, 100, 250, "First=0+100 Previous=100+100 Next Last"},
		{50, 100, 100, 250, "First=0+100 Previous=0+100 Next=150+100 Last=200+100"},
		{400, 0, 100, 0, "First=0+100 Previous=300+100 Next"},
		{5, 7, -1, 12, "First=0+-1 Previous=5+-1 Next"},
		{0, 0, 0, 12, ""},
	}
	for _, test := range tests {
		v := &View{
			Take: test.take,
			Page: func(skip, take int64) string { return fmt.Sprintf("%d+%d", skip, take) },
		}
		e := &htmlRows{shape: Shape{View: v}, offset: test.offset, rows: test.rows}
		var got []string
		for _, l := range e.pages(test.total) {
			got = append(got, strings.TrimSuffix(l.Name+"="+l.URL, "="))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: got the links %s, want %s", test, got, test.want)
		}
	}
}

func TestPageSizes(t *testing.T) {
	for _, test := range []struct {
		take, limit int64
		want        string
	}{
		{100, 0, "25=25 100 500=500 2,000=2000 All=2147483647"},
		{-1, 0, "25=25 100=100 500=500 2,000=2000 All"},
		{7, 500, "25=25 100=100 500=500"},
	} {
		v := &View{
			Take:  test.take,
			Limit: test.limit,
			Page:  func(_, take int64) string { return fmt.Sprint(take) },
		}
		var got []string
		for _, l := range v.sizes() {
			got = append(got, strings.TrimSuffix(l.Name+"="+l.URL, "="))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: got the sizes %s, want %s", test, got, test.want)
		}
	}
}

// TestSheetLimit checks that a page has a note if there are, or may be, more rows than a workbook holds,
// and leads to all of them as CSV.
func TestSheetLimit(t *testing.T) {
	two := [][]row.Cell{{number(1)}, {number(2)}}
	for _, test := range []struct {
		total, limit int64
		links        string // to all rows by their number
		note         string
	}{
		{total: 1_048_575, links: "CSV XLSX"},
		{total: 1_048_576, links: "CSV", note: "These are more rows than a workbook (XLSX) holds, which is 1,048,575."},
		{total: 0, note: "If these are more than 1,048,575 rows, a workbook (XLSX) cannot hold them."},
		{total: 0, limit: 1000},
		{total: 2},
	} {
		shape := Shape{
			Columns:  []Column{{Name: "N", Type: record.Int}},
			AllLinks: []Link{{Name: "CSV", URL: "/all.csv"}, {Name: "XLSX", URL: "/all.xlsx"}},
			MaxSheet: 1_048_575,
			View: &View{
				Take:  2,
				Limit: test.limit,
				Page:  func(_, _ int64) string { return "" },
			},
		}
		e := &htmlRows{shape: shape, rows: int64(len(two))}
		end := e.bottom(Tail{Total: test.total})
		var links []string
		for _, l := range end.All {
			links = append(links, l.Name)
		}
		if got := strings.Join(links, " "); got != test.links || end.Sheet != test.note {
			t.Errorf("%+v: got the links %q and the note %q", test, got, end.Sheet)
		}
		page := result(format(t, "html"), shape, two, Tail{Total: test.total})
		hasNote := strings.Contains(string(page), `Export them as <a href="/all.csv">CSV</a>`)
		if hasNote != (test.note != "") {
			t.Errorf("%+v: the page offers CSV instead: %t", test, hasNote)
		}
	}
}

// TestFilters checks the operators and values that the form offers for each filter
// family.
func TestFilters(t *testing.T) {
	for _, test := range []struct {
		field record.Field
		want  string
	}{
		{
			field: record.Field{Name: "F", Type: record.Text, Filter: record.TextFilter},
			want:  "Equal StartsWith EndsWith Contains Like Between In /",
		},
		{
			field: record.Field{Name: "F", Type: record.Int, Filter: record.OrderedFilter},
			want:  "Equal GreaterThanOrEqualTo GreaterThan LessThan LessThanOrEqualTo NotEqualTo Between In /",
		},
		{
			field: record.Field{Name: "F", Type: record.Bool, Filter: record.EqualFilter},
			want:  "Equal / any True False",
		},
		{field: record.Field{Name: "F", Type: record.Guid, Filter: record.GuidFilter}, want: "Equal In /"},
	} {
		f := NewFilter(test.field, record.Equal, "")
		var got []string
		for _, c := range f.Operators {
			got = append(got, c.Value)
		}
		got = append(got, "/")
		for _, c := range f.Values {
			got = append(got, c.Text)
		}
		if strings.Join(got, " ") != test.want || (f.Operator != "") != (len(f.Operators) == 1) {
			t.Errorf("%s: %s, only %q", test.field.TypeName(), got, f.Operator)
		}
	}

	for _, o := range record.Operators() {
		if OperatorWords(o) == "" {
			t.Errorf("no description of %s", o)
		}
	}
}

// fullView returns a View with all fields set.
func fullView() *View {
	return &View{
		Summary:  "Rows of every type",
		Path:     []Link{{Name: "Mixed", URL: "/metadata#mixed"}, {Name: "Rows"}},
		Feed:     "https://host/odata/Mixed",
		FeedFile: "/odata/Mixed.pbids",
		Form: FilterForm{
			Action: "/api/MixedQuery",
			Hidden: []Pair{{"OrderBy", "int"}},
			Filters: []Filter{
				NewFilter(record.Field{
					Name:   "int",
					Type:   record.Int,
					Filter: record.OrderedFilter,
				}, record.GreaterThan, "5"),
				NewFilter(record.Field{
					Name:   "bool",
					Type:   record.Bool,
					Filter: record.EqualFilter,
					Null:   true,
				}, record.Equal, "true"),
			},
		},
		Conditions: []Condition{{
			Field:     "int",
			Operator:  "is over",
			Value:     "5",
			RemoveURL: "/api/MixedQuery?OrderBy=int",
		}},
		ClearURL: "/api/MixedQuery",
		Sort: []SortLink{
			{URL: "/api/MixedQuery?OrderBy=string"},
			{URL: "/api/MixedQuery?OrderByDesc=int", Sorted: "ascending"},
		},
		Take:     4,
		Page:     func(skip, take int64) string { return fmt.Sprintf("/api/MixedQuery?Skip=%d&Take=%d", skip, take) },
		CountURL: "/api/MixedQuery?Include=Total",
		Note:     "A note.",
	}
}

func TestQueryPage(t *testing.T) {
	html := format(t, "html").For(Site{Base: "/erp", User: "Kim <K>", Session: true})
	shape := mixed()
	shape.View = fullView()
	golden(t, "page", html, result(html, shape, mixedRows(), Tail{
		Total: 2345,
		Meta:  []Pair{{Name: "COUNT(*)", Value: "2345"}},
	}))
}

// TestHTMLIsSafe puts markup into every text that a page shows.
func TestHTMLIsSafe(t *testing.T) {
	const attack = `"><script>alert(1)</script><p id="`
	html := format(t, "html")
	shape := Shape{
		Operation: attack,
		Record:    attack,
		Columns:   []Column{{Name: attack, Type: record.Text}},
		Links:     []Link{{Name: attack, URL: attack}, {Name: attack, URL: "javascript:alert(1)"}},
	}

	shape.View = &View{
		Summary:  attack,
		Path:     []Link{{Name: attack, URL: attack}},
		Feed:     attack,
		FeedFile: attack,
		Note:     attack,
		ClearURL: attack,
		CountURL: attack,
		Take:     1,
		Form: FilterForm{
			Action: attack,
			Hidden: []Pair{{attack, attack}},
			Filters: []Filter{
				NewFilter(record.Field{
					Name:   attack,
					Type:   record.Text,
					Filter: record.TextFilter,
				}, record.Equal, attack),
			},
		},
		Conditions: []Condition{{Field: attack, Operator: attack, Value: attack, RemoveURL: attack}},
		Sort:       []SortLink{{URL: attack, Sorted: attack}},
		Page:       func(int64, int64) string { return attack },
	}
	html = html.For(Site{Base: "/erp", User: attack, Location: attack, Session: true})
	status := failureStatus()
	status.ErrorCode = attack
	status.Message = attack
	status.StackTrace = attack
	status.Errors[0].FieldName = attack
	status.Errors[0].Message = attack
	status.Meta[attack] = attack
	document, err := html.Document(nil, attack, map[string]string{attack: attack})
	if err != nil {
		t.Fatal(err)
	}

	pages := map[string][]byte{
		"rows":     result(html, shape, [][]row.Cell{{text(attack)}}, Tail{Meta: []Pair{{attack, attack}}}),
		"failure":  html.Failure(nil, status, nil),
		"document": document,
	}
	for name, page := range pages {
		if strings.Contains(string(page), "<script") || strings.Contains(string(page), `=""><`) ||
			strings.Contains(string(page), "javascript:") {
			t.Errorf("the page %s has a script or an empty attribute: %s", name, page)
		}
		if !strings.Contains(htmlText(t, page), attack) {
			t.Errorf("%s: the text is missing: %s", name, page)
		}
	}
}

func TestStylePolicy(t *testing.T) {
	_, after, _ := strings.Cut(string(result(format(t, "html"), Shape{}, nil, Tail{})), "<style>")
	shown, _, _ := strings.Cut(after, "</style>")
	if shown != style {
		t.Errorf("the page's style does not match the policy: %s", shown)
	}
	if policy := StylePolicy(); !strings.HasPrefix(policy, "'sha256-") || !strings.HasSuffix(policy, "='") {
		t.Errorf("policy %s", policy)
	}
}

// TestSimilarNamesAreLinked checks that an error page has similar names once, as links.
func TestSimilarNamesAreLinked(t *testing.T) {
	html := format(t, "html").For(Site{Base: "/erp"})
	status := wire.ResponseStatus{ErrorCode: "NotFound", Message: "unknown record kind Parcel; did you mean Parcels?"}
	page := string(html.Failure(nil, status, nil))
	link := `Did you mean <a href="/erp/Queries/Parcels">Parcels</a>?`
	if !strings.Contains(page, link) || strings.Contains(page, "did you mean") {
		t.Errorf("got %s; want the name once, in %s", page, link)
	}
}
