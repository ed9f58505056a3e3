package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// One daemon with demo records serves all that asks a real one, since loading
// them takes longer than the tests do.
func TestWithService(t *testing.T) {
	service := daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "1s,2s,720h")
	t.Run("stories", func(t *testing.T) { stories(t, service) })
	t.Run("keyring", func(t *testing.T) { rememberInKeyring(t, service) })
	t.Run("csv", func(t *testing.T) { agreeOnCSV(t, service) })
}

// stories run whctl as a process.
func stories(t *testing.T, service *daemontest.Instance) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          storyCommands(),
		Setup: func(env *testscript.Env) error {
			env.Values[castKey{}] = &sync.Map{}
			env.Setenv(profile.EnvURL, service.URL)
			env.Setenv(profile.EnvUser, "admin")
			env.Setenv(profile.EnvPassword, daemontest.AdminPassword)
			env.Setenv(profile.EnvConfig, filepath.Join(env.WorkDir, "home", "config.toml"))
			env.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(env.WorkDir, "no-bus"))
			return os.WriteFile(filepath.Join(env.WorkDir, "admin-password"), []byte(daemontest.AdminPassword+"\n"), 0o600)
		},
	})
}

// agreeOnCSV: our CSV, made of JSON, holds what the service's own CSV holds, for all the
// odd values of the demo records.
func agreeOnCSV(t *testing.T, service *daemontest.Instance) {
	c, err := client.New(client.Options{URL: service.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, kind := range record.Builtin().Kinds() {
		first := kind.Fields[0].Name
		ours := trial{env: map[string]string{profile.EnvURL: service.URL, profile.EnvUser: "admin", profile.EnvPassword: daemontest.AdminPassword}}.
			run(t, "query", kind.Name, "--csv", "--order-by", first)
		var theirs bytes.Buffer
		if _, _, err := c.Download(context.Background(), client.Query{Kind: kind, OrderBy: []string{first}}, "csv", &theirs); err != nil {
			t.Fatal(err)
		}
		got, want := cells(t, ours.stdout), cells(t, theirs.String())
		if len(got) < 2 || len(got) != len(want) {
			t.Errorf("%s: %d lines, the service has %d\n%s", kind.Name, len(got), len(want), ours.stderr)
			continue
		}
		for i := range got {
			lowerBools(kind, want[i])
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("%s, line %d: %q, the service has %q", kind.Name, i, got[i], want[i])
				break
			}
		}
	}
}

func cells(t *testing.T, text string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lowerBools spells True and False as JSON does.
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
