package encode

import (
	"math"
	"strconv"
)

// View is what the page of a query has around its rows: the ways from here to
// other rows. All addresses are paths with a query string.
type View struct {
	Summary    string
	Trail      []Link     // the way to the page
	Here       string     // where the filter form goes to
	Kept       []Pair     // members that the form hands on
	Filters    []Filter   // the filter form
	Conditions []Asked    // what the request asks for
	Cleared    string     // the page without any of it
	Sort       []SortLink // one for each column
	Take       int64      // rows of a page, below 0 for all
	Limit      int64      // the largest Take, 0 for none
	Page       func(skip, take int64) string
	CountAll   string // the page with its total, where nobody counted
	Note       string // what a reader must know of the links
}

// Asked is one thing that the request asks for, and the page without it.
type Asked struct {
	Field, Words, Value string
	Without             string
}

// SortLink leads to the page in the order of a column.
type SortLink struct {
	URL    string
	Sorted string // ascending or descending, as it is now; empty for neither
}

// AllRows is the Take that asks for every row, where a page without Take shows
// only some.
const AllRows = math.MaxInt32

// queryPage is the data of the page of a query up to its first row.
type queryPage struct {
	Page
	View
	Record   string
	Links    []Link
	Open     bool // the filter form is unfolded
	Headings []heading
}

type heading struct {
	SortLink
	Name   string
	Number bool
}

func (e *htmlRows) top() queryPage {
	p := queryPage{Page: Page{Title: e.shape.Record, Site: e.site}, Record: e.shape.Record, Links: e.shape.Links}
	if e.shape.View != nil {
		p.View, p.Crumbs = *e.shape.View, e.shape.View.Trail
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

// queryEnd is the data of what stands below the rows.
type queryEnd struct {
	Count    string
	CountAll string
	Pages    []Link // without URL where there is no such page
	Sizes    []Link // without URL for the present one
	Meta     *facts
}

func (e *htmlRows) bottom(t Tail) queryEnd {
	end := queryEnd{Count: e.count(t.Total), Meta: about("Meta", t.Meta)}
	v := e.shape.View
	if v == nil || v.Page == nil {
		return end
	}
	end.Pages, end.Sizes = e.pages(t.Total), v.sizes()
	if t.Total == 0 && e.more(0) {
		end.CountAll = v.CountAll
	}
	return end
}

// count tells which rows these are. The total is 0 where nobody counted.
func (e *htmlRows) count(total int64) string {
	text := "No rows"
	if e.rows > 0 {
		text = "Rows " + grouped(e.offset+1) + " to " + grouped(e.offset+e.rows)
	}
	switch {
	case total > 0:
		text += " of " + grouped(total)
	case e.more(0):
		text += "; there may be more"
	}
	return text + "."
}

// more reports whether another page may follow.
func (e *htmlRows) more(total int64) bool {
	if total > 0 {
		return e.offset+e.rows < total
	}
	v := e.shape.View
	return v != nil && v.Take > 0 && e.rows >= v.Take
}

// pages lead to the neighbours, unless all is here.
func (e *htmlRows) pages(total int64) []Link {
	v := e.shape.View
	more := e.more(total)
	if e.offset == 0 && !more || v.Take == 0 {
		return nil
	}
	first, previous, next := Link{Name: "First"}, Link{Name: "Previous"}, Link{Name: "Next"}
	if e.offset > 0 {
		first.URL = v.Page(0, v.Take)
		previous.URL = v.Page(max(0, e.offset-max(v.Take, 0)), v.Take)
	}
	if more && v.Take > 0 {
		next.URL = v.Page(e.offset+v.Take, v.Take)
	}
	links := []Link{first, previous, next}
	if total > 0 && v.Take > 0 {
		last := Link{Name: "Last"}
		if more {
			last.URL = v.Page((total-1)/v.Take*v.Take, v.Take)
		}
		links = append(links, last)
	}
	return links
}

// sizes are the usual numbers of rows, and all of them.
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
		if n == v.Take || n == AllRows && v.Take < 0 {
			link.URL = ""
		}
		links = append(links, link)
	}
	return links
}

// grouped writes a number with commas between its thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
