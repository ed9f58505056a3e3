package requestlog

import (
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"
)

// EntryBuilder builds an entry. All composed texts share one buffer, which is
// pooled: an entry is built for each request.
type EntryBuilder struct {
	Entry
	buf   []byte
	spans [Texts]span // positions in buf of the composed texts
}

type span struct{ from, to int }

var builders = sync.Pool{New: func() any { return new(EntryBuilder) }}

// NewEntryBuilder returns an empty builder. Record consumes it; it must not be used
// afterwards.
func NewEntryBuilder() *EntryBuilder { return builders.Get().(*EntryBuilder) }

// entry returns the entry and releases the builder.
func (b *EntryBuilder) entry() Entry {
	composed := string(b.buf)
	for i, s := range b.spans {
		if s.to > s.from {
			b.Texts[i] = composed[s.from:s.to]
		}
	}
	e := b.Entry
	b.Entry = Entry{}
	b.spans = [Texts]span{}
	b.buf = b.buf[:0]
	// Most entries need less than a body and its response. A pooled buffer for the largest ones would
	// occupy their memory forever.
	if cap(b.buf) <= 2*MaxBody {
		builders.Put(b)
	}
	return e
}

// SetText sets a text to the concatenation of parts.
func (b *EntryBuilder) SetText(text int, parts ...string) {
	from := len(b.buf)
	for _, part := range parts {
		b.buf = append(b.buf, part...)
	}
	b.spans[text] = span{from, len(b.buf)}
}

// CopyText sets a text to the same value as another one.
func (b *EntryBuilder) CopyText(text, from int) { b.spans[text] = b.spans[from] }

// Object writes a JSON object of bounded size: members that do not fit are left out
// and marked by cutMark. Until it is closed, nothing else may be written to the builder.
type Object struct {
	builder   *EntryBuilder
	text      int
	from      int
	truncated bool
}

// Object starts a JSON object. An object without members becomes an empty text.
func (b *EntryBuilder) Object(text int) Object {
	return Object{builder: b, text: text, from: len(b.buf)}
}

// cutMark replaces the members that did not fit.
const cutMark = `"...":"cut"`

// Add adds a member. A value that may be secret is masked.
func (o *Object) Add(name string, values ...string) { o.AddMember("", name, values...) }

// AddMember adds a member of a request to a path. A value that may be secret is masked.
func (o *Object) AddMember(path, name string, values ...string) {
	if o.truncated {
		return
	}
	w := sensitiveMember(path, name)
	if w != nil && !isName(name) {
		name = masked
	}
	o.begin(name)
	if len(values) != 1 {
		o.builder.buf = append(o.builder.buf, '[')
	}
	for i, value := range values {
		switch {
		case len(o.builder.buf)-o.from > maxJSON:
			continue // beyond the limit; the member still needs its end, and end removes it
		case w != nil:
			value = w.mask(value)
		case IsSensitive(value):
			value = masked
		}
		if i > 0 {
			o.builder.buf = append(o.builder.buf, ',')
		}
		o.builder.buf = appendText(o.builder.buf, value)
	}
	if len(values) != 1 {
		o.builder.buf = append(o.builder.buf, ']')
	}
	o.end()
}

// Set adds a member that is known not to be secret.
func (o *Object) Set(name, value string) {
	if o.truncated {
		return
	}
	o.begin(name)
	o.builder.buf = appendText(o.builder.buf, value)
	o.end()
}

func (o *Object) begin(name string) {
	o.builder.buf = append(o.builder.buf, ',') // end replaces the first comma by the brace
	o.builder.buf = append(appendText(o.builder.buf, name), ':')
}

// end removes the member again if it made the object too large.
func (o *Object) end() {
	b := o.builder
	kept := max(b.spans[o.text].to, o.from) // end of the previous member
	if len(b.buf)-o.from > maxJSON-len(cutMark)-2 {
		o.truncated = true
		b.buf = append(append(b.buf[:kept], ','), cutMark...)
	}
	b.buf[o.from] = '{'
	b.spans[o.text] = span{o.from, len(b.buf)}
}

// Close ends the object.
func (o *Object) Close() {
	b := o.builder
	if len(b.buf) > o.from {
		b.buf = append(b.buf, '}')
		b.spans[o.text].to = len(b.buf)
	}
}

// appendText appends a JSON string.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	plain := 0 // number of leading bytes that need no escaping
	for plain < len(text) && isPlain(text[plain]) {
		plain++
	}
	dst = append(dst, text[:plain]...)
	if plain < len(text) {
		dst = appendEscaped(dst, strings.ToValidUTF8(text[plain:], "\uFFFD"))
	}
	return append(dst, '"')
}

// isPlain reports whether a byte of a text stands for itself in a JSON string.
func isPlain(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\'
}

// appendEscaped appends valid UTF-8 to a JSON string.
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

// loggedHeaders are the request headers that are logged. Others are irrelevant or
// secret.
var loggedHeaders = [...]string{
	"Accept", "Accept-Encoding", "Accept-Language",
	"Content-Encoding", "Content-Length", "Content-Type",
	"Expect", "If-Match", "If-None-Match", "Origin", "Range",
	"Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site",
	"Traceparent", "User-Agent", "Via", "Want-Digest", "X-Forwarded-Host", "X-Forwarded-Proto",
}

// headerIndex is the index of a header in loggedHeaders.
var headerIndex = func() map[string]int {
	indexes := make(map[string]int)
	for i, name := range loggedHeaders {
		indexes[name] = i
	}
	return indexes
}()

// AnyUserAgent is the start of the member of the logged headers with a User-Agent.
const AnyUserAgent = `"User-Agent":`

// UserAgent returns the member of the logged headers with the User-Agent of a request. It is empty
// for a request without a User-Agent, of which Headers writes no such member.
func UserAgent(r *http.Request) string {
	values := r.Header["User-Agent"]
	if len(values) == 0 {
		return ""
	}
	return string(appendText([]byte(AnyUserAgent), headerValue(values)))
}

// headerValue returns the logged value of a header that may be repeated.
func headerValue(values []string) string {
	return truncate(strings.Join(values, ", "), maxHeader)
}

// maxHeader bounds a header's value, in bytes.
const maxHeader = 500

// Headers writes the logged request headers.
func (b *EntryBuilder) Headers(r *http.Request) {
	o := b.Object(Headers)
	if r.Host != "" {
		o.Set("Host", truncate(r.Host, maxHeader))
	}
	var found [len(loggedHeaders)][]string
	for name, values := range r.Header { // a request has fewer headers than loggedHeaders
		if index, ok := headerIndex[name]; ok {
			found[index] = values
		}
	}
	for index, values := range found {
		if len(values) > 0 {
			o.Set(loggedHeaders[index], headerValue(values))
		}
	}
	o.Close()
}
