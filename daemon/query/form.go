package query

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// ReadForm reads name=value pairs from a query string or a form body. A repeated
// name becomes a list.
func ReadForm(raw string) (Members, error) {
	var all collector
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" || pair == "=" {
			continue
		}
		name, text, err := unescapePair(pair)
		if err != nil {
			name, _, _ = strings.Cut(pair, "=") // the value may be a secret
			return nil, malformed("the query string or form cannot be read: %s is not name=value in UTF-8 with %% escapes", printable(name))
		}
		all.repeat(name, text)
	}
	return all.members, nil
}

func unescapePair(pair string) (name, text string, err error) {
	name, text, _ = strings.Cut(pair, "=")
	if name, err = url.QueryUnescape(name); err != nil {
		return "", "", err
	}
	if text, err = url.QueryUnescape(text); err != nil {
		return "", "", err
	}
	if !utf8.ValidString(name) || !utf8.ValidString(text) {
		err = errors.New("not UTF-8")
	}
	return name, text, err
}
