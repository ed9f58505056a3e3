package config

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"
)

// reloaded reads settings and applies a second reading to them.
func reloaded(t *testing.T, first, then input) (next Config, changed, waiting []string, err error) {
	t.Helper()
	was, err := first.load()
	if err != nil {
		t.Fatal(err)
	}
	again, err := then.load()
	if err != nil {
		t.Fatal(err)
	}
	return was.Reloaded(again)
}

func withFile(text string) input { return input{args: "--config whd.toml", files: file(text)} }

func TestReload(t *testing.T) {
	c, changed, waiting, err := reloaded(t,
		withFile("listen = ':1'\nadmin_password = 'a first password'\n[query]\nmax_take = 5\ntotal = 'asked'\n[webhooks]\npublish_from = ['10.0.0.0/8']\n"),
		withFile("listen = ':2'\nadmin_password = 'another password'\n[log]\nlevel = 'debug'\n[query]\nmax_take = 7\n[requestlog]\ndays = 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"log.level", "query.max_take", "query.total", "webhooks.publish_from", "requestlog.days"}; !reflect.DeepEqual(changed, want) {
		t.Errorf("changed: %q, want %q", changed, want)
	}
	if want := []string{"listen", "admin_password"}; !reflect.DeepEqual(waiting, want) {
		t.Errorf("waiting: %q, want %q", waiting, want)
	}
	if c.Listen != ":1" || c.Query.MaxTake != 7 || c.Query.Total != totalAuto || c.RequestLog.Days != 9 || c.Webhooks.PublishFrom != nil {
		t.Errorf("in force: %+v", c)
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

// TestReloadOfNothingNew changes nothing and names nothing.
func TestReloadOfNothingNew(t *testing.T) {
	in := withFile("[query]\nmax_take = 5\ntime_zone = 'Australia/Perth'\n[erp.sources]\nSO_Totals = 'x'\n")
	_, changed, waiting, err := reloaded(t, in, in)
	if changed != nil || waiting != nil || err != nil {
		t.Errorf("%q, %q, %v", changed, waiting, err)
	}
}

// TestReloadOfHalves: a setting that may change and one that may not are right
// together only, so that none is taken before the restart.
func TestReloadOfHalves(t *testing.T) {
	c, _, _, err := reloaded(t, input{}, withFile("[webhooks]\nattempt_timeout = '40s'\nlease = '2m'\n[query]\nmax_take = 5\n"))
	if _, is := errors.AsType[*UsageError](err); err == nil || is {
		t.Errorf("error %v", err)
	}
	if c.Query.MaxTake != 0 {
		t.Errorf("in force: %+v", c)
	}
}

// TestReloadWithoutTheFile: one at the platform's place, which is not named explicitly, is
// gone at the moment, as while it is replaced. Its limits hold on.
func TestReloadWithoutTheFile(t *testing.T) {
	c, changed, _, err := reloaded(t, input{files: map[string]string{"/etc/whd/whd.toml": "[query]\nmax_take = 5\n"}}, input{})
	if err == nil || changed != nil {
		t.Errorf("changed: %q, error %v", changed, err)
	}
	if c.Query.MaxTake != 5 {
		t.Errorf("in force: %+v", c)
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

// TestLiveSettingsAreSound: no secret is among them, and each has what the wire
// shows.
func TestLiveSettingsAreSound(t *testing.T) {
	all := new(Config).Live()
	if len(all) != len(liveTable()) {
		t.Errorf("%d are shown", len(all))
	}
	for i, s := range liveTable() {
		if s.secret() || s.notInFile || s.state {
			t.Errorf("%s may change while it runs", s.Name)
		}
		if doc := all[i]; doc.Name != s.Name || doc.Kind == "" || doc.Help == "" || doc.Origin != string(byDefault) {
			t.Errorf("%+v", doc)
		}
	}
}

func TestLoopbackIsWarnedAbout(t *testing.T) {
	for url, want := range map[string]bool{
		"": false, "http://erp.example:5050": false, "http://10.1.2.3": false, "http://[fd00::1]/": false, "https://localhost.example": false,
		"http://localhost:5050": true, "http://LOCALHOST./": true, "http://whd.localhost": true, "http://127.1.2.3": true, "https://[::1]:1": true,
		"http://[::ffff:127.0.0.1]": true, "http://0.0.0.0:5050": true,
	} {
		c, err := input{env: []string{"WHD_WEBHOOKS_HOST_URL=" + url}}.load()
		if err != nil || len(c.Warnings()) > 0 != want {
			t.Errorf("%s: %q (%v)", url, c.Warnings(), err)
		}
		c.Webhooks.Enabled = false
		if c.Warnings() != nil {
			t.Errorf("%s: %q without webhooks", url, c.Warnings())
		}
	}
}
