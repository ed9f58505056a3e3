package webhook

import (
	"encoding/json"
	"errors"
	"strings"
)

var errHeaders = errors.New(`must be a list of headers, such as [{"Name": "X-Token", "Value": "secret"}]`)

// ParseHeaders parses a list of headers or a single one, as JSON or in the form that
// clients of the existing service write into a query string: [{Name:X,Value:Y}].
func ParseHeaders(text string) ([]Header, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		text = "[" + text + "]"
	}
	var headers []Header
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&headers); err == nil && !decoder.More() {
		return withoutIDs(headers), nil
	}
	p := jsv{text}
	ok := p.list('[', ']', func() bool {
		headers = append(headers, Header{})
		return p.list('{', '}', func() bool { return p.member(&headers[len(headers)-1]) })
	})
	if !ok || p.rest != "" {
		return nil, errHeaders
	}
	return headers, nil
}

// withoutIDs removes the IDs, which typed clients send and the store assigns.
func withoutIDs(headers []Header) []Header {
	for i := range headers {
		headers[i].ID = ""
	}
	return headers
}

// jsv parses ServiceStack's text format JSV: a value is bare, up to the next delimiter,
// or quoted, with quotes doubled.
type jsv struct{ rest string }

func (p *jsv) skip(char byte) bool {
	if p.rest == "" || p.rest[0] != char {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// list parses comma-separated items between brackets.
func (p *jsv) list(opening, closing byte, item func() bool) bool {
	if !p.skip(opening) {
		return false
	}
	for first := true; !p.skip(closing); first = false {
		if !first && !p.skip(',') || !item() {
			return false
		}
	}
	return true
}

// member parses one member of a header object.
func (p *jsv) member(h *Header) bool {
	name := p.value(":,}")
	if !p.skip(':') {
		return false
	}
	switch value := p.value(",}"); {
	case strings.EqualFold(name, "Name"):
		h.Name = value
	case strings.EqualFold(name, "Value"):
		h.Value = value
	case strings.EqualFold(name, "SubscriptionRequestHeaderID"): // assigned by the store
	default:
		return false
	}
	return true
}

// value parses a bare value, up to one of the characters of until, or a quoted one.
func (p *jsv) value(until string) string {
	if !p.skip('"') {
		end := strings.IndexAny(p.rest, until)
		if end < 0 {
			end = len(p.rest)
		}
		text := p.rest[:end]
		p.rest = p.rest[end:]
		return text
	}
	var text strings.Builder
	for {
		before, after, found := strings.Cut(p.rest, `"`)
		text.WriteString(before)
		p.rest = after
		if !found || !p.skip('"') {
			return text.String()
		}
		text.WriteByte('"')
	}
}
