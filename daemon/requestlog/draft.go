package requestlog

import (
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"
)

// Draft is an entry that is being put together. What has to be written for it
// stands in one buffer, which the next draft uses again: it is made for every
// request.
type Draft struct {
	Entry
	buf   []byte
	spans [Texts]span // of buf, for texts that stand there
}

type span struct{ from, to int }

var drafts = sync.Pool{New: func() any { return new(Draft) }}

// NewDraft begins an entry. Record takes it, and it must not be used after that.
func NewDraft() *Draft { return drafts.Get().(*Draft) }

// entry ends the draft.
func (d *Draft) entry() Entry {
	all := string(d.buf)
	for i, s := range d.spans {
		if s.to > s.from {
			d.Texts[i] = all[s.from:s.to]
		}
	}
	e := d.Entry
	d.Entry, d.spans, d.buf = Entry{}, [Texts]span{}, d.buf[:0]
	if cap(d.buf) <= 2*MaxBody {
		drafts.Put(d)
	}
	return e
}

// Join writes a text of several parts.
func (d *Draft) Join(text int, parts ...string) {
	from := len(d.buf)
	for _, part := range parts {
		d.buf = append(d.buf, part...)
	}
	d.spans[text] = span{from, len(d.buf)}
}

// Same makes a text the same as another that was written.
func (d *Draft) Same(text, as int) { d.spans[text] = d.spans[as] }

// Object writes a JSON object of texts that stays within a bound: what does not
// fit is left out, and that is said. One is written at a time.
type Object struct {
	draft *Draft
	text  int
	from  int
	full  bool
}

// Object begins an object. Without members it will be no text at all.
func (d *Draft) Object(text int) Object { return Object{draft: d, text: text, from: len(d.buf)} }

// cutMark stands for members that did not fit.
const cutMark = `"...":"cut"`

// Add adds a member, stars for its value where that may be a secret.
func (o *Object) Add(name string, values ...string) {
	if o.full {
		return
	}
	w := spokenOf(name)
	if w != nil && !isName(name) {
		name = stars
	}
	o.begin(name)
	if len(values) != 1 {
		o.draft.buf = append(o.draft.buf, '[')
	}
	for i, value := range values {
		switch {
		case len(o.draft.buf)-o.from > maxJSON:
			continue // it will not be kept
		case w != nil:
			value = w.mask(value)
		case SpeaksOfSecret(value):
			value = stars
		}
		if i > 0 {
			o.draft.buf = append(o.draft.buf, ',')
		}
		o.draft.buf = appendText(o.draft.buf, value)
	}
	if len(values) != 1 {
		o.draft.buf = append(o.draft.buf, ']')
	}
	o.end()
}

// Set adds a member whose value is no secret for sure.
func (o *Object) Set(name, value string) {
	if o.full {
		return
	}
	o.begin(name)
	o.draft.buf = appendText(o.draft.buf, value)
	o.end()
}

func (o *Object) begin(name string) {
	o.draft.buf = append(o.draft.buf, ',') // the first one gives its place to the brace
	o.draft.buf = append(appendText(o.draft.buf, name), ':')
}

// end takes a member back that has made the object too large.
func (o *Object) end() {
	d := o.draft
	kept := max(d.spans[o.text].to, o.from) // up to the member before
	if len(d.buf)-o.from > maxJSON-len(cutMark)-2 {
		o.full = true
		d.buf = append(append(d.buf[:kept], ','), cutMark...)
	}
	d.buf[o.from] = '{'
	d.spans[o.text] = span{o.from, len(d.buf)}
}

// Close ends the object.
func (o *Object) Close() {
	d := o.draft
	if len(d.buf) > o.from {
		d.buf = append(d.buf, '}')
		d.spans[o.text].to = len(d.buf)
	}
}

// appendText writes a JSON string.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	plain := 0
	for plain < len(text) && text[plain] >= ' ' && text[plain] < utf8.RuneSelf && text[plain] != '"' && text[plain] != '\\' {
		plain++
	}
	dst = append(dst, text[:plain]...)
	if plain < len(text) {
		dst = appendEscaped(dst, strings.ToValidUTF8(text[plain:], "\uFFFD"))
	}
	return append(dst, '"')
}

func appendEscaped(dst []byte, text string) []byte {
	const hexDigits = "0123456789abcdef"
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"', c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// shownHeaders are the request headers that are kept, all others being none of
// anybody's business, or secret.
var shownHeaders = [...]string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Length", "Content-Type",
	"Expect", "If-Match", "If-None-Match", "Origin", "Range", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site",
	"Traceparent", "User-Agent", "Via", "Want-Digest", "X-Forwarded-Host", "X-Forwarded-Proto",
}

// headerPlace is where a header stands among those that are kept.
var headerPlace = func() map[string]int {
	places := make(map[string]int)
	for i, name := range shownHeaders {
		places[name] = i
	}
	return places
}()

// maxHeader bounds one header's value.
const maxHeader = 500

// Headers writes the request's headers, as far as they are kept.
func (d *Draft) Headers(r *http.Request) {
	o := d.Object(Headers)
	if r.Host != "" {
		o.Set("Host", cut(r.Host, maxHeader))
	}
	var given [len(shownHeaders)][]string
	for name, values := range r.Header { // which are fewer than those that could be there
		if place, kept := headerPlace[name]; kept {
			given[place] = values
		}
	}
	for place, values := range given {
		switch len(values) {
		case 0:
		case 1:
			o.Set(shownHeaders[place], cut(values[0], maxHeader))
		default:
			o.Set(shownHeaders[place], cut(strings.Join(values, ", "), maxHeader))
		}
	}
	o.Close()
}
