package assistant

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// searchWord is a word of a search, with others that mean the same in the trade.
type searchWord struct {
	stem     string
	synonyms []string
}

// particles are words of questions that are parts of many names.
var particles = strings.Fields("a an and are at by do for from how in is many me much my of on or our per the to was we were which with")

// searchWords returns the words of a text in lower case, without the endings of plurals.
func searchWords(text string) []searchWord {
	var words []searchWord
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isSeparator) {
		if slices.Contains(particles, word) {
			continue
		}
		stem := stemOf(word)
		words = append(words, searchWord{stem, synonyms(stem)})
	}
	return words
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// matches returns how well a text matches words: twice the number of words that it contains,
// and once the number of those that it has another word for.
func matches(text string, words []searchWord) int {
	text = strings.ToLower(text)
	n := 0
	for _, word := range words {
		if strings.Contains(text, word.stem) {
			n += 2
		} else if slices.ContainsFunc(word.synonyms, func(synonym string) bool { return has(text, synonym) }) {
			n++
		}
	}
	return n
}

// has reports whether a text contains a word of the trade.
func has(text, word string) bool {
	if strings.HasSuffix(word, "_") {
		return strings.HasPrefix(text, word)
	}
	return strings.Contains(text, stemOf(word))
}

// ranked returns the kinds that match a word, the best first: a name counts more than a
// summary, and that more than a field.
func ranked(kinds []*record.Kind, words []searchWord) []*record.Kind {
	if len(words) == 0 {
		return kinds
	}
	score := make(map[*record.Kind]int)
	for _, k := range kinds {
		inName, inSummary := matches(k.Name, words), matches(k.Area+" "+k.Summary, words)
		score[k] = 4*inName + 3*inSummary + matches(strings.Join(k.FieldNames(), " "), words)
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k *record.Kind) bool { return score[k] == 0 })
	slices.SortStableFunc(kinds, func(a, b *record.Kind) int { return cmp.Compare(score[b], score[a]) })
	return kinds
}
