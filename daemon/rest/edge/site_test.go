package edge

import (
	"net/http/httptest"
	"testing"
)

// TestBack checks the way back of a page: to a page of the service, also behind a proxy, but not to
// itself.
func TestBack(t *testing.T) {
	for _, tt := range []struct {
		name, host, address, referer string
		want                         string
	}{
		{
			name:    "a page of the service",
			host:    "erp.example:5050",
			address: "/Pages",
			referer: "http://ERP.example:5050/docs?Take=1",
			want:    "/docs?Take=1",
		},
		{
			name:    "another host",
			host:    "erp.example",
			address: "/Pages",
			referer: "https://evil.example/docs",
		},
		{
			name:    "another port",
			host:    "erp.example",
			address: "/Pages",
			referer: "https://erp.example:8443/docs",
		},
		{
			name:    "a proxy that adds the default port",
			host:    "erp.example:443",
			address: "/Pages",
			referer: "https://erp.example/docs",
			want:    "/docs",
		},
		{
			name:    "the page itself",
			host:    "erp.example",
			address: "/Pages?Take=1",
			referer: "http://erp.example/Pages?Take=1",
		},
		{
			name:    "the page itself with a key",
			host:    "erp.example",
			address: "/Pages?apikey=s3cret&Take=1",
			referer: "http://erp.example/Pages?apikey=s3cret&Take=1",
		},
		{
			name:    "a page of a subscriber",
			host:    "erp.example",
			address: "/Pages",
			referer: "http://erp.example/Webhooks/Portal/Open",
		},
	} {
		r := httptest.NewRequest("GET", tt.address, nil)
		r.Header.Set("Referer", tt.referer)
		x := &Context{Request: r, Origin: Origin{Host: tt.host}}
		if got := backOf(x); got != tt.want {
			t.Errorf("%s: %s from %s on %s leads back to %q, want %q",
				tt.name, tt.address, tt.referer, tt.host, got, tt.want)
		}
	}
}
