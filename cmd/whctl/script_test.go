package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestWithService runs all tests that need a real service against one daemon, because
// loading the demo records takes longer than the tests.
func TestWithService(t *testing.T) {
	t.Parallel()
	service := daemontest.Start(t, "--demo",
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "1s,2s,720h")
	t.Run("scripts", func(t *testing.T) { runScripts(t, service) })
	t.Run("keyring", func(t *testing.T) { testKeyringLogin(t, service) })
	t.Run("csv", func(t *testing.T) { testCSVAgainstService(t, service) })
}

// runScripts runs the scripts of testdata/script, in which whctl is a process.
func runScripts(t *testing.T, service *daemontest.Instance) {
	line := mssqltest.NewProxy(t, service.URL)
	whctl := program(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: goldentest.Updating(),
		Cmds:          scriptCommands(line),
		Setup: func(env *testscript.Env) error {
			env.Values[processesKey{}] = &sync.Map{}
			env.Setenv("PATH", filepath.Dir(whctl)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("WHCTL", whctl)
			env.Setenv(profile.EnvURL, service.URL)
			env.Setenv("CUT_URL", line.DSN)
			env.Setenv(profile.EnvUser, "admin")
			env.Setenv(profile.EnvPassword, daemontest.AdminPassword)
			env.Setenv(profile.EnvConfig, filepath.Join(env.WorkDir, "home", "config.toml"))
			env.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(env.WorkDir, "no-bus"))
			path := filepath.Join(env.WorkDir, "admin-password")
			return os.WriteFile(path, []byte(daemontest.AdminPassword+"\n"), 0o600)
		},
	})
}

// testCSVAgainstService checks that the CSV of whctl, made from JSON, has the same
// cells as the CSV of the service, for all unusual values of the demo records.
func testCSVAgainstService(t *testing.T, service *daemontest.Instance) {
	c, err := client.New(client.Options{
		URL:      service.URL,
		User:     "admin",
		Password: daemontest.AdminPassword,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	inv := invocation{env: adminEnv(service.URL)}
	for _, kind := range record.Builtin().Kinds() {
		first := kind.Fields[0].Name
		printed := inv.run(t, "query", kind.Name, "--csv", "--order-by", first)
		var reference bytes.Buffer
		query := client.Query{Kind: kind, OrderBy: []string{first}}
		if _, _, err := c.Download(context.Background(), query, "csv", &reference); err != nil {
			t.Fatal(err)
		}
		got := cells(t, printed.stdout)
		want := cells(t, reference.String())
		if len(got) < 2 || len(got) != len(want) {
			t.Errorf("%s: got %d lines, want the %d of the service\n%s",
				kind.Name, len(got), len(want), printed.stderr)
			continue
		}
		for i := range got {
			lowerBools(kind, want[i])
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s, line %d: got %q, want %q", kind.Name, i, got[i], want[i])
				break
			}
		}
	}
}

// cells parses CSV.
func cells(t *testing.T, text string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lowerBools converts True and False to lower case, as in JSON, and the header to the
// names of the fields.
func lowerBools(kind *record.Kind, line []string) {
	for i, f := range kind.Fields {
		if f.Type == record.Bool {
			line[i] = strings.ToLower(line[i])
		}
	}
	if line[0] == kind.Fields[0].Name {
		copy(line, kind.FieldNames())
	}
}
