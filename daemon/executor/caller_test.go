package executor

import (
	"strings"
	"testing"
)

func TestContextInfo(t *testing.T) {
	if got := ContextInfo(t.Context()); got != nil {
		t.Errorf("ContextInfo without a caller is %q, want nil", got)
	}
	longRequest := strings.Repeat("r", 64)
	for _, c := range []struct{ request, user, want string }{
		{"a1", "ann", "request=a1 user=ann"},
		{"a1", "", "request=a1"},
		{longRequest, strings.Repeat("u", 100), "request=" + longRequest + " user=" + strings.Repeat("u", 50)},
	} {
		got := ContextInfo(WithCaller(t.Context(), c.request, c.user))
		if string(got) != c.want {
			t.Errorf("ContextInfo of request %q of user %q is %q, want %q", c.request, c.user, got, c.want)
		}
	}
}
