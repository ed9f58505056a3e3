package edge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

func FuzzNegotiate(f *testing.F) {
	for _, accept := range []string{
		"",
		"*/*",
		"text/html,application/xml;q=0.9,*/*;q=0.8",
		"text/csv;q=NaN",
		"text/csv;q=1e-9",
		",;=",
		"text/csv;q=.5;q=0",
	} {
		f.Add("", "", "", "", accept)
		f.Add("csv", "json", "f", "xml", accept)
		f.Add("", "csv", "a(b)", "nope", accept)
		f.Add("nope", "", "", "json", accept)
	}

	f.Fuzz(func(t *testing.T, prefix, suffix, callback, format, accept string) {
		if _, known := encode.ByName(suffix); !known {
			suffix = "" // the router returns no other suffix
		}
		r, err := Negotiate(FormatRequest{prefix, suffix, callback, format, accept})
		if _, known := encode.ByName(r.Format.Name); !known {
			t.Fatalf("format %q", r.Format.Name)
		}
		if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotFound) {
			t.Errorf("got the error %v, want Invalid or NotFound", err)
		}
		if strings.Trim(r.callback, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$") != "" {
			t.Errorf("callback %q", r.callback)
		}
		if r.callback != "" && r.Format.Name != "json" {
			t.Errorf("a callback around %s", r.Format.Name)
		}
		wanted := prefix + suffix + format
		if r.Format.Name == "html" && !strings.Contains(strings.ToLower(wanted+accept), "html") {
			t.Errorf("unexpected HTML page for %q", accept)
		}
		h := make(http.Header)
		got := string(r.Close(r.Open(h, []byte{})))
		want := ""
		if r.callback != "" {
			want = r.callback + "()"
		}
		if got != want {
			t.Errorf("an empty document in callback %q: got %q, want %q", r.callback, got, want)
		}
	})
}
