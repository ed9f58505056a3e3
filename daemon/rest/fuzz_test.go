package rest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

func FuzzReadMembers(f *testing.F) {
	for _, body := range []string{
		"",
		"{}",
		`{"a":1,"b":[1,2],"c":null}`,
		" \r\n\ufeff{\"a\":\"\\ud83d\\ude00\"}",
		"a=1&b=2&a=3",
		"a,b\r\n1,\"2\"\"3\"\r\n",
		"[1]",
		"<a/>",
		"\xff",
		`{"a":{"b":[{}]}}`,
		`{"a":1}x`,
	} {
		for _, contentType := range []string{
			"",
			"application/json",
			"text/csv; charset=utf-8",
			"application/x-www-form-urlencoded",
			"image/png",
			";;",
			"text/xml",
			"multipart/form-data; boundary=b",
			"text/jsv",
		} {
			f.Add([]byte(body), contentType, "csv")
			f.Add([]byte(body), contentType, "json")
		}
	}

	f.Fuzz(func(t *testing.T, body []byte, contentType, format string) {
		before := bytes.Clone(body)
		members, err := query.ReadBody(body, contentType, format)
		if !bytes.Equal(body, before) {
			t.Error("the body was changed")
		}
		if err != nil && !fault.Is(err, fault.Malformed) && !fault.Is(err, fault.Unsupported) {
			t.Errorf("not a client error: %v", err)
		}
		if err != nil && members != nil {
			t.Errorf("%d members come with %v", len(members), err)
		}
		for i, m := range members {
			if first, _ := members.Get(m.Name); m.Name != first.Name {
				t.Errorf("duplicate member %d, %q", i, m.Name)
			}
		}
		jsv := strings.Contains(strings.ToLower(contentType), "jsv") || strings.EqualFold(format, "jsv")
		if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && !jsv {
			other, otherErr := query.ReadBody(body, "application/json", "json")
			if len(other) != len(members) || (otherErr == nil) != (err == nil) {
				t.Errorf("as %q it has %d members, as JSON %d", contentType, len(members), len(other))
			}
		}
	})
}

func FuzzRouter(f *testing.F) {
	for _, path := range []string{
		"/",
		"",
		"*",
		"//",
		"/json/reply/SO_TotalsQuery",
		"/csv/oneway/x",
		"/json/reply/authenticate",
		"/Queries/SO_Totals.json",
		"/api/x.y.csv",
		"/erp/healthz",
		"/erp/auth/logout/",
		"/%2f/%zz",
		"/queries/%2F",
		"/.json",
		"/queries/.json",
		"/a/../b",
		"/auth.html",
	} {
		f.Add("GET", path)
		f.Add("OPTIONS", "/erp"+path)
	}

	routes := edge.Compile(testRoutes())
	plain, based := edge.NewRouter(routes, ""), edge.NewRouter(routes, "/erp/")
	f.Fuzz(func(t *testing.T, method, path string) {
		m, allow, err := plain.Find(method, path)
		if (m.Route == nil) != (err != nil) {
			t.Errorf("route %v and error %v", m.Route, err)
		}

		isBadMethod := err != nil && fault.Is(err, fault.BadMethod)
		if isBadMethod != (allow != nil) {
			t.Errorf("%v with %v allowed", err, allow)
		}
		if err != nil && !isBadMethod && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Malformed) {
			t.Errorf("got the error %v, want BadMethod, NotFound or Malformed", err)
		}
		if _, known := encode.ByName(m.Suffix); m.Suffix != "" && !known {
			t.Errorf("the suffix %q is not a format", m.Suffix)
		}

		for _, p := range m.Params {
			if p.Value == "" {
				t.Errorf("%s is empty", p.Name)
			}
		}

		for _, same := range []string{"/" + path, strings.ReplaceAll(path, "/", "//"), path + "/"} {
			if found, _, _ := plain.Find(method, same); !sameMatch(found, m) {
				t.Errorf("%q and %q differ: %v, %v", path, same, m, found)
			}
		}

		if found, _, _ := based.Find(method, "/ERP//"+path); !sameMatch(found, m) {
			t.Errorf("below a base path: %v, not %v", found, m)
		}
		found, _, _ := plain.Find(method, asciiUpper(path))
		if found.Route != nil && m.Route != nil && found.Route.Pattern != m.Route.Pattern {
			t.Errorf("in upper case: %v, not %v", found, m)
		}
	})
}

// asciiUpper converts a path to upper case except for its escapes.
func asciiUpper(path string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, path)
}

// sameMatch compares matches of different routers.
func sameMatch(a, b edge.Match) bool {
	if (a.Route == nil) != (b.Route == nil) {
		return false
	}
	if a.Route != nil && a.Route.Pattern != b.Route.Pattern {
		return false
	}
	if a.Suffix != b.Suffix || len(a.Params) != len(b.Params) {
		return false
	}
	for i := range a.Params {
		if a.Params[i] != b.Params[i] {
			return false
		}
	}
	return true
}
