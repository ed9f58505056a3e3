package manual

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/encode"
)

// Limits of a search.
const (
	maxWords    = 200 // bytes
	maxResults  = 50
	maxExcerpts = 3 // of a result
)

// result is a place that a search finds.
type result struct {
	Page     *page
	Section  *section // nil for the page itself
	Excerpts []string // rows of a table of symptoms
	rank     int
}

// The ranks of results, best first.
const (
	inCode = iota // the section of an error code with the status that was searched for
	inTitle
	inHeading
	inTitleAndHeading // some words in either
	inSymptom         // a row of a table of symptoms
	inText
)

// findings are the results of a search.
type findings struct {
	results []result
	words   int // in the search
	matched int // words that each result has; fewer than words if no place has all of them
}

// search returns the places with all words, in any letter case: the headings and titles that have
// them, the symptoms, and the sections of other pages that have them in their text. If no place has
// all words, it returns those that have the most.
func (c *content) search(text string) findings {
	words := strings.Fields(strings.ToLower(text))
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return findings{}
	}
	status := statusOf(words)
	if status != "" {
		words = []string{status}
	}
	var results []result
	for _, p := range c.pages {
		results = append(results, p.search(words, status)...)
	}
	if len(results) == 0 {
		return c.searchForSome(words)
	}
	slices.SortStableFunc(results, func(a, b result) int { return a.rank - b.rank })
	return findings{results: results, words: len(words), matched: len(words)}
}

// statusWords may accompany a status in a search.
var statusWords = []string{"error", "http", "status"}

// statusOf returns the HTTP status if a search is for nothing else, such as "409" or "error 409".
func statusOf(words []string) string {
	status := ""
	for _, word := range words {
		if slices.Contains(statusWords, word) {
			continue
		}
		if status != "" || !isStatus(word) {
			return ""
		}
		status = word
	}
	return status
}

// isStatus reports whether a word has the three digits of an HTTP status.
func isStatus(word string) bool {
	return len(word) == 3 && strings.Trim(word, "0123456789") == ""
}

// search returns the places of a page with all words, which are in lower case. The status is ""
// unless the search is for an HTTP status.
func (p *page) search(words []string, status string) []result {
	var results []result
	title := strings.ToLower(p.Title)
	if hasWords(title, words) {
		results = append(results, result{Page: p, rank: inTitle})
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		heading := strings.ToLower(s.Title)
		if hasWords(heading, words) {
			results = append(results, result{Page: p, Section: s, rank: inHeading})
			continue
		}
		if countWords(heading, words) > 0 && hasWords(title+" "+heading, words) {
			results = append(results, result{Page: p, Section: s, rank: inTitleAndHeading})
		}
	}
	hasHeading := len(results) > 0
	if !hasHeading && hasWords(p.text, words) {
		results = append(results, result{Page: p, rank: inText})
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		excerpts := s.symptomsWith(title, words)
		switch {
		case len(excerpts) > 0:
			results = append(results, result{Page: p, Section: s, Excerpts: excerpts, rank: inSymptom})
		case hasHeading || !hasWords(s.text, words):
		case p.describes(s, status):
			results = append(results, result{Page: p, Section: s, rank: inCode})
		default:
			results = append(results, result{Page: p, Section: s, rank: inText})
		}
	}
	return results
}

// symptomsWith returns the first symptoms of a section with all words. Some may be in the title of
// the page.
func (s *section) symptomsWith(title string, words []string) []string {
	var excerpts []string
	for _, symptom := range s.symptoms {
		text := strings.ToLower(symptom)
		if len(excerpts) < maxExcerpts && countWords(text, words) > 0 && hasWords(title+" "+text, words) {
			excerpts = append(excerpts, symptom)
		}
	}
	return excerpts
}

// describes reports whether a section is about an error code with an HTTP status.
func (p *page) describes(s *section, status string) bool {
	isCode := p.Path == encode.ErrorsPath && !strings.Contains(s.Title, " ")
	return isCode && status != "" && strings.Contains(s.text, "status "+status)
}

// symptomsPath is the path of the index of symptoms. It repeats those of the other pages.
const symptomsPath = Path + "/symptoms"

// searchForSome returns the places that have the most of the words, which are in lower case. Of a
// section with symptoms, these are the symptoms: each is about something else.
func (c *content) searchForSome(words []string) findings {
	most := findings{words: len(words), matched: 1}
	add := func(r result, text string) {
		n := countWords(text, words)
		if n < most.matched {
			return
		}
		if n > most.matched {
			most.matched = n
			most.results = nil
		}
		most.results = append(most.results, r)
	}
	for _, p := range c.pages {
		if p.Path == symptomsPath {
			continue
		}
		title := strings.ToLower(p.Title) + " "
		add(result{Page: p, rank: inText}, title+p.text)
		for i := range p.Sections {
			s := &p.Sections[i]
			for _, symptom := range s.symptoms {
				r := result{Page: p, Section: s, Excerpts: []string{symptom}, rank: inSymptom}
				add(r, title+strings.ToLower(symptom))
			}
			if s.symptoms == nil {
				add(result{Page: p, Section: s, rank: inText}, title+strings.ToLower(s.Title)+" "+s.text)
			}
		}
	}
	slices.SortStableFunc(most.results, func(a, b result) int { return a.rank - b.rank })
	return most
}

func hasWords(text string, words []string) bool {
	return countWords(text, words) == len(words)
}

// countWords returns how many of the words a text has.
func countWords(text string, words []string) int {
	count := 0
	for _, word := range words {
		if strings.Contains(text, word) {
			count++
		}
	}
	return count
}
