package edge

import (
	"net/http"
	"strings"
)

// forwardedHost returns the host that a trusted proxy forwards, empty if there is none.
// Apache and others append the host to the header of the client, so it is the value of the
// outermost trusted proxy, not the first one.
func (p Proxies) forwardedHost(r *http.Request) string {
	values := strings.Split(strings.Join(r.Header.Values("X-Forwarded-Host"), ","), ",")
	return strings.TrimSpace(values[max(0, len(values)-p.hops(r))])
}

// hops returns the number of trusted proxies on the way of a request from one of them.
func (p Proxies) hops(r *http.Request) int {
	n := 1
	addresses := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(addresses) - 1; i >= 0; i-- {
		address, ok := hop(strings.TrimSpace(addresses[i]))
		if !ok || !p.trusted(address.Unmap()) {
			break
		}
		n++
	}
	return n
}
