package requestlog

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
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
	many := NewEntryBuilder()
	o := many.Object(RequestDto)
	for range 10_000 {
		o.Add("InvoiceIDIn", "a", "b")
	}
	o.Close()
	got := many.entry().Texts[RequestDto]
	if !json.Valid([]byte(got)) || len(got) > maxJSON || len(got) < maxJSON*9/10 || !strings.HasPrefix(got, `{"InvoiceIDIn":["a","b"],`) || !strings.HasSuffix(got, `,"...":"cut"}`) {
		t.Errorf("%d bytes: %.60s", len(got), got)
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
	want := `{"Host":"erp.example","Accept":"text/csv, */*;q=0.1","Origin":"` + strings.Repeat("o", 497) + `...","User-Agent":"curl/8 \"x\""}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBuildersAreReset checks that a pooled builder starts empty.
func TestBuildersAreReset(t *testing.T) {
	for range 100 {
		d := NewEntryBuilder()
		if d.Entry != (Entry{}) || len(d.buf) != 0 || d.spans != [Texts]span{} {
			t.Fatalf("a new builder has %+v", d.Entry)
		}
		d.Texts[PathInfo] = "/first"
		d.SetText(AbsoluteURI, "http://", "host", "/first")
		d.CopyText(Referer, AbsoluteURI)
		e := d.entry()
		if e.Texts[AbsoluteURI] != "http://host/first" || e.Texts[Referer] != "http://host/first" || e.Texts[PathInfo] != "/first" {
			t.Fatalf("got %+v", e.Texts)
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
		if len(text) > maxBytes || len(text) < maxBytes-1 || strings.ToValidUTF8(text, "") != text {
			t.Errorf("%s has %d bytes, ending in %q", Column(i), len(text), text[max(0, len(text)-5):])
		}
	}
	if got := BodyText([]byte("a\x00b\xff" + strings.Repeat("x", 2*MaxBody))); len(got) > MaxBody || !strings.HasPrefix(got, "a\uFFFDb\uFFFDx") || !strings.HasSuffix(got, "x...") {
		t.Errorf("a body of %d bytes: %.10q", len(got), got)
	}
}
