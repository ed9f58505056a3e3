package rest_test

import (
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

func TestRateOfAddressesAndAccounts(t *testing.T) {
	i := daemontest.Start(t, "--http-rate", "1/h+4", "--http-trusted-proxies", "127.0.0.0/8")
	from := func(address string) client { return anonymous(t, i).with("X-Forwarded-For: " + address) }
	for range 4 {
		from("2001:db8:1:2::1").do("GET /auth", "").want(t, 401)
	}
	a := from("2001:db8:1:2:ffff::2").do("GET /auth", "").want(t, 429) // the same network
	if a.header.Get("Retry-After") != "3600" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	a.wantMessage(t, "TooManyRequests")
	from("2001:db8:1:3::1").do("GET /auth", "").want(t, 401)

	key := "Authorization: Bearer " + i.Key(t, "reader")
	for _, address := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"} {
		from(address).do("GET /KeepAlive", "", key).want(t, 204)
	}
	from("10.0.0.5").do("GET /KeepAlive", "", key).want(t, 429)
	for range 20 { // monitoring requests are not counted
		from("2001:db8:1:2::1").do("GET /healthz", "").want(t, 200)
		from("2001:db8:1:2::1").do("GET /readyz", "").want(t, 200)
		from("2001:db8:1:2::1").do("GET /metrics", "").want(t, 200)
	}
}
