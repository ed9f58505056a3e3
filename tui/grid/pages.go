package grid

import (
	"maps"
	"slices"
)

// PageRows is how many rows are fetched at once.
const PageRows = 200

const (
	maxPages = 50       // pages that stay in memory
	maxBytes = 24 << 20 // of their text
	prefetch = 40       // rows beyond the shown ones that are fetched already
)

// Pages are rows that are fetched page by page, of which only those near what
// was looked at last stay in memory. Answers to questions that nobody asks any
// more are told by their generation.
type Pages struct {
	generation int
	total      int // -1 while nobody knows
	minRows    int // rows that there are at least
	pages      map[int]*page
	requested  map[int]bool // on their way
	ids        map[string]int
	clock      int
	bytes      int
	last       *page // page of the row that was asked for last
	lastNumber int
}

type page struct {
	rows     []*Row
	bytes    int
	lastUsed int
	stale    bool // shown until the new one is here
}

// NewPages makes Pages that know nothing yet.
func NewPages() *Pages {
	p := &Pages{}
	p.Reset()
	return p
}

// Reset forgets everything: something else is asked for.
func (p *Pages) Reset() {
	p.generation++
	p.total, p.minRows, p.bytes, p.last = -1, 0, 0, nil
	p.pages, p.requested, p.ids = make(map[int]*page), make(map[int]bool), make(map[string]int)
}

// MarkStale makes every page be fetched again. What is here is shown until then.
func (p *Pages) MarkStale() {
	p.generation++
	p.requested = make(map[int]bool)
	for _, page := range p.pages {
		page.stale = true
	}
}

// Generation tells answers to the current question from those to former ones.
func (p *Pages) Generation() int { return p.generation }

// Request lists the pages that are needed to show rows first to last and that
// nobody has asked for yet. They count as asked for from now on.
func (p *Pages) Request(first, last int) []int {
	last = min(last+prefetch, p.Len()-1)
	if p.total < 0 {
		last = max(last, 0) // the first page tells how it goes on
	}
	var missing []int
	for number := max(0, first-prefetch) / PageRows; number*PageRows <= last; number++ {
		if page := p.pages[number]; page != nil && !page.stale || p.requested[number] {
			continue
		}
		p.requested[number] = true
		missing = append(missing, number)
	}
	return missing
}

// Put takes a page. It is false for one of a former generation.
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

// updateTotal takes from a page how many rows there are.
func (p *Pages) updateTotal(number, count int) {
	end := number*PageRows + count
	if p.minRows = max(p.minRows, end); count == PageRows {
		if p.total >= 0 {
			p.total = max(p.total, end)
		}
		return
	}
	if count > 0 || number == 0 {
		p.total = end
	} else if p.total < 0 || p.total > end {
		p.total = end
	}
}

// SetTotal says how many rows match.
func (p *Pages) SetTotal(generation, total int) {
	if generation == p.generation {
		p.total = max(0, total)
	}
}

// Total is the number of rows that match, -1 while nobody knows.
func (p *Pages) Total() int { return p.total }

// RequestFailed says that a page did not come. It is asked for again when it is
// needed the next time.
func (p *Pages) RequestFailed(generation, number int) bool {
	if generation != p.generation {
		return false
	}
	delete(p.requested, number)
	return true
}

// Loading reports whether pages are on their way.
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

// evict drops the pages that were not looked at for the longest time, but keeps
// the two used last, which may be on the screen.
func (p *Pages) evict() {
	for len(p.pages) > 2 && (len(p.pages) > maxPages || p.bytes > maxBytes) {
		oldest, at := -1, 0
		for number, page := range p.pages {
			if oldest < 0 || page.lastUsed < at {
				oldest, at = number, page.lastUsed
			}
		}
		p.drop(oldest)
	}
}

// Len is Rows'. While nobody knows the number of rows, it is one more than have
// come.
func (p *Pages) Len() int {
	if p.total >= 0 {
		return p.total
	}
	return p.minRows + 1
}

// Row is Rows'.
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
	if i -= number * PageRows; i < len(p.last.rows) {
		return p.last.rows[i]
	}
	return nil
}

// Find is Rows'.
func (p *Pages) Find(id string) int {
	if i, ok := p.ids[id]; ok {
		return i
	}
	return -1
}

// Loaded lists the rows that are here, in their order.
func (p *Pages) Loaded() []*Row {
	var rows []*Row
	for _, number := range slices.Sorted(maps.Keys(p.pages)) {
		rows = append(rows, p.pages[number].rows...)
	}
	return rows
}

// Replace puts another row of the same id in the place of one that is here.
func (p *Pages) Replace(i int, row *Row) {
	if page := p.pages[i/PageRows]; page != nil && i%PageRows < len(page.rows) && page.rows[i%PageRows].ID == row.ID {
		page.rows[i%PageRows] = row
	}
}
