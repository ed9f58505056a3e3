package webhook

import (
	"encoding/json"
	"errors"
	"strings"
)

var errHeaders = errors.New(`must be a list of headers, such as [{"Name": "X-Token", "Value": "secret"}]`)

// ParseHeaders reads a list of headers as JSON, or in the form that clients of
// the existing service write into a query string: [{Name:X,Value:Y}].
func ParseHeaders(text string) ([]Header, error) {
	text = strings.TrimSpace(text)
	var headers []Header
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&headers); err == nil && !decoder.More() {
		return headers, nil
	}
	p := jsv{text}
	if !p.skip('[') {
		return nil, errHeaders
	}
	for first := true; !p.skip(']'); first = false {
		if !first && !p.skip(',') {
			return nil, errHeaders
		}
		h, ok := p.header()
		if !ok {
			return nil, errHeaders
		}
		headers = append(headers, h)
	}
	if p.rest != "" {
		return nil, errHeaders
	}
	return headers, nil
}

// jsv reads the text format JSV: values are bare up to a sign that means
// something, or quoted, with quotes doubled.
type jsv struct{ rest string }

func (p *jsv) skip(sign byte) bool {
	if p.rest == "" || p.rest[0] != sign {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *jsv) header() (h Header, ok bool) {
	if !p.skip('{') {
		return h, false
	}
	for first := true; !p.skip('}'); first = false {
		if !first && !p.skip(',') {
			return h, false
		}
		name := p.value(":,}")
		if !p.skip(':') {
			return h, false
		}
		switch value := p.value(",}"); {
		case strings.EqualFold(name, "Name"):
			h.Name = value
		case strings.EqualFold(name, "Value"):
			h.Value = value
		default:
			return h, false
		}
	}
	return h, true
}

// value reads up to one of the signs, or a quoted text.
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
