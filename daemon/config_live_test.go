package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/store"
)

// reader is another value of a setting, and what those who go by the setting see
// of it.
type reader struct {
	other string
	sees  func(d *Daemon) any
}

// readers has a row for each setting that may change while the daemon runs. What
// is looked at is what the parts of the daemon ask, not the settings.
var readers = map[string]reader{
	"debug":               {"true", func(d *Daemon) any { return d.rest.Options().Debug }},
	"log.level":           {"error", func(d *Daemon) any { return d.log.Enabled(context.Background(), slog.LevelWarn) }},
	"query.max_take":      {"7", func(d *Daemon) any { return d.rest.Options().Query.MaxTake }},
	"query.total":         {"asked", func(d *Daemon) any { return d.rest.Options().CountPages }},
	"query.timeout":       {"17s", func(d *Daemon) any { return d.statementLimits().Row }},
	"query.count_timeout": {"17s", func(d *Daemon) any { return d.statementLimits().Count }},
	"http.rate":           {"20/s+100", func(d *Daemon) any { return d.rest.Options().Rate }},
	"auth.queries":        {"anonymous", func(d *Daemon) any { return d.rest.Options().AnonymousQueries }},
	"auth.session":        {"17m", func(d *Daemon) any { return d.lifetimes().Session }},
	"auth.remember":       {"17m", func(d *Daemon) any { return d.lifetimes().Remember }},
	"requestlog.bodies":   {"true", func(d *Daemon) any { return d.rest.Options().LogBodies }},
	"requestlog.days":     {"3", func(d *Daemon) any { return d.requestLog.Keep().For }},
	"requestlog.max_size": {"3MiB", func(d *Daemon) any { return d.requestLog.Keep().Size }},

	"webhooks.publish":         {"anonymous", func(d *Daemon) any { return d.rest.Options().AnonymousPublish }},
	"webhooks.publish_from":    {"10.0.0.0/8", func(d *Daemon) any { return d.rest.Options().PublishFrom }},
	"webhooks.events":          {"job.created", func(d *Daemon) any { return d.webhooks.registrar.Rules().Events }},
	"webhooks.retry_schedule":  {"1s,2s", func(d *Daemon) any { return d.webhooks.engine.Policy().Schedule }},
	"webhooks.retry_after_max": {"17m", func(d *Daemon) any { return d.webhooks.engine.Policy().RetryAfterMax }},
	"webhooks.disable_after":   {"17m", func(d *Daemon) any { return d.webhooks.engine.Policy().DisableAfter }},
	"webhooks.keep_successful": {"17h", func(d *Daemon) any { return d.webhooks.engine.Keep().Successful }},
	"webhooks.keep_failed":     {"17h", func(d *Daemon) any { return d.webhooks.engine.Keep().Failed }},
	"webhooks.responses_size":  {"3MiB", func(d *Daemon) any { return d.webhooks.engine.Keep().TextSize }},
	"webhooks.attempt_timeout": {"17s", func(d *Daemon) any { return d.attemptLimit() }},
}

// opened is a daemon with the settings that env gives, stopped when the test
// ends.
func opened(t *testing.T, dir string, env ...string) *Daemon {
	t.Helper()
	return openedLogging(t, slog.New(slog.NewTextHandler(io.Discard, nil)), dir, env...)
}

