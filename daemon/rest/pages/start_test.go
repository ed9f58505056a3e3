package pages

import "testing"

// TestShareOfMessages checks the share on the start page: retried attempts are no failed messages.
func TestShareOfMessages(t *testing.T) {
	for _, c := range []struct {
		delivered, failed int64
		want              string
	}{
		{4550, 17, "99.6 %"},
		{99999, 1, "99.9 %"},
		{3, 0, "100 %"},
		{0, 2, "0 %"},
		{0, 0, ""},
	} {
		if got := share(c.delivered, c.failed); got != c.want {
			t.Errorf("%d delivered and %d failed: got %q, want %q", c.delivered, c.failed, got, c.want)
		}
	}
}
