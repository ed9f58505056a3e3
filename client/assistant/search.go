package assistant

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// searchWord is a word of a search, in lower case and in the singular.
type searchWord struct {
	word     string
	synonyms []string
}

// particles are words of questions that are parts of many names.
var particles = strings.Fields("a an and are at by do for from how in is many me much my of on or our " +
	"per the to was we were which with")

// searchWords returns the words to search for a text.
func searchWords(text string) []searchWord {
	var words []searchWord
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isSeparator) {
		if slices.Contains(particles, word) {
			continue
		}
		word = singular(word)
		words = append(words, searchWord{word: word, synonyms: synonyms(word)})
	}
	return words
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// searchedText is a text that is searched, such as the name of a kind, in lower case.
type searchedText struct {
	text   string
	joined string // the words without separators
	words  []textWord
}

// textWord is a word of a text.
type textWord struct {
	start    int // in joined
	singular string
}

// newSearchedText splits a text into words: IN_KitStockTake has in, kit, stock and take.
func newSearchedText(text string) searchedText {
	searched := searchedText{text: strings.ToLower(text)}
	for part := range strings.FieldsFuncSeq(text, isSeparator) {
		for _, word := range splitAtCapitals(part) {
			word = strings.ToLower(word)
			searched.words = append(searched.words, textWord{start: len(searched.joined), singular: singular(word)})
			searched.joined += word
		}
	}
	return searched
}

// splitAtCapitals splits a name before each capital that starts a word: POQty is PO and Qty, and
// Cartage1Total is Cartage1 and Total.
func splitAtCapitals(name string) []string {
	var words []string
	letters := []rune(name)
	start := 0
	for i := 1; i < len(letters); i++ {
		if !unicode.IsUpper(letters[i]) {
			continue
		}
		endsAcronym := i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if endsAcronym || !unicode.IsUpper(letters[i-1]) {
			words = append(words, string(letters[start:i]))
			start = i
		}
	}
	return append(words, string(letters[start:]))
}

// hasWord reports whether a word of the text starts with a word, which may be written as several
// in the text: stocktake is found in KitStockTake. A word is not searched within others: count
// is not a part of Account.
func (s searchedText) hasWord(word string) bool {
	return slices.ContainsFunc(s.words, func(w textWord) bool {
		return strings.HasPrefix(w.singular, word) || strings.HasPrefix(s.joined[w.start:], word)
	})
}

// hasSynonym reports whether the text has an entry of synonymGroups.
func (s searchedText) hasSynonym(entry string) bool {
	if strings.HasSuffix(entry, "_") {
		return strings.HasPrefix(s.text, entry)
	}
	return s.hasWord(strings.ReplaceAll(entry, " ", ""))
}

// matches returns how well a text matches words: twice the number of words that it contains,
// and once the number of those that it has a synonym of.
func matches(text string, words []searchWord) int {
	searched := newSearchedText(text)
	n := 0
	for _, w := range words {
		if searched.hasWord(w.word) {
			n += 2
		} else if slices.ContainsFunc(w.synonyms, searched.hasSynonym) {
			n++
		}
	}
	return n
}

// ranked returns the kinds that match words, the best first: a name counts more than a summary,
// and that more than a field. If no kind has one of the words, it returns those that have one
// within others, since names in lower case such as invoicetotal have no word starts.
func ranked(kinds []*record.Kind, words []searchWord) []*record.Kind {
	if len(words) == 0 {
		return kinds
	}
	score := make(map[*record.Kind]int)
	for _, k := range kinds {
		inName := matches(k.Name, words)
		inSummary := matches(k.Area+" "+k.Summary, words)
		inFields := matches(strings.Join(k.FieldNames(), " "), words)
		score[k] = 4*inName + 3*inSummary + inFields
	}
	scored := slices.DeleteFunc(slices.Clone(kinds), func(k *record.Kind) bool { return score[k] == 0 })
	if len(scored) == 0 {
		return containing(kinds, words)
	}
	slices.SortStableFunc(scored, func(a, b *record.Kind) int { return cmp.Compare(score[b], score[a]) })
	return scored
}

// containing returns the kinds that contain one of the words anywhere.
func containing(kinds []*record.Kind, words []searchWord) []*record.Kind {
	var list []*record.Kind
	for _, k := range kinds {
		texts := append([]string{k.Name, k.Area, k.Summary}, k.FieldNames()...)
		text := strings.ToLower(strings.Join(texts, " "))
		isContained := func(w searchWord) bool { return strings.Contains(text, w.word) }
		if slices.ContainsFunc(words, isContained) {
			list = append(list, k)
		}
	}
	return list
}