func openedLogging(t *testing.T, log *slog.Logger, dir string, env ...string) *Daemon {
	t.Helper()
	env = append([]string{"WHD_ADMIN_PASSWORD=a password for tests only", "WHD_DATA_DIR=" + dir}, env...)
	config, _, err := LoadConfig(nil, env, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), config, io.Discard, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// give changes a setting, to nothing where the text is nil.
func give(t *testing.T, d *Daemon, name string, text *string) {
	t.Helper()
	if err := d.settings.Change(t.Context(), []rest.SettingChange{{Name: name, Text: text}}, audit.Actor{Who: "tester"}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestEveryLiveSettingHasItsReader: a change reaches those who go by the
// setting, outlives a restart, and is taken back.
func TestEveryLiveSettingHasItsReader(t *testing.T) {
	for _, s := range liveTable() {
		t.Run(s.name, func(t *testing.T) {
			r, known := readers[s.name]
			if !known {
				t.Fatal("nobody is known to read it")
			}
			dir := t.TempDir()
			d := opened(t, dir)
			before := fmt.Sprint(r.sees(d))
			give(t, d, s.name, &r.other)
			after := fmt.Sprint(r.sees(d))
			if after == before {
				t.Errorf("its reader sees %s as before", after)
			}
			if err := d.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			d = opened(t, dir)
			if again := fmt.Sprint(r.sees(d)); again != after {
				t.Errorf("after a restart its reader sees %s, not %s", again, after)
			}
			give(t, d, s.name, nil)
			if end := fmt.Sprint(r.sees(d)); end != before {
				t.Errorf("taken back, its reader sees %s, not %s", end, before)
			}
		})
	}
	for name := range readers {
		if s, is := settingNamed(settings(), name); !is || !s.live {
			t.Errorf("%s is none that may change", name)
		}
	}
}

// TestLiveSettingsAreSound: no secret is among them, and each has what the wire
// shows.
func TestLiveSettingsAreSound(t *testing.T) {
	l := newLiveSettings(Config{})
	if len(l.All()) != len(liveTable()) {
		t.Errorf("%d are shown", len(l.All()))
	}
	for _, s := range liveTable() {
		if s.secret() || s.outside || s.state {
			t.Errorf("%s may change while it runs", s.name)
		}
		if doc := l.document(s, l.state.Load()); doc.Kind == "" || doc.Help == "" || doc.Origin != string(byDefault) || !doc.Changeable {
			t.Errorf("%+v", doc)
		}
	}
}

// TestRanks: what the service holds counts more than the file and less than
// variables and flags.
func TestRanks(t *testing.T) {
	saved := map[string]store.SavedSetting{"query.max_take": {Name: "query.max_take", Value: "3"}}
	toml := file("[query]\nmax_take = 2\n")
	for _, c := range []struct {
		in     told
		want   int
		origin string
	}{
		{told{}, 3, "the service"},
		{told{args: "--config whd.toml", files: toml}, 3, "the service"},
		{told{args: "--config whd.toml", files: toml, env: []string{"WHD_QUERY_MAX_TAKE=4"}}, 4, "variable WHD_QUERY_MAX_TAKE"},
		{told{args: "--query-max-take 5", env: []string{"WHD_QUERY_MAX_TAKE=4"}}, 5, "flag --query-max-take"},
	} {
		config, _, err := c.in.load()
		if err != nil {
			t.Fatal(err)
		}
		l := newLiveSettings(config)
		l.log = slog.New(slog.DiscardHandler)
		l.take(1, saved)
		s, _ := settingNamed(settings(), "query.max_take")
		doc := l.document(s, l.state.Load())
		if got := l.state.Load().config.Query.MaxTake; got != c.want || doc.Origin != c.origin || doc.Changeable != (c.want == 3) || doc.Default != "0" {
			t.Errorf("%+v: %d, %+v", c.in, got, doc)
		}
	}
}

// TestStoredSettingsThatDoNotFit are left out, each with one warning: they may
// be those of another version, or clash with what the file says by now.
func TestStoredSettingsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	d := opened(t, dir)
	var changes []store.SettingChange
	for name, value := range map[string]string{
		"query.max_take": "many", "query.total": "never", "listen": ":1", "of.tomorrow": "1",
		"webhooks.attempt_timeout": "20s", "requestlog.days": "5",
	} {
		changes = append(changes, store.SettingChange{Name: name, Value: &value})
	}
	if done, err := d.store.Settings().Change(t.Context(), 1, changes); !done || err != nil {
		t.Fatal(done, err)
	}
	if err := d.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	d = openedLogging(t, slog.New(slog.NewTextHandler(&log, nil)), dir, "WHD_WEBHOOKS_LEASE=45s")
	if c := d.current(); c.Query.MaxTake != 0 || c.Query.Total != totalAuto || c.Webhooks.AttemptTimeout != 15*time.Second || c.RequestLog.Days != 5 {
		t.Errorf("got %+v", c)
	}
	if err := d.settings.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	days := "6"
	give(t, d, "requestlog.days", &days)
	for _, name := range []string{"query.max_take", "query.total", "listen", "of.tomorrow", "webhooks.attempt_timeout"} {
		if n := strings.Count(log.String(), "setting "+name+" ("); n != 1 {
			t.Errorf("%s is warned of %d times in\n%s", name, n, &log)
		}
	}
	take := "9"
	give(t, d, "query.max_take", &take) // which mends it
	if c := d.current(); c.Query.MaxTake != 9 || c.RequestLog.Days != 6 {
		t.Errorf("got %+v", c)
	}
}

// TestChangesAtOnce: two that each keep a rule never break it together, and none
// of several is lost.
func TestChangesAtOnce(t *testing.T) {
	d := opened(t, t.TempDir())
	names := []string{"query.max_take", "requestlog.days"}
	done := make(chan error)
	for i, name := range names {
		go func() {
			for n := range 10 {
				text := fmt.Sprint(n + i + 1)
				if err := d.settings.Change(t.Context(), []rest.SettingChange{{Name: name, Text: &text}}, audit.Actor{}); err != nil && !fault.Is(err, fault.Conflict) {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range names {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	version, saved, err := d.settings.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := d.settings.state.Load()
	if state.version != version || state.saved["query.max_take"].Value != saved["query.max_take"].Value || state.saved["requestlog.days"].Value != saved["requestlog.days"].Value {
		t.Errorf("in force is version %d %+v, stored %d %+v", state.version, state.saved, version, saved)
	}
}

// TestFailuresOfWatchingAreLoggedOnce: of a store that is away for long.
func TestFailuresOfWatchingAreLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Config{Dir: dir, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		d := &Daemon{settings: newLiveSettings(Config{}), log: slog.New(slog.NewTextHandler(&log, nil))}
		d.settings.book = s.Settings()
		d.watchSettings(false)
		time.Sleep(10 * settingsWatch)
		if err := d.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "cannot be read"); n != 1 {
			t.Errorf("%d warnings in\n%s", n, &log)
		}
	})
}

func TestLoopbackIsWarnedAbout(t *testing.T) {
	for url, want := range map[string]bool{
		"": false, "http://erp.example:5050": false, "http://10.1.2.3": false, "http://[fd00::1]/": false, "https://localhost.example": false,
		"http://localhost:5050": true, "http://LOCALHOST./": true, "http://whd.localhost": true, "http://127.1.2.3": true, "https://[::1]:1": true,
		"http://[::ffff:127.0.0.1]": true, "http://0.0.0.0:5050": true,
	} {
		c, _, err := told{env: []string{"WHD_WEBHOOKS_HOST_URL=" + url}}.load()
		if err != nil || len(c.warnings()) > 0 != want {
			t.Errorf("%s: %q (%v)", url, c.warnings(), err)
		}
		c.Webhooks.Enabled = false
		if c.warnings() != nil {
			t.Errorf("%s: %q without webhooks", url, c.warnings())
		}
	}
}

// TestVersionOfTheERP is what whd check says of it.
func TestVersionOfTheERP(t *testing.T) {
	o := newOffice(t)
	o.do(0, "", "demo")
	conn, err := sqlite.Open(filepath.Join(o.dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	check := func(source, says string) {
		t.Helper()
		if got := o.do(0, "", "check --erp-version-source "+source).stdout; !strings.Contains(got, "\nERP: "+says+" ("+source+")\n") {
			t.Errorf("got %s\nwant %s", got, says)
		}
	}
	check("SY_System.Version", "no version; warning: it cannot be read: no such table: SY_System")
	for _, c := range []struct{ sql, says string }{
		{"CREATE TABLE SY_System (Version TEXT)", "no version; warning: it holds no version such as 07.02.01.00"},
		{"INSERT INTO SY_System VALUES (NULL), ('beta'), ('7.2.1.0.0')", "no version; warning: it holds no version such as 07.02.01.00"},
		{"INSERT INTO SY_System VALUES ('07.02.00.99')", "version 07.02.00.99; warning: webhooks need version 07.02.01.00 or later of it"},
		{"INSERT INTO SY_System VALUES (' 7.2.1 '), ('07.01.99.99')", "version 7.2.1"},
		{"INSERT INTO SY_System VALUES ('07.10')", "version 07.10"},
	} {
		if err := conn.Exec(c.sql); err != nil {
			t.Fatal(err)
		}
		check("SY_System.Version", c.says)
	}
	check("SY_System.Release", "no version; warning: it cannot be read: no such column: t.Release")
	if got := o.do(0, "", "check --format json --erp-version-source SY_System.Version").stdout; !strings.Contains(got, `"Version": "07.10"`) {
		t.Errorf("got %s", got)
	}
	o.play([]step{{"", "check --erp-version-source Version", 2, `"Version" is not a table and a column such as dbo.SY_System.Version`}})
	if got := o.do(0, "", "check --webhooks-host-url http://localhost:5050").stdout; strings.Contains(got, "ERP:") || !strings.Contains(got, "\nwebhooks.host_url: warning, http://localhost:5050 is an address of this host only") {
		t.Errorf("got %s", got)
	}
}
