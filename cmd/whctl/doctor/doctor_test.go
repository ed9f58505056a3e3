package doctor

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/check"
)

func TestClockResult(t *testing.T) {
	for _, c := range []struct {
		offset time.Duration
		status check.Status
		detail string
	}{
		{offset: 4 * time.Millisecond, status: check.OK, detail: "the same time as the service"},
		{offset: 5 * time.Second, status: check.OK, detail: "5s ahead of the service"},
		{offset: -5 * time.Second, status: check.OK, detail: "5s behind the service"},
		{offset: -61 * time.Second, status: check.Warning, detail: "1m1s behind the service"},
		{offset: 61 * time.Second, status: check.Warning, detail: "1m1s ahead of the service"},
	} {
		got := clockResult(c.offset)
		if got.Status != c.status || got.Detail != c.detail {
			t.Errorf("%s: %s %q, want %s %q", c.offset, got.Status, got.Detail, c.status, c.detail)
		}
	}
}
