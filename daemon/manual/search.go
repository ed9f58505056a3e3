package manual

import (
	"slices"
	"strings"
)

// Limits of a search.
const (
	maxWords   = 200 // bytes
	maxResults = 50
)

// result is a place that a search finds.
type result struct {
	Page    *page
	Section *section // nil for the page itself
	rank    int
}

// The ranks of results, best first.
const (
	inTitle = iota
	inHeading
	inTitleAndHeading // some words in either
	inText
)

// search returns the places with all words, in any letter case: the headings and titles that have
// them, and the sections of other pages that have them in their text.
func (c *content) search(text string) []result {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return nil
	}
	var results []result
	for _, p := range c.pages {
		results = append(results, p.search(words)...)
	}
	slices.SortStableFunc(results, func(a, b result) int { return a.rank - b.rank })
	return results
}

// search returns the places of a page with all words, which are in lower case.
func (p *page) search(words []string) []result {
	var results []result
	title := strings.ToLower(p.Title)
	if hasWords(title, words) {
		results = append(results, result{p, nil, inTitle})
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		heading := strings.ToLower(s.Title)
		if hasWords(heading, words) {
			results = append(results, result{p, s, inHeading})
			continue
		}
		isInPart := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(heading, w) })
		if isInPart && hasWords(title+" "+heading, words) {
			results = append(results, result{p, s, inTitleAndHeading})
		}
	}
	if results != nil {
		return results
	}
	if hasWords(p.text, words) {
		results = append(results, result{p, nil, inText})
	}
	for i := range p.Sections {
		if s := &p.Sections[i]; hasWords(s.text, words) {
			results = append(results, result{p, s, inText})
		}
	}
	return results
}

func hasWords(text string, words []string) bool {
	isMissing := func(word string) bool { return !strings.Contains(text, word) }
	return !slices.ContainsFunc(words, isMissing)
}
