package requestlog

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// objectOf returns an object with pairs of names and values.
func objectOf(pairs ...string) string {
	d := NewEntryBuilder()
	o := d.Object(RequestDto)
	for i := 0; i < len(pairs); i += 2 {
		o.Add(pairs[i], pairs[i+1])
	}
	o.Close()
	return d.entry().Texts[RequestDto]
}

func TestObject(t *testing.T) {
	for _, test := range []struct {
		want  string
		pairs []string
	}{
		{``, nil},
		{`{"Take":"1"}`, []string{"Take", "1"}},
		{`{"a":"","b":"\"\\\u000a\u0000é\uFFFD"}`, []string{"a", "", "b", "\"\\\n\x00é\xff"}},
		{`{"Password":"***","Note":"***"}`, []string{"Password", "s3cret", "Note", "my Password is s3cret"}},
		{`{"***":"***","a":"1"}`, []string{`{"Password":"s3cret"}`, "x", "a", "1"}},
		{`{"SubscriberID":"1b4e28ba***"}`, []string{"SubscriberID", someID}},
		{`{"a":"1","...":"cut"}`, []string{"a", "1", "b", strings.Repeat("x", 5000), "c", "2"}},
		{`{"...":"cut"}`, []string{"b", strings.Repeat("\x01", 1000)}},
	} {
		got := objectOf(test.pairs...)
		if want := strings.ReplaceAll(test.want, `\uFFFD`, "\uFFFD"); got != want {
			t.Errorf("%.60q: got %s, want %s", test.pairs, got, want)
		}
	}
}

// TestObjectIsBounded checks that an object with too many members is cut, but stays valid
// and uses most of the space.
func TestObjectIsBounded(t *testing.T) {
	d := NewEntryBuilder()
	o := d.Object(RequestDto)
	for range 10_000 {
		o.Add("InvoiceIDIn", "a", "b")
	}
	o.Close()
	got := d.entry().Texts[RequestDto]
	if !json.Valid([]byte(got)) {
		t.Errorf("the object is not valid JSON: %s", got)
	}
	if len(got) > maxJSON || len(got) < maxJSON*9/10 {
		t.Errorf("the object has %d bytes, want %d to %d", len(got), maxJSON*9/10, maxJSON)
	}
	const start, end = `{"InvoiceIDIn":["a","b"],`, `,"...":"cut"}`
	if !strings.HasPrefix(got, start) || !strings.HasSuffix(got, end) {
		t.Errorf("got %s, want %s ... %s", got, start, end)
	}
}

func TestOnlyAllowedHeadersAreLogged(t *testing.T) {
	r := &http.Request{Host: "erp.example", Header: http.Header{
		"Authorization":       {"Basic s3cret"},
		"Cookie":              {"ss-id=s3cret"},
		"X-Ss-Id":             {"s3cret"},
		"X-Api-Key":           {"s3cret"},
		"Proxy-Authorization": {"s3cret"},
		"Webhook-Signature":   {"s3cret"},
		"X-Custom":            {"s3cret"},
		"Referer":             {"s3cret"},
		"Accept":              {"text/csv", "*/*;q=0.1"},
		"User-Agent":          {"curl/8 \"x\""},
		"Origin":              {strings.Repeat("o", 600)},
	}}
	d := NewEntryBuilder()
	d.Headers(r)
	got := d.entry().Texts[Headers]
	want := `{"Host":"erp.example","Accept":"text/csv, */*;q=0.1","Origin":"` +
		strings.Repeat("o", 497) + `...","User-Agent":"curl/8 \"x\""}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestUserAgentIsThatOfTheHeaders checks that the logged headers contain the member that UserAgent
// returns for the same request.
func TestUserAgentIsThatOfTheHeaders(t *testing.T) {
	for _, agents := range [][]string{nil, {""}, {"shop/1"}, {"a", "b"}, {strings.Repeat("x", 2*maxHeader)}} {
		r := &http.Request{Host: "erp", Header: http.Header{}}
		if agents != nil {
			r.Header["User-Agent"] = agents
		}
		b := NewEntryBuilder()
		b.Headers(r)
		logged := b.entry().Texts[Headers]
		member := UserAgent(r)
		if !strings.Contains(logged, member) {
			t.Errorf("User-Agent %.20q: the headers are %s, want the member %s", agents, logged, member)
		}
		if isLogged := strings.Contains(logged, AnyUserAgent); isLogged != (member != "") {
			t.Errorf("User-Agent %.20q: the headers are %s, and UserAgent returns %q", agents, logged, member)
		}
	}
}

// TestBuildersAreReset checks that a pooled builder starts empty.
func TestBuildersAreReset(t *testing.T) {
	for range 100 {
		d := NewEntryBuilder()
		if d.Entry != (Entry{}) || len(d.buf) != 0 || d.spans != [Texts]span{} {
			t.Fatalf("a new builder is not empty: %+v", d.Entry)
		}
		d.Texts[PathInfo] = "/first"
		d.SetText(AbsoluteURI, "http://", "host", "/first")
		d.CopyText(Referer, AbsoluteURI)
		var want [Texts]string
		want[PathInfo] = "/first"
		want[AbsoluteURI] = "http://host/first"
		want[Referer] = "http://host/first"
		if got := d.entry().Texts; got != want {
			t.Fatalf("got texts %q, want %q", got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	e := Entry{}
	for i := range e.Texts {
		e.Texts[i] = strings.Repeat("é", MaxBody)
	}
	e.bound()
	for i, text := range e.Texts {
		maxBytes := columns[i].maxBytes
		if maxBytes == 0 {
			continue // JSON is bounded when it is built
		}
		if len(text) > maxBytes || len(text) < maxBytes-1 {
			t.Errorf("%s has %d bytes, want %d or one less", Column(i), len(text), maxBytes)
		}
		if !utf8.ValidString(text) {
			t.Errorf("%s is not valid UTF-8, ending in %q", Column(i), text[max(0, len(text)-5):])
		}
	}
}

func TestBodyText(t *testing.T) {
	got := BodyText([]byte("a\x00b\xff" + strings.Repeat("x", 2*MaxBody)))
	if len(got) > MaxBody {
		t.Errorf("the text has %d bytes, want at most %d", len(got), MaxBody)
	}
	if !strings.HasPrefix(got, "a\uFFFDb\uFFFDx") || !strings.HasSuffix(got, "x...") {
		t.Errorf("the text is %.10q ... %q", got, got[len(got)-5:])
	}
}
