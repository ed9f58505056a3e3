package queries

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/query"
)

// FuzzFormAddress checks that the converted address of a form stays on this host, is
// not a form, and can be parsed.
func FuzzFormAddress(f *testing.F) {
	kind := kindNamed(f, "SO_Totals")
	for _, seed := range []string{
		"A.op=Equal&A.value=x",
		"A.op=GreaterThan&A.value=+1+&Take=5",
		"A.op=&A.value=%3Cb%3E",
		"A.op=In&A.value=a%2Cb&B.op=Equal&B.value=",
		"a.op=X&A.value=1",
		"A.op=Equal&A.value=1&A.op=In",
		".op=&.value=/",
		"A%2Eop=Equal&A.op=In&A.value=1",
		"%zz.op=1&A.op=2&A.value=%",
		"x.op.op=1&x.op.value=2",
	} {
		f.Add("/Queries/A", seed)
	}

	f.Add("//evil.example/x", "A.op=Equal&A.value=1")
	f.Add("/a/%2f%2fb", "A.op=Equal&A.value=1")
	f.Fuzz(func(t *testing.T, path, rawQuery string) {
		u, err := url.ParseRequestURI(path + "?" + rawQuery) // as net/http does
		if err != nil {
			return
		}
		if _, err := query.ReadForm(u.RawQuery); err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return // rejected before
		}
		to := FormAddress(u, kind)
		if to == "" {
			return
		}
		if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
			t.Errorf("%q leads to %q", rawQuery, to)
		}
		next, err := url.Parse(to)
		if err != nil || next.Host != "" {
			t.Errorf("%q leads to %q: %v", rawQuery, to, err)
			return
		}
		if repeated := FormAddress(next, kind); repeated != "" {
			t.Errorf("%q leads to %q, which leads to %q", rawQuery, to, repeated)
		}
	})
}
