package encode

import (
	"math"
	"slices"
	"strconv"
)

// View is the navigation around the rows on the page of a query. All URLs are paths
// with a query string.
type View struct {
	Summary    string
	Path       []Link // breadcrumbs of the page
	Form       FilterForm
	Conditions []Condition // conditions of the request
	ClearURL   string      // the page without conditions
	Sort       []SortLink  // one for each column
	Take       int64       // page size, negative for all rows
	Limit      int64       // the maximum page size, 0 for none
	Page       func(skip, take int64) string
	CountURL   string // the page with its total, if it was not counted
	Note       string // a warning about the links
	Feed       string // URL of all rows for Excel and Power BI; empty for none
	FeedFile   string // URL of a file for Power BI

	Columns ColumnForm
	Groups  GroupForm
	OneLine bool // long texts are cut: each row has a page with all of them
}

// ColumnForm is a form that selects columns.
type ColumnForm struct {
	Hidden []Pair   // the other members of the request
	Fields []Choice // nil for no form
}

// GroupForm is a form that groups the rows.
type GroupForm struct {
	Hidden   []Pair   // the conditions of the request
	Fields   []Choice // nil for no form
	Measures []Choice // the functions of a group
}

// FilterForm is a form for the conditions.
type FilterForm struct {
	Action  string
	Hidden  []Pair   // members of the request without an input
	Filters []Filter // one for each field
}

// Condition is a condition of the request.
type Condition struct {
	Field, Operator, Value string
	RemoveURL              string // the page without the condition
}

// SortLink links to the page sorted by a column.
type SortLink struct {
	URL    string
	Sorted string // the current order: ascending, descending, or empty for none
}

// AllRows is the Take that selects every row, for pages that show only some rows
// without Take.
const AllRows = math.MaxInt32

// queryPage is the data of the page of a query up to its first row.
type queryPage struct {
	Page
	View
	Record   string
	Links    []Link
	All      []Link // all rows, not only those of the page
	Open     bool   // the filter form is unfolded
	Headings []heading
}

// heading is the heading of a column.
type heading struct {
	SortLink
	Name   string
	Number bool // the column has numbers
}

// top returns the data of the page above the rows.
func (e *htmlRows) top() queryPage {
	p := queryPage{
		Page:   Page{Title: e.shape.Record, Site: e.site},
		Record: e.shape.Record,
		Links:  e.shape.Links,
		All:    e.shape.AllLinks,
	}
	if e.shape.View != nil {
		p.View = *e.shape.View
		p.Breadcrumbs = e.shape.View.Path
	}
	for i, c := range e.shape.Columns {
		h := heading{Name: c.Name, Number: c.Type.Number()}
		if i < len(p.Sort) {
			h.SortLink = p.Sort[i]
		}
		p.Headings = append(p.Headings, h)
	}
	return p
}

// queryEnd is the data of the page below the rows.
type queryEnd struct {
	Count    string
	CountURL string
	Pages    []Link // without URL if the page does not exist
	Sizes    []Link // without URL for the current size
	Meta     *pairList
	All      []Link // all rows in other formats, if their number is known
	AllCount string
	Sheet    string // a note about the limit of workbooks; empty if one can hold all rows
	CSVURL   string // all rows as CSV, which has no limit
}

// bottom returns the data of the page below the rows.
func (e *htmlRows) bottom(t Tail) queryEnd {
	end := queryEnd{Count: e.count(t.Total), Meta: newPairList("Meta", t.Meta)}
	v := e.shape.View
	e.exportAll(&end, t.Total)
	if t.NextURL != "" {
		end.Pages = []Link{{Name: "Next page", URL: t.NextURL}}
	}
	if v == nil || v.Page == nil {
		return end
	}
	end.Pages = e.pages(t.Total)
	end.Sizes = v.sizes()
	if t.Total == 0 && e.mayHaveMore(0) {
		end.CountURL = v.CountURL
	}
	return end
}

