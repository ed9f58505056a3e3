package grid

import (
	"maps"
	"slices"

	"github.com/bizhook/whd/client/record"
)

// PageRows is the number of rows per request.
const PageRows = 200

const (
	maxPages = 50       // pages in memory
	maxBytes = 24 << 20 // text of the pages in memory
	prefetch = 40       // rows to load beyond the visible ones
)

// Pages loads rows page by page and keeps the recently used pages in memory. A
// generation number identifies responses to outdated requests.
type Pages struct {
	generation int
	total      int           // -1 if unknown
	minRows    int           // minimum number of rows while the total is unknown
	pages      map[int]*page // keyed by page number
	requested  map[int]bool  // numbers of the pages with a request in progress
	ids        map[string]int
	clock      int   // counts accesses, for page.lastUsed
	bytes      int   // size of all pages
	last       *page // page of the row that was accessed last
	lastNumber int
}

type page struct {
	rows     []*Row
	bytes    int
	lastUsed int  // time of the last access, in ticks of clock
	stale    bool // displayed until it is replaced
}

// NewPages returns an empty Pages.
func NewPages() *Pages {
	p := &Pages{}
	p.Reset()
	return p
}

// Reset removes all pages, since the query has changed.
func (p *Pages) Reset() {
	p.generation++
	p.total = -1
	p.minRows = 0
	p.bytes = 0
	p.last = nil
	p.pages = make(map[int]*page)
	p.requested = make(map[int]bool)
	p.ids = make(map[string]int)
}

// MarkStale causes every page to be requested again. The old pages are displayed until
// then.
func (p *Pages) MarkStale() {
	p.generation++
	p.requested = make(map[int]bool)
	for _, page := range p.pages {
		page.stale = true
	}
}

// Generation returns the number of the current query, for Put and RequestFailed.
func (p *Pages) Generation() int { return p.generation }

// Request returns the pages that are needed to display rows first to last and that are
// neither loaded nor requested, and marks them as requested. The first page is needed even
// without rows: it determines whether there are any.
func (p *Pages) Request(first, last int) []int {
	last = max(0, min(last+prefetch, p.Len()-1))
	var missing []int
	for number := max(0, first-prefetch) / PageRows; number*PageRows <= last; number++ {
		page := p.pages[number]
		isLoaded := page != nil && !page.stale
		if isLoaded || p.requested[number] {
			continue
		}
		p.requested[number] = true
		missing = append(missing, number)
	}
	return missing
}

// Put stores a page. It returns false if the generation is outdated.
func (p *Pages) Put(generation, number int, rows []*Row) bool {
	if generation != p.generation {
		return false
	}
	delete(p.requested, number)
	p.drop(number)
	fresh := &page{rows: rows}
	for i, row := range rows {
		p.ids[row.ID] = number*PageRows + i
		for _, cell := range row.Cells {
			fresh.bytes += len(cell.Text)
		}
	}
	p.pages[number] = fresh
	p.bytes += fresh.bytes
	p.touch(fresh)
	p.updateTotal(number, len(rows))
	p.evict()
	return true
}

// updateTotal updates the number of rows from the length of a page.
func (p *Pages) updateTotal(number, count int) {
	end := number*PageRows + count
	p.minRows = max(p.minRows, end)
	if count == PageRows {
		if p.total >= 0 {
			p.total = max(p.total, end)
		}
		return
	}
	isBeyondEnd := count == 0 && number > 0 && p.total >= 0 && p.total <= end
	if !isBeyondEnd { // it is the last page
		p.total = end
	}
}

// SetTotal sets the number of matching rows.
func (p *Pages) SetTotal(generation, total int) {
	if generation == p.generation {
		p.total = max(0, total)
	}
}

// Total returns the number of matching rows, -1 if unknown.
func (p *Pages) Total() int { return p.total }

// RequestFailed records that a request failed; the page is requested again when needed.
// It returns false if the generation is outdated.
func (p *Pages) RequestFailed(generation, number int) bool {
	if generation != p.generation {
		return false
	}
	delete(p.requested, number)
	return true
}

// Loading reports whether requests are in progress.
func (p *Pages) Loading() bool { return len(p.requested) > 0 }

func (p *Pages) touch(page *page) {
	p.clock++
	page.lastUsed = p.clock
}

func (p *Pages) drop(number int) {
	old := p.pages[number]
	if old == nil {
		return
	}
	for i, row := range old.rows {
		if p.ids[row.ID] == number*PageRows+i {
			delete(p.ids, row.ID)
		}
	}
	p.bytes -= old.bytes
	delete(p.pages, number)
	p.last = nil
}

// evict removes the least recently used pages, except the last two, which can be
// visible.
func (p *Pages) evict() {
	for len(p.pages) > 2 && p.isFull() {
		oldest, lastUsed := -1, 0
		for number, page := range p.pages {
			if oldest < 0 || page.lastUsed < lastUsed {
				oldest, lastUsed = number, page.lastUsed
			}
		}
		p.drop(oldest)
	}
}

// isFull reports whether more pages are in memory than allowed.
func (p *Pages) isFull() bool { return len(p.pages) > maxPages || p.bytes > maxBytes }

// Len returns the number of rows. If the total is unknown, it is one more than the number of known
// rows.
func (p *Pages) Len() int {
	if p.total >= 0 {
		return p.total
	}
	return p.minRows + 1
}

func (p *Pages) Row(i int) *Row {
	if i < 0 {
		return nil
	}
	number := i / PageRows
	if p.last == nil || p.lastNumber != number {
		page := p.pages[number]
		if page == nil {
			return nil
		}
		p.touch(page)
		p.last, p.lastNumber = page, number
	}
	i -= number * PageRows
	if i < len(p.last.rows) {
		return p.last.rows[i]
	}
	return nil
}

func (p *Pages) Find(id string) int {
	if i, ok := p.ids[id]; ok {
		return i
	}
	return -1
}

// Loaded returns the loaded rows in order.
func (p *Pages) Loaded() []*Row {
	var rows []*Row
	for _, number := range slices.Sorted(maps.Keys(p.pages)) {
		rows = append(rows, p.pages[number].rows...)
	}
	return rows
}

// LoadedIDs returns the IDs of the rows in memory.
func (p *Pages) LoadedIDs() []string {
	return record.Texts(p.Loaded(), func(row *Row) string { return row.ID })
}

// Replace replaces a loaded row by a row with the same ID.
func (p *Pages) Replace(i int, row *Row) {
	page := p.pages[i/PageRows]
	index := i % PageRows
	if page == nil || index >= len(page.rows) {
		return
	}
	if page.rows[index].ID == row.ID {
		page.rows[index] = row
	}
}
