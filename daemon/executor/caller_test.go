package executor

import (
	"strings"
	"testing"
)

func TestContextInfo(t *testing.T) {
	if got := ContextInfo(t.Context()); got != nil {
		t.Errorf("without a caller: %q", got)
	}
	for _, c := range [][3]string{
		{"a1", "ann", "request=a1 user=ann"},
		{"a1", "", "request=a1"},
		{strings.Repeat("r", 64), strings.Repeat("u", 100), "request=" + strings.Repeat("r", 64) + " user=" + strings.Repeat("u", 50)},
	} {
		if got := ContextInfo(WithCaller(t.Context(), c[0], c[1])); string(got) != c[2] {
			t.Errorf("%q: %q", c, got)
		}
	}
}
