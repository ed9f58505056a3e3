package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestAccountsAreBounded counts requests of more accounts than the label may have.
func TestAccountsAreBounded(t *testing.T) {
	m := New(Config{Version: "1"})
	for range 2 {
		for n := range maxAccounts + 20 {
			m.Ignored("Q", fmt.Sprint("user ", n))
		}
	}
	if got := testutil.CollectAndCount(m.ignored); got != maxAccounts+1 {
		t.Errorf("got %d series, want %d", got, maxAccounts+1)
	}
	for label, want := range map[string]float64{"user 0": 2, "user 99": 2, otherAccounts: 40} {
		if got := testutil.ToFloat64(m.ignored.WithLabelValues("Q", label)); got != want {
			t.Errorf("requests of %s: got %v, want %v", label, got, want)
		}
	}
}

// TestIgnoredHelp checks that the help has the limit of names.
func TestIgnoredHelp(t *testing.T) {
	if want := fmt.Sprintf("beyond %d names", maxAccounts); !strings.Contains(ignoredHelp, want) {
		t.Errorf("the help is %q, want %q in it", ignoredHelp, want)
	}
}