// exportAll sets the links to all rows. Their number is known at the end of the page, if at all. More
// rows than a sheet holds cannot be in a workbook.
func (e *htmlRows) exportAll(end *queryEnd, total int64) {
	e.limitSheet(end, total)
	if total <= e.rows {
		return
	}
	end.AllCount = grouped(total)
	for _, link := range e.shape.AllLinks {
		isSheet := link.Name == "XLSX"
		if !isSheet || total <= e.shape.MaxSheet {
			end.All = append(end.All, link)
		}
	}
}

// limitSheet sets the note about the limit of workbooks, if there are or may be more rows.
func (e *htmlRows) limitSheet(end *queryEnd, total int64) {
	i := slices.IndexFunc(e.shape.AllLinks, func(l Link) bool { return l.Name == "CSV" })
	v := e.shape.View
	isLimited := v != nil && v.Limit > 0 && v.Limit <= e.shape.MaxSheet // the export, by http.max_take
	if i < 0 || e.shape.MaxSheet == 0 || isLimited {
		return
	}
	limit := grouped(e.shape.MaxSheet)
	switch {
	case total > e.shape.MaxSheet:
		end.Sheet = "These are more rows than a workbook (XLSX) holds, which is " + limit + "."
	case total == 0 && e.mayHaveMore(0):
		end.Sheet = "If these are more than " + limit + " rows, a workbook (XLSX) cannot hold them."
	default:
		return
	}
	end.CSVURL = e.shape.AllLinks[i].URL
}

// count describes the range of the rows shown. total is 0 if it was not counted.
func (e *htmlRows) count(total int64) string {
	if e.byCursor && e.rows > 0 {
		text := grouped(e.rows) + " rows on this page"
		if total > 0 {
			text += ", " + grouped(total) + " in all"
		}
		return text + "."
	}

	text := "No rows"
	if e.rows > 0 {
		text = "Rows " + grouped(e.offset+1) + " to " + grouped(e.offset+e.rows)
	}
	if total > 0 {
		text += " of " + grouped(total)
	} else if e.mayHaveMore(0) {
		text += "; there may be more"
	}
	return text + "."
}

// mayHaveMore reports whether another page may follow. total is 0 if it was not counted.
func (e *htmlRows) mayHaveMore(total int64) bool {
	if total > 0 {
		return e.offset+e.rows < total
	}
	v := e.shape.View
	return v != nil && v.Take > 0 && e.rows >= v.Take
}

// pages returns links to the neighbouring pages, nil if all rows are shown.
func (e *htmlRows) pages(total int64) []Link {
	v := e.shape.View
	hasNext := e.mayHaveMore(total)
	isOnlyPage := e.offset == 0 && !hasNext
	if isOnlyPage || v.Take == 0 {
		return nil
	}

	first := Link{Name: "First"}
	previous := Link{Name: "Previous"}
	next := Link{Name: "Next"}
	if e.offset > 0 {
		first.URL = v.Page(0, v.Take)
		previous.URL = v.Page(max(0, e.offset-max(v.Take, 0)), v.Take)
	}
	if hasNext && v.Take > 0 {
		next.URL = v.Page(e.offset+v.Take, v.Take)
	}
	links := []Link{first, previous, next}
	if total > 0 && v.Take > 0 {
		last := Link{Name: "Last"}
		if hasNext {
			last.URL = v.Page((total-1)/v.Take*v.Take, v.Take)
		}
		links = append(links, last)
	}
	return links
}

// sizes returns links to the common page sizes.
func (v *View) sizes() []Link {
	var links []Link
	for _, n := range []int64{25, 100, 500, 2000, AllRows} {
		if v.Limit > 0 && n > v.Limit {
			break
		}
		link := Link{Name: grouped(n), URL: v.Page(0, n)}
		if n == AllRows {
			link.Name = "All"
		}
		isAll := n == AllRows && v.Take < 0
		if isAll || n == v.Take {
			link.URL = "" // the current size
		}
		links = append(links, link)
	}
	return links
}

// grouped formats a number with thousands separators.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
