package webhook

import (
	"strings"
	"testing"
	"time"
)

// TestAnOldSecretSignsUntilItsTime, whenever the store is swept.
func TestAnOldSecretSignsUntilItsTime(t *testing.T) {
	end := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	s := NewHTTPSender(SenderConfig{})
	defer s.Close()
	now, old := NewSecret(), NewSecret()
	for _, tt := range []struct {
		secrets []string
		until   time.Time
		at      time.Time
		want    int
	}{
		{[]string{now, old}, end, end.Add(-time.Nanosecond), 2},
		{[]string{now, old}, end, end, 1},
		{[]string{now, old}, end, end.Add(time.Hour), 1},
		{[]string{now, old}, time.Time{}, end, 2},
		{[]string{now}, time.Time{}, end, 1},
		{[]string{now}, end, end.Add(time.Hour), 1},
		{nil, end, end.Add(time.Hour), 0},
	} {
		m := testMessage("http://127.0.0.1/hook")
		req, err := s.request(t.Context(), m, &Subscription{Secrets: tt.secrets, OldUntil: tt.until}, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		signatures := strings.Fields(req.Header.Get(headerSignature))
		if len(signatures) != tt.want || tt.want > 0 && signatures[0] != sign([]string{now}, m.GUID, tt.at, m.Event.Body) {
			t.Errorf("%d secrets until %v: signed with %d at %v, want %d", len(tt.secrets), tt.until, len(signatures), tt.at, tt.want)
		}
	}
}

func TestNextSecret(t *testing.T) {
	present, own := NewSecret(), NewSecret()
	if got, err := nextSecret(present, own); err != nil || got != own {
		t.Errorf("one's own: %v", err)
	}
	if got, err := nextSecret(present, ""); err != nil || got == present || got == "" {
		t.Errorf("a new one: %v", err)
	}
	for _, wanted := range []string{present, "whsec_", "whsec_c2hvcnQ=", strings.TrimPrefix(own, secretPrefix), own + "=", "whsec_" + strings.Repeat("A", 88)} {
		_, err := nextSecret(present, wanted)
		if err == nil || strings.Contains(err.Error(), strings.TrimPrefix(wanted, secretPrefix)) && len(wanted) > len(secretPrefix) {
			t.Errorf("%.12s... is taken, or repeated: %v", wanted, err)
		}
	}
	for _, d := range []time.Duration{0, time.Second, DefaultKeepFor, maxKeepFor} {
		if err := CheckKeepFor(d); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{-1, maxKeepFor + 1} {
		if CheckKeepFor(d) == nil {
			t.Errorf("%v is taken", d)
		}
	}
}
