package config

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
)

// reloaded loads first, then applies the settings of second with Reloaded.
func reloaded(t *testing.T, first, second input) (next Config, changed, needRestart []string, err error) {
	t.Helper()
	before, err := first.load()
	if err != nil {
		t.Fatal(err)
	}
	after, err := second.load()
	if err != nil {
		t.Fatal(err)
	}
	return before.Reloaded(after)
}

func withFile(text string) input { return input{args: "--config whd.toml", files: file(text)} }

func TestReloadAppliesLiveSettings(t *testing.T) {
	const (
		first = `listen = ':1'
admin_password = 'a first password'
[query]
max_take = 5
total = 'asked'
[webhooks]
publish_from = ['10.0.0.0/8']
`
		second = `listen = ':2'
admin_password = 'another password'
[log]
level = 'debug'
[query]
max_take = 7
[requestlog]
days = 9
`
	)
	c, changed, needRestart, err := reloaded(t, withFile(first), withFile(second))
	if err != nil {
		t.Fatal(err)
	}
	wantChanged := []string{
		"log.level", "query.max_take", "query.total", "webhooks.publish_from", "requestlog.days",
	}
	if !slices.Equal(changed, wantChanged) {
		t.Errorf("got the changed settings %q, want %q", changed, wantChanged)
	}
	if want := []string{"listen", "admin_password"}; !slices.Equal(needRestart, want) {
		t.Errorf("got the settings that need a restart %q, want %q", needRestart, want)
	}

	for _, want := range []struct {
		name, value string
		origin      Origin
	}{
		{"listen", ":1", "file whd.toml:1"},
		{"log.level", "debug", "file whd.toml:4"},
		{"query.max_take", "7", "file whd.toml:6"},
		{"query.total", totalAuto, byDefault},
		{"requestlog.days", "9", "file whd.toml:8"},
		{"webhooks.publish_from", "", byDefault},
	} {
		s, _ := settingNamed(want.name)
		if got := s.text(&c); got != want.value {
			t.Errorf("%s: got %q, want %q", want.name, got, want.value)
		}
		if got := c.Origin(want.name); got != want.origin {
			t.Errorf("the origin of %s: got %q, want %q", want.name, got, want.origin)
		}
	}
	if got := c.Log.SlogLevel(); got != slog.LevelDebug {
		t.Errorf("got the level %v, want %v", got, slog.LevelDebug)
	}
}

func TestReloadWithoutChanges(t *testing.T) {
	in := withFile("[query]\nmax_take = 5\ntime_zone = 'Australia/Perth'\n[erp.sources]\nSO_Totals = 'x'\n")
	_, changed, needRestart, err := reloaded(t, in, in)
	if changed != nil || needRestart != nil || err != nil {
		t.Errorf("changed %q, need a restart %q, error %v; want none", changed, needRestart, err)
	}
}

// TestReloadRejectsContradictingSettings checks that a live setting that is valid only
// together with a new value of another setting, which needs a restart, is rejected with all
// other changes.
func TestReloadRejectsContradictingSettings(t *testing.T) {
	const text = "[webhooks]\nattempt_timeout = '40s'\nlease = '2m'\n[query]\nmax_take = 5\n"
	c, _, _, err := reloaded(t, input{}, withFile(text))
	if _, isUsage := errors.AsType[*UsageError](err); err == nil || isUsage {
		t.Errorf("got error %v, want one that is not a UsageError", err)
	}
	if c.Query.MaxTake != 0 {
		t.Errorf("got query.max_take %d, want 0 as before", c.Query.MaxTake)
	}
}

// TestReloadWithMissingFile checks that the settings remain if the platform's settings file
// is missing at a reload, for example while it is being replaced.
func TestReloadWithMissingFile(t *testing.T) {
	before := input{files: map[string]string{"/etc/whd/whd.toml": "[query]\nmax_take = 5\n"}}
	c, changed, _, err := reloaded(t, before, input{})
	if err == nil || changed != nil {
		t.Errorf("got the changed settings %q and error %v, want none and an error", changed, err)
	}
	if c.Query.MaxTake != 5 {
		t.Errorf("got query.max_take %d, want 5 as before", c.Query.MaxTake)
	}
}

// liveTable returns the live settings.
func liveTable() (live []Setting) {
	for _, s := range Settings() {
		if s.Live {
			live = append(live, s)
		}
	}
	return live
}

// TestLiveSettingsAreValid checks that no live setting is secret, and that each has the
// members that GET /Settings returns.
func TestLiveSettingsAreValid(t *testing.T) {
	returned := new(Config).Live()
	if len(returned) != len(liveTable()) {
		t.Fatalf("%d live settings are returned, want %d", len(returned), len(liveTable()))
	}
	for i, s := range liveTable() {
		if s.secret() || s.notInFile || s.state {
			t.Errorf("%s must not be a live setting", s.Name)
		}
		got := returned[i]
		if got.Name != s.Name || got.Origin != string(byDefault) {
			t.Errorf("%s is returned as %+v, want its name and the default", s.Name, got)
		}
		if got.Kind == "" || got.Help == "" {
			t.Errorf("%s is returned as %+v, want a kind and help", s.Name, got)
		}
	}
}

func TestLoopbackHostURLCausesWarning(t *testing.T) {
	for url, want := range map[string]bool{
		"":                          false,
		"http://erp.example:5050":   false,
		"http://10.1.2.3":           false,
		"http://[fd00::1]/":         false,
		"https://localhost.example": false,
		"http://localhost:5050":     true,
		"http://LOCALHOST./":        true,
		"http://whd.localhost":      true,
		"http://127.1.2.3":          true,
		"https://[::1]:1":           true,
		"http://[::ffff:127.0.0.1]": true,
		"http://0.0.0.0:5050":       true,
	} {
		c, err := input{env: []string{"WHD_WEBHOOKS_HOST_URL=" + url}}.load()
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := len(c.Warnings()) > 0; got != want {
			t.Errorf("%s: got warnings %q, want some: %v", url, c.Warnings(), want)
		}

		demo := c
		demo.Demo = true
		if got := demo.Warnings(); got != nil {
			t.Errorf("%s in a demo: got warnings %q, want none", url, got)
		}
		withoutWebhooks := c
		withoutWebhooks.Webhooks.Enabled = false
		if got := withoutWebhooks.Warnings(); got != nil {
			t.Errorf("%s without webhooks: got warnings %q, want none", url, got)
		}
	}
}
