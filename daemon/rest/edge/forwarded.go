package edge

import (
	"net/http"
	"strings"
)

// forwarded returns the value of an X-Forwarded header from the outermost trusted proxy, empty if
// there is none. Apache and others append theirs to the header of the client, so it is not always
// the first one.
func (p Proxies) forwarded(r *http.Request, header string) string {
	values := strings.Split(strings.Join(r.Header.Values(header), ","), ",")
	return strings.TrimSpace(values[max(0, len(values)-p.hops(r))])
}

// hops returns the number of trusted proxies on the way of a request from one of them.
func (p Proxies) hops(r *http.Request) int {
	n := 1
	addresses := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(addresses) - 1; i >= 0; i-- {
		address, ok := hop(strings.TrimSpace(addresses[i]))
		if !ok || !p.trusted(address) {
			break
		}
		n++
	}
	return n
}
