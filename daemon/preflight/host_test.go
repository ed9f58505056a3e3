package preflight

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/check"
)

// TestValidity checks the results for the times of a certificate.
func TestValidity(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		start, end time.Duration // from now
		status     check.Status
		want       string
	}{
		"later":    {start: day, end: 90 * day, status: check.Failed, want: "not valid before 2026-12-01T12:00:00Z; "},
		"valid":    {start: -day, end: 22 * day, status: check.OK, want: "valid until 2026-12-22T12:00:00Z"},
		"expiring": {start: -day, end: 20 * day, status: check.Warning, want: "expires at 2026-12-20T12:00:00Z; renew it"},
		"expired":  {start: -2 * day, end: -day, status: check.Failed, want: "expired at 2026-11-29T12:00:00Z; renew it"},
	} {
		certificate := &x509.Certificate{NotBefore: now.Add(test.start), NotAfter: now.Add(test.end)}
		got := validity(certificate, now)
		if len(got) != 1 || got[0].Status != test.status || !strings.HasPrefix(got[0].Detail, test.want) {
			t.Errorf("%s: got %+v, want %s with %q", name, got, test.status, test.want)
		}
	}
}
