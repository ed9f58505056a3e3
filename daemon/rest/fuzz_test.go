package rest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

func FuzzReadMembers(f *testing.F) {
	for _, body := range []string{
		"", "{}", `{"a":1,"b":[1,2],"c":null}`, " \r\n\ufeff{\"a\":\"\\ud83d\\ude00\"}", "a=1&b=2&a=3", "a,b\r\n1,\"2\"\"3\"\r\n", "[1]", "<a/>", "\xff", `{"a":{"b":[{}]}}`, `{"a":1}x`,
	} {
		for _, contentType := range []string{"", "application/json", "text/csv; charset=utf-8", "application/x-www-form-urlencoded", "image/png", ";;"} {
			f.Add([]byte(body), contentType, "csv")
			f.Add([]byte(body), contentType, "json")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, format string) {
		given := bytes.Clone(body)
		members, err := parseMembers(body, contentType, format)
		if !bytes.Equal(body, given) {
			t.Error("the body was changed")
		}
		if err != nil && !fault.Is(err, fault.Malformed) && !fault.Is(err, fault.Unsupported) {
			t.Errorf("%v is not the asker's doing", err)
		}
		if err != nil && members != nil {
			t.Errorf("%d members come with %v", len(members), err)
		}
		for i, m := range members {
			if first, _ := members.Get(m.Name); m.Name != first.Name {
				t.Errorf("member %d, %q, stands twice", i, m.Name)
			}
		}
		if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
			other, otherErr := parseMembers(body, "application/json", "json")
			if len(other) != len(members) || (otherErr == nil) != (err == nil) {
				t.Errorf("as %q it has %d members, as JSON %d", contentType, len(members), len(other))
			}
		}
	})
}

func FuzzRouter(f *testing.F) {
	for _, path := range []string{
		"/", "", "*", "//", "/json/reply/SO_TotalsQuery", "/csv/oneway/x", "/json/reply/authenticate", "/Queries/SO_Totals.json", "/api/x.y.csv",
		"/erp/healthz", "/erp/auth/logout/", "/%2f/%zz", "/queries/%2F", "/.json", "/queries/.json", "/a/../b", "/auth.html",
	} {
		f.Add("GET", path)
		f.Add("OPTIONS", "/erp"+path)
	}
	plain, based := newRouter(new(Server).routes(), ""), newRouter(new(Server).routes(), "/erp/")
	f.Fuzz(func(t *testing.T, method, path string) {
		m, allow, err := plain.find(method, path)
		if (m.route == nil) != (err != nil) {
			t.Errorf("route %v and error %v", m.route, err)
		}
		switch {
		case err == nil && allow != nil, err != nil && fault.Is(err, fault.BadMethod) != (allow != nil):
			t.Errorf("%v with %v allowed", err, allow)
		case err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.BadMethod) && !fault.Is(err, fault.Malformed):
			t.Errorf("%v", err)
		}
		if _, known := encode.ByName(m.suffix); m.suffix != "" && !known {
			t.Errorf("the suffix %q is no format's", m.suffix)
		}
		for _, p := range m.params {
			if p.value == "" {
				t.Errorf("%s is empty", p.name)
			}
		}
		for _, same := range []string{"/" + path, strings.ReplaceAll(path, "/", "//"), path + "/"} {
			if again, _, _ := plain.find(method, same); !alike(again, m) {
				t.Errorf("%q and %q differ: %v, %v", path, same, m, again)
			}
		}
		if again, _, _ := based.find(method, "/ERP//"+path); !alike(again, m) {
			t.Errorf("below a base path: %v, not %v", again, m)
		}
		if again, _, _ := plain.find(method, asciiUpper(path)); again.route != nil && m.route != nil && again.route.pattern != m.route.pattern {
			t.Errorf("in upper case: %v, not %v", again, m)
		}
	})
}

// asciiUpper is a path in upper case, but for its escapes, which mean the same
// in either.
func asciiUpper(path string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, path)
}

// alike compares matches of different routers.
func alike(a, b match) bool {
	if (a.route == nil) != (b.route == nil) || a.route != nil && a.route.pattern != b.route.pattern || a.suffix != b.suffix || len(a.params) != len(b.params) {
		return false
	}
	for i := range a.params {
		if a.params[i] != b.params[i] {
			return false
		}
	}
	return true
}
