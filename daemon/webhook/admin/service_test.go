package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

func TestNextSecret(t *testing.T) {
	current, own := webhook.NewSecret(), webhook.NewSecret()
	if got, err := nextSecret(current, own); err != nil || got != own {
		t.Errorf("given secret: %v", err)
	}
	if got, err := nextSecret(current, ""); err != nil || got == current || got == "" {
		t.Errorf("generated secret: %v", err)
	}
	for _, wanted := range []string{current, "whsec_", "whsec_c2hvcnQ=", strings.TrimPrefix(own, webhook.SecretPrefix), own + "=", "whsec_" + strings.Repeat("A", 88)} {
		_, err := nextSecret(current, wanted)
		if err == nil || strings.Contains(err.Error(), strings.TrimPrefix(wanted, webhook.SecretPrefix)) && len(wanted) > len(webhook.SecretPrefix) {
			t.Errorf("%.12s... is accepted, or repeated in the error: %v", wanted, err)
		}
	}
	for _, d := range []time.Duration{0, time.Second, webhook.DefaultKeepFor, webhook.MaxKeepFor} {
		if err := webhook.CheckKeepFor(d); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{-1, webhook.MaxKeepFor + 1} {
		if webhook.CheckKeepFor(d) == nil {
			t.Errorf("%v is accepted", d)
		}
	}
}
