package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/sqlite"
)

// reader has a non-default value of a setting, and a function that returns the value in
// effect in the part of the daemon that uses the setting.
type reader struct {
	other string
	sees  func(d *Daemon) any
}

// readers has a row for each setting that may change while the daemon runs.
var readers = map[string]reader{
	"debug": {other: "true", sees: func(d *Daemon) any { return d.settings.rest().Debug }},
	"log.level": {
		other: "error",
		sees:  func(d *Daemon) any { return d.log.Enabled(context.Background(), slog.LevelWarn) },
	},
	"log.requests":   {other: "always", sees: func(d *Daemon) any { return d.settings.rest().LogLines }},
	"query.max_take": {other: "7", sees: func(d *Daemon) any { return d.settings.rest().Query.MaxTake }},
	"query.total": {
		other: "asked",
		sees:  func(d *Daemon) any { return d.settings.rest().CountPages },
	},
	"query.total_cache":   {other: "17s", sees: func(d *Daemon) any { return d.settings.limits().TotalAge }},
	"query.timeout":       {other: "17s", sees: func(d *Daemon) any { return d.settings.limits().Row }},
	"query.count_timeout": {other: "17s", sees: func(d *Daemon) any { return d.settings.limits().Count }},
	"csv.formula_guard": {
		other: "true",
		sees:  func(d *Daemon) any { return d.settings.rest().FormulaGuard },
	},
	"http.rate": {other: "20/s+100", sees: func(d *Daemon) any { return d.settings.rest().Rate }},
	"compat": {
		other: "servicestack-5",
		sees:  func(d *Daemon) any { return d.settings.rest().KeyInURL && d.settings.rest().LogToday },
	},
	"auth.key_in_url": {other: "true", sees: func(d *Daemon) any { return d.settings.rest().KeyInURL }},
	"odata.max_page": {
		other: "500",
		sees:  func(d *Daemon) any { return d.settings.current().Query.FeedPage },
	},
	"mcp.enabled": {other: "true", sees: func(d *Daemon) any { return d.settings.rest().MCP }},
	"http.public_url": {
		other: "https://erp.example",
		sees:  func(d *Daemon) any { return d.settings.rest().PublicURL },
	},
	"webhooks.portal":  {other: "true", sees: func(d *Daemon) any { return d.settings.rest().Portal }},
	"requestlog.today": {other: "true", sees: func(d *Daemon) any { return d.settings.rest().LogToday }},
	"erp.builtin": {
		other: "SO_Totals",
		sees:  func(d *Daemon) any { return len(d.settings.rest().Kinds().Kinds()) },
	},
	"erp.kinds": {
		other: "testdata/kinds",
		sees:  func(d *Daemon) any { return len(d.settings.current().ERP.Kinds.Problems) },
	},
	"auth.queries": {
		other: "anonymous",
		sees:  func(d *Daemon) any { return d.settings.rest().AnonymousQueries },
	},
	"auth.session": {
		other: "17m",
		sees:  func(d *Daemon) any { return d.settings.lifetimes().Session },
	},
	"auth.remember": {
		other: "17m",
		sees:  func(d *Daemon) any { return d.settings.lifetimes().Remember },
	},
	"requestlog.bodies": {other: "true", sees: func(d *Daemon) any { return d.settings.rest().LogBodies }},
	"requestlog.days":   {other: "3", sees: func(d *Daemon) any { return d.requestLog.Retention().MaxAge }},
	"requestlog.max_size": {
		other: "3MiB",
		sees:  func(d *Daemon) any { return d.requestLog.Retention().MaxSize },
	},

	"webhooks.publish": {
		other: "anonymous",
		sees:  func(d *Daemon) any { return d.settings.rest().AnonymousPublish },
	},
	"webhooks.publish_from": {
		other: "10.0.0.0/8",
		sees:  func(d *Daemon) any { return d.settings.rest().PublishFrom },
	},
	"webhooks.dates": {
		other: "iso",
		sees:  func(d *Daemon) any { return d.settings.rest().ISODates },
	},
	"webhooks.events": {
		other: "job.created",
		sees:  func(d *Daemon) any { return d.webhooks.admin.Rules().Events },
	},
	"webhooks.retry_schedule": {
		other: "1s,2s",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Policy().Schedule },
	},
	"webhooks.retry_after_max": {
		other: "17m",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Policy().RetryAfterMax },
	},
	"webhooks.disable_after": {
		other: "17m",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Policy().DisableAfter },
	},
	"webhooks.keep_successful": {
		other: "17h",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Retention().Successful },
	},
	"webhooks.keep_failed": {
		other: "17h",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Retention().Failed },
	},
	"webhooks.responses_size": {
		other: "3MiB",
		sees:  func(d *Daemon) any { return d.webhooks.engine.Retention().TextSize },
	},
	"webhooks.max_per_minute": {
		other: "17",
		sees:  func(d *Daemon) any { return d.webhooks.engine.MaxPerMinute() },
	},
	"webhooks.max_subscriptions": {
		other: "17",
		sees:  func(d *Daemon) any { return d.webhooks.admin.Rules().Limits().Subscriptions },
	},
	"webhooks.attempt_timeout": {
		other: "17s",
		sees:  func(d *Daemon) any { return d.settings.attemptTimeout() },
	},
}

