package query

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// ReadForm reads name=value pairs from a query string or a form body. A repeated
// name becomes a list.
func ReadForm(raw string) (Members, error) {
	var all pairs
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" || pair == "=" {
			continue
		}
		name, text, err := unescapePair(pair)
		if err != nil {
			name, _, _ = strings.Cut(pair, "=") // the value may be a secret
			return nil, malformed("the query string or form cannot be read: %s is not name=value in UTF-8 with %% escapes",
				Printable(name))
		}
		if err := all.add(name, text); err != nil {
			return nil, err
		}
	}
	return all.finish()
}

// readMultipart reads the fields of a multipart form. A file is a value if it is text.
func readMultipart(body []byte, boundary string) (Members, error) {
	var all pairs
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		name, text, err := nextPart(r)
		if err == io.EOF {
			return all.finish()
		}
		if err != nil {
			return nil, fault.Wrap(err, fault.Malformed, "the multipart body cannot be read")
		}
		isNamed := name != "" && utf8.ValidString(name)
		isText := utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
		if !isNamed || !isText {
			return nil, malformed("the part %s of the multipart body is not a named text in UTF-8", Printable(name))
		}
		if err := all.add(name, string(text)); err != nil {
			return nil, err
		}
	}
}

// nextPart reads the next part of a multipart form. At the end of the form it fails with io.EOF.
func nextPart(r *multipart.Reader) (name string, content []byte, err error) {
	part, err := r.NextPart()
	if err != nil {
		return "", nil, err
	}
	content, err = io.ReadAll(part)
	return part.FormName(), content, err
}

func unescapePair(pair string) (name, text string, err error) {
	name, text, _ = strings.Cut(pair, "=")
	name, err = url.QueryUnescape(name)
	if err != nil {
		return "", "", err
	}
	text, err = url.QueryUnescape(text)
	if err != nil {
		return "", "", err
	}
	if !utf8.ValidString(name) || !utf8.ValidString(text) {
		return "", "", errors.New("not UTF-8")
	}
	return name, text, nil
}
