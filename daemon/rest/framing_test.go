package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestAmbiguousFraming checks that a body without a clear end is rejected together
// with all data after it. If the body were dropped, its filter would be lost and the
// response would have all rows.
func TestAmbiguousFraming(t *testing.T) {
	i := daemontest.Start(t)
	auth := basic("admin", daemontest.AdminPassword)
	const good = "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nT: 1\r\nContent-Length: 999\r\n\r\n" +
		"GET /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%[1]s\r\n\r\n" +
		"POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%[1]s\r\nContent-Length: 30\r\n\r\n{                           }\n"
	for name, request := range map[string]string{
		"HTTP/1.0":                      "POST /json/reply/DB_ClassQuery HTTP/1.0\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"HTTP/1.0 with keep-alive":      "GET /json/reply/DB_ClassQuery HTTP/1.0\r\nConnection: keep-alive\r\n%s\r\ntransfer-encoding:chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"both":                          "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"both, the other way":           "POST /auth HTTP/1.1\r\nHost: localhost\r\n%s\r\nTRANSFER-ENCODING: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
		"both where no body is read":    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"both in HTTP/1.0":              "POST /json/reply/DB_ClassQuery HTTP/1.0\r\n%s\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
		"after a blank line":            "\r\nPOST /json/reply/DB_ClassQuery HTTP/1.0\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"a folded length":               "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length:\r\n 2\r\n\r\n{}",
		"a length after spaces":         "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length:" + strings.Repeat(" ", 300) + "2\r\n\r\n{}",
		"HTTP/1.0 with bare line feeds": "POST /json/reply/DB_ClassQuery HTTP/1.0\n%s\nTransfer-Encoding: chunked\n\n0\r\n\r\n",
	} {
		for _, before := range []string{"", good} {
			w := dial(t, i)
			send := func(text string) { // in small pieces, as networks may deliver it
				for piece := range slices.Chunk([]byte(text), 7) {
					if _, err := w.conn.Write(piece); err != nil {
						return
					}
				}
			}
			go send(formatWithAuth(before, auth))
			for range strings.Count(before, "localhost") {
				if a, err := w.readResponse(); err != nil || a.status != 200 {
					t.Fatalf("%s: got %+v (%v), want status 200 before the request", name, a, err)
				}
			}
			go send(fmt.Sprintf(request, auth))
			a, err := w.readResponse()
			if a.status != 400 {
				t.Errorf("%s: %+v (%v), want status 400", name, a, err)
			}
			// After its own response net/http resets the connection if more data has arrived.
			refusedByNetHTTP := request[0] == '\r'
			if !refusedByNetHTTP {
				isHealthCheck := strings.Contains(request, "healthz") // its error has no body
				hasReason := isHealthCheck || strings.Contains(a.body, "Transfer-Encoding")
				if err != nil || !hasReason {
					t.Errorf("%s: %+v (%v), want an error about Transfer-Encoding", name, a, err)
				}
			}
			if b, err := w.in.ReadByte(); err == nil {
				t.Errorf("%s: the connection continues with %q", name, b)
			}
		}
	}
}

func formatWithAuth(format, auth string) string {
	if format == "" {
		return ""
	}
	return fmt.Sprintf(format, auth)
}