// opened returns a daemon with the settings in env, stopped when the test ends.
func opened(t *testing.T, dir string, env ...string) *Daemon {
	t.Helper()
	return openedLogging(t, slog.New(slog.NewTextHandler(io.Discard, nil)), dir, env...)
}

func openedLogging(t *testing.T, log *slog.Logger, dir string, env ...string) *Daemon {
	t.Helper()
	env = append([]string{"WHD_ADMIN_PASSWORD=a password for tests only", "WHD_DATA_DIR=" + dir}, env...)
	file, err := config.Read(nil, env)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), file, io.Discard, log)
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

// reload reloads the settings from the variables.
func reload(t *testing.T, d *Daemon, env ...string) {
	t.Helper()
	changed, err := config.Read(nil, append([]string{
		"WHD_ADMIN_PASSWORD=a password for tests only",
		"WHD_DATA_DIR=" + d.config.DataDir,
	}, env...))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Reload(changed); err != nil {
		t.Fatal(err)
	}
}

// TestLiveSettings changes each live setting and resets it, and checks that both changes
// take effect in the part that uses it.
func TestLiveSettings(t *testing.T) {
	d := opened(t, t.TempDir())
	for _, s := range config.Settings() {
		if !s.Live {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			r, known := readers[s.Name]
			if !known {
				t.Fatal("the setting has no row in readers, above")
			}
			before := fmt.Sprint(r.sees(d))
			reload(t, d, s.Variable()+"="+r.other)
			if after := fmt.Sprint(r.sees(d)); after == before {
				t.Errorf("the value in effect is still %s", after)
			}
			reload(t, d)
			if end := fmt.Sprint(r.sees(d)); end != before {
				t.Errorf("after the reset the value in effect is %s, want %s", end, before)
			}
		})
	}
	for name := range readers {
		if !slices.ContainsFunc(config.Settings(), func(s config.Setting) bool { return s.Name == name && s.Live }) {
			t.Errorf("%s is not a live setting", name)
		}
	}
}

// TestStoredSettingsAreWrittenToFile checks that settings that an earlier version stored
// in the database are written to a file at the upgrade, those that no longer exist as
// comments. No value is logged, and no file is overwritten.
func TestStoredSettingsAreWrittenToFile(t *testing.T) {
	dir, etc := t.TempDir(), t.TempDir()
	file := filepath.Join(etc, "whd.toml")
	d := opened(t, dir)
	if err := d.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	stored := map[string]string{
		"query.max_take":          "500",
		"log.level":               "debug",
		"debug":                   "true",
		"webhooks.publish_from":   "10.0.0.0/8,::1/128",
		"webhooks.retry_schedule": "1s,2m",
		"of.tomorrow":             "x\ny",
		"query.total":             "never",
	}
	conn, err := sqlite.Open(filepath.Join(dir, "whd.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}

	sql := "CREATE TABLE WH_Setting (Name TEXT NOT NULL PRIMARY KEY, Value TEXT NOT NULL, LastSavedDateTime TEXT NOT NULL); DELETE FROM WH_Migration WHERE version_id = 9;"
	for name, value := range stored {
		sql += fmt.Sprintf("INSERT INTO WH_Setting VALUES ('%s', '%s', '2026-01-31T08:15:30.1234560');", name, value)
	}

	if err := errors.Join(conn.Exec(sql), conn.Close()); err != nil {
		t.Fatal(err)
	}

	for path, text := range map[string]string{
		file: "[query]\nmax_take = 5\n",
		filepath.Join(etc, "whd-from-database.toml"): "# earlier\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	var log strings.Builder
	d = openedLogging(t, slog.New(slog.NewTextHandler(&log, nil)), dir, "WHD_CONFIG="+file)
	path := filepath.Join(etc, "whd-from-database-2.toml")
	if !strings.Contains(log.String(), path) || strings.Contains(log.String(), "10.0.0.0/8") ||
		d.settings.current().Query.MaxTake != 5 {
		t.Errorf("query.max_take is %d; log:\n%s", d.settings.current().Query.MaxTake, &log)
	}

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the file of stored settings has mode %v, want 0600", info.Mode())
	}

	c, err := config.Read(nil, []string{"WHD_CONFIG=" + path, "WHD_DATA_DIR=" + dir})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}

	got := make(map[string]string)
	for _, s := range c.Live() {
		got[s.Name] = s.Value
	}

	for name, want := range stored {
		if name == "of.tomorrow" || name == "query.total" {
			if !strings.Contains(string(text), fmt.Sprintf("%s = %q", name, want)) {
				t.Errorf("%s is not in\n%s", name, text)
			}
		} else if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}

	if before, err := os.ReadFile(filepath.Join(etc, "whd-from-database.toml")); string(before) != "# earlier\n" {
		t.Errorf("the existing file has %q (%v)", before, err)
	}
	if second, err := d.settings.current().SaveStored(nil); err != nil || second == path {
		t.Errorf("the second file is %s (%v), want another one than the first", second, err)
	}
}
