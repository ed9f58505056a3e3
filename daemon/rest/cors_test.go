package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestPagesOfListedOrigins checks the CORS headers for listed origins, and that others get none.
func TestPagesOfListedOrigins(t *testing.T) {
	i := daemontest.Start(t, "--http-cors-origins", "https://shop.example,http://localhost:3000")
	c := anonymous(t, i)
	for _, page := range [][]string{
		{"Origin: https://shop.example"},
		{
			"Origin: https://shop.example",
			"Sec-Fetch-Site: cross-site",
			"Referer: https://shop.example/basket",
		},
		{"Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"},
	} {
		a := c.with(page...).do("POST /auth", loginJSON()).want(t, 200)
		a.wantHeader(t, "Access-Control-Allow-Origin", strings.TrimPrefix(page[0], "Origin: ")).
			wantHeader(t, "Access-Control-Allow-Credentials", "true")
		if !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "X-Row-Count") ||
			!strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin") {
			t.Errorf("got the headers %v, want X-Row-Count exposed and Vary with Origin", a.header)
		}
		c.with(page...).do("GET /Users", "").want(t, 401).
			wantHeader(t, "Access-Control-Allow-Credentials", "true") // the page may read it
		a = c.with(page...).do("OPTIONS /Users/ann", "", "Access-Control-Request-Method: PATCH",
			"Access-Control-Request-Headers: content-type").want(t, 204)
		a.wantHeader(t, "Access-Control-Allow-Methods", "DELETE, GET, HEAD, PATCH, OPTIONS").
			wantHeader(t, "Access-Control-Max-Age", "600")
		if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Content-Type") {
			t.Errorf("got the headers %v, want Content-Type allowed", a.header)
		}
	}

	for _, origin := range []string{
		"https://evil.example",
		"http://shop.example",
		"https://shop.example:8443",
		"https://shop.example.evil.example",
		"null",
		"https://SHOP.example/",
	} {
		a := c.do("OPTIONS /Users/ann", "", "Origin: "+origin, "Access-Control-Request-Method: PATCH").want(t, 204)
		a.wantHeader(t, "Access-Control-Allow-Origin", "").wantHeader(t, "Access-Control-Allow-Methods", "").
			wantHeader(t, "Vary", "Accept, Origin")
	}

	a := anonymous(t, demo.start(t)).do("OPTIONS /Users", "", "Origin: https://shop.example",
		"Access-Control-Request-Method: POST").want(t, 204)
	a.wantHeader(t, "Access-Control-Allow-Origin", "").wantHeader(t, "Vary", "Accept")
}
