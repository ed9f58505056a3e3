package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// formerStatusWords has the statuses of messages in the words of former releases, by their
// numbers.
var formerStatusWords = []string{"new", "ok", "retry"}

// StatusNumber parses a status of messages: a word of wire.StatusWords, in which a hyphen
// can replace the blank, or a number.
func StatusNumber(text string) (int, error) {
	word := strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(text))
	for _, words := range [][]string{wire.StatusWords[:], formerStatusWords} {
		if n := slices.Index(words, word); n >= 0 {
			return n, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(wire.StatusWords) {
		words := StatusNames()
		hint := record.DidYouMean(record.Suggest(text, words))
		return 0, fmt.Errorf("must be 0 to 3, or one of %s, not %q%s", strings.Join(words, ", "), text, hint)
	}
	return n, nil
}

// StatusNames returns the statuses of messages as words without blanks.
func StatusNames() (names []string) {
	return record.Texts(wire.StatusWords[:], func(word string) string {
		return strings.ReplaceAll(word, " ", "-")
	})
}

// equality has the operators that do not depend on the order of values.
var equality = []record.Operator{record.Equal, record.NotEqualTo, record.In}

// Text formats a filter in the syntax of Parse, with the statuses of messages in words. Statuses
// that are compared by their order remain numbers.
func (f Reader) Text(condition client.Filter) string {
	i, ok := f.Kind.Column(condition.Field)
	comparesEquality := slices.Contains(equality, condition.Operator)
	if !ok || !comparesEquality || !IsStatus(f.Kind, f.Kind.Fields[i]) {
		return Text(condition)
	}
	names := StatusNames()
	condition.Values = record.Texts(condition.Values, func(value string) string {
		n, err := StatusNumber(value)
		if err != nil {
			return value
		}
		return names[n]
	})
	return Text(condition)
}

// IsStatus reports whether a field has the status of messages.
func IsStatus(kind *record.Kind, field record.Field) bool {
	return kind.Database == record.AppDB && field.Name == "Status" && field.Type == record.Int
}
