package grid

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// loadPages loads the pages that are needed for some rows.
func loadPages(p *Pages, all []*Row, first, last int) {
	for _, number := range p.Request(first, last) {
		p.Put(p.Generation(), number, pageRows(all, number))
	}
}

func pageRows(all []*Row, number int) []*Row {
	from := min(number*PageRows, len(all))
	return all[from:min(from+PageRows, len(all))]
}

func TestPagesAreFetchedNearTheWindow(t *testing.T) {
	p := NewPages()
	for _, step := range []struct {
		first, last int
		want        []int
	}{
		{0, 20, []int{0}},
		{0, 20, nil},            // already requested
		{5060, 5080, []int{25}}, // a jump skips the rows between
		{5060, 5170, []int{26}},
		{5010, 5020, []int{24}},
	} {
		p.SetTotal(p.Generation(), 12000)
		if got := p.Request(step.first, step.last); !slices.Equal(got, step.want) {
			t.Errorf("rows %d to %d: want requests for pages %v, got %v", step.first, step.last, step.want, got)
		}
	}
}

func TestPagesDetermineTotal(t *testing.T) {
	for _, n := range []int{0, 1, PageRows - 1, PageRows, PageRows + 1, 3 * PageRows} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p, all := NewPages(), numberedRows(n, 1)
			for first := 0; ; first += PageRows {
				loadPages(p, all, first, first+10)
				if p.Total() >= 0 {
					break
				}
			}
			if p.Len() != n {
				t.Errorf("%d rows, want %d", p.Len(), n)
			}
		})
	}
}

func TestPagesEvictUnusedPages(t *testing.T) {
	p, all := NewPages(), numberedRows(12000, 3)
	p.SetTotal(p.Generation(), len(all))
	for first := 0; first < len(all); first += 50 {
		loadPages(p, all, first, first+50)
		if p.Row(first) == nil {
			t.Fatalf("row %d is not loaded", first)
		}
	}
	if len(p.pages) > maxPages || len(p.ids) > maxPages*PageRows {
		t.Errorf("%d pages with %d ids are kept", len(p.pages), len(p.ids))
	}
	if p.Row(0) != nil || p.Find("D00000") != -1 || p.Find("D11999") != 11999 {
		t.Error("the first page was not evicted, or the last one was")
	}
	if requested := p.Request(0, 10); !slices.Equal(requested, []int{0}) {
		t.Errorf("pages %v are requested, want the first", requested)
	}
}

func TestPagesLimitMemory(t *testing.T) {
	p := NewPages()
	for number := range 10 {
		p.Request(number*PageRows, number*PageRows+10)
		rows := make([]*Row, PageRows)
		for i := range rows {
			rows[i] = row(fmt.Sprint(number, i), strings.Repeat("x", 50_000))
		}
		p.Put(p.Generation(), number, rows)
	}
	if len(p.pages) > 3 {
		t.Errorf("%d pages of 10 MB are kept", len(p.pages))
	}
}

func TestPagesIgnoreOutdatedResponses(t *testing.T) {
	p, all := NewPages(), numberedRows(100, 1)
	old := p.Generation()
	p.Request(0, 10)
	p.Reset()
	if p.Put(old, 0, all) || p.RequestFailed(old, 0) || p.Row(0) != nil {
		t.Error("a response of an old generation was accepted")
	}
	loadPages(p, all, 0, 10)
	p.MarkStale()
	if p.Row(0) == nil {
		t.Error("stale rows are not displayed")
	}
	loadPages(p, all[50:], 0, 10)
	if p.Row(0).ID != "D00050" || p.Find("D00000") != -1 || p.Len() != 50 {
		t.Errorf("first row is %s of %d", p.Row(0).ID, p.Len())
	}
}

func TestPagesRequestAgainAfterFailure(t *testing.T) {
	p := NewPages()
	p.Request(0, 10)
	p.RequestFailed(p.Generation(), 0)
	if requested := p.Request(0, 10); !slices.Equal(requested, []int{0}) {
		t.Errorf("pages %v are requested, want the first", requested)
	}
}

// The first page of an empty list is requested again, since rows may have been added.
func TestPagesRequestEmptyListAgain(t *testing.T) {
	p := NewPages()
	loadPages(p, nil, 0, -1)
	p.SetTotal(p.Generation(), 0)
	if requested := p.Request(0, -1); requested != nil {
		t.Errorf("pages %v of an empty list are requested again, want none until it is stale", requested)
	}
	p.MarkStale()
	if requested := p.Request(0, -1); !slices.Equal(requested, []int{0}) {
		t.Errorf("pages %v of a stale empty list are requested, want the first", requested)
	}
}
