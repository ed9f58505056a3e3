package config

import (
	"errors"
	"log/slog"
	"reflect"
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
	c, changed, needRestart, err := reloaded(t,
		withFile("listen = ':1'\nadmin_password = 'a first password'\n[query]\nmax_take = 5\ntotal = 'asked'\n[webhooks]\npublish_from = ['10.0.0.0/8']\n"),
		withFile("listen = ':2'\nadmin_password = 'another password'\n[log]\nlevel = 'debug'\n[query]\nmax_take = 7\n[requestlog]\ndays = 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"log.level", "query.max_take", "query.total", "webhooks.publish_from", "requestlog.days"}; !reflect.DeepEqual(changed, want) {
		t.Errorf("changed: %q, want %q", changed, want)
	}
	if want := []string{"listen", "admin_password"}; !reflect.DeepEqual(needRestart, want) {
		t.Errorf("need a restart: %q, want %q", needRestart, want)
	}
	if c.Listen != ":1" || c.Query.MaxTake != 7 || c.Query.Total != totalAuto || c.RequestLog.Days != 9 || c.Webhooks.PublishFrom != nil {
		t.Errorf("settings are %+v", c)
	}
	if c.Log.SlogLevel() != slog.LevelDebug {
		t.Errorf("level %v", c.Log.SlogLevel())
	}
	for name, want := range map[string]Origin{"query.max_take": "file whd.toml:6", "query.total": byDefault, "listen": "file whd.toml:1"} {
		if got := c.Origin(name); got != want {
			t.Errorf("%s is from %s, want %s", name, got, want)
		}
	}
}

func TestReloadWithoutChanges(t *testing.T) {
	in := withFile("[query]\nmax_take = 5\ntime_zone = 'Australia/Perth'\n[erp.sources]\nSO_Totals = 'x'\n")
	_, changed, needRestart, err := reloaded(t, in, in)
	if changed != nil || needRestart != nil || err != nil {
		t.Errorf("changed %q, need a restart %q, error %v; want none", changed, needRestart, err)
	}
}

// A live setting that is valid only together with a new value of another setting, which
// needs a restart, is rejected with all other changes.
func TestReloadRejectsContradictingSettings(t *testing.T) {
	c, _, _, err := reloaded(t, input{}, withFile("[webhooks]\nattempt_timeout = '40s'\nlease = '2m'\n[query]\nmax_take = 5\n"))
	if _, isUsage := errors.AsType[*UsageError](err); err == nil || isUsage {
		t.Errorf("error %v", err)
	}
	if c.Query.MaxTake != 0 {
		t.Errorf("settings are %+v", c)
	}
}

// If the platform's settings file is missing at a reload, for example while it is being
// replaced, its settings remain.
func TestReloadWithMissingFile(t *testing.T) {
	c, changed, _, err := reloaded(t, input{files: map[string]string{"/etc/whd/whd.toml": "[query]\nmax_take = 5\n"}}, input{})
	if err == nil || changed != nil {
		t.Errorf("changed: %q, error %v", changed, err)
	}
	if c.Query.MaxTake != 5 {
		t.Errorf("settings are %+v", c)
	}
}

func liveTable() (live []Setting) {
	for _, s := range Settings() {
		if s.Live {
			live = append(live, s)
		}
	}
	return live
}

// No live setting is secret, and each has the members that GET /Settings returns.
func TestLiveSettingsAreValid(t *testing.T) {
	all := new(Config).Live()
	if len(all) != len(liveTable()) {
		t.Errorf("%d live settings are returned, want %d", len(all), len(liveTable()))
	}
	for i, s := range liveTable() {
		if s.secret() || s.notInFile || s.state {
			t.Errorf("%s must not be a live setting", s.Name)
		}
		if doc := all[i]; doc.Name != s.Name || doc.Kind == "" || doc.Help == "" || doc.Origin != string(byDefault) {
			t.Errorf("%s is returned as %+v", s.Name, doc)
		}
	}
}

func TestLoopbackHostURLCausesWarning(t *testing.T) {
	for url, want := range map[string]bool{
		"": false, "http://erp.example:5050": false, "http://10.1.2.3": false, "http://[fd00::1]/": false, "https://localhost.example": false,
		"http://localhost:5050": true, "http://LOCALHOST./": true, "http://whd.localhost": true, "http://127.1.2.3": true, "https://[::1]:1": true,
		"http://[::ffff:127.0.0.1]": true, "http://0.0.0.0:5050": true,
	} {
		c, err := input{env: []string{"WHD_WEBHOOKS_HOST_URL=" + url}}.load()
		if err != nil || len(c.Warnings()) > 0 != want {
			t.Errorf("%s: %q (%v)", url, c.Warnings(), err)
		}
		c.Demo = true
		if c.Warnings() != nil {
			t.Errorf("%s: %q in a demo", url, c.Warnings())
		}
		c.Demo, c.Webhooks.Enabled = false, false
		if c.Warnings() != nil {
			t.Errorf("%s: %q without webhooks", url, c.Warnings())
		}
	}
}
