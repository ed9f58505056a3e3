package main

import (
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/tui"
)

// newViewer returns a viewer with a configuration, environment variables and flags.
func newViewer(t *testing.T, config string, env map[string]string, args ...string) *viewer {
	t.Helper()
	env[profile.EnvConfig] = filepath.Join(writeConfig(t, config), "config.toml")
	getenv := func(name string) string { return env[name] }
	connector := &profile.Connector{
		Env:    getenv,
		Stderr: io.Discard,
		Vault:  profile.Vault{Env: getenv, Timeout: testTimeout},
	}
	flags := flag.NewFlagSet("tui", flag.ContinueOnError)
	for _, name := range []string{"read-only", "mouse", "ascii", "no-color"} {
		flags.Bool(name, false, "")
	}
	flags.String("theme", "", "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	c := cli.NewContext(cli.NewApp(), flags, nil)
	c.Context = t.Context()
	v := &viewer{Connector: connector, c: c}
	t.Cleanup(v.close)
	return v
}

// TestSwitchProfile checks that another profile is opened with its own settings. The key, address
// and user of the first profile are not sent to its service.
func TestSwitchProfile(t *testing.T) {
	var credentials []string // of each request to the service of the profile two
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credentials = append(credentials, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Version":"1"}`)
	}))
	defer server.Close()
	config := "profile = 'one'\n" +
		"[profiles.one]\nurl = 'http://127.0.0.1:9'\n" +
		"[profiles.two]\nurl = '" + server.URL + "'\ncolour = 'green'\nprotected = true\n"
	env := map[string]string{
		profile.EnvToken:    "key-of-one",
		profile.EnvURL:      "http://127.0.0.1:9",
		profile.EnvUser:     "ann",
		profile.EnvPassword: "of-ann",
		"WHCTL_READ_ONLY":   "false",
	}
	v := newViewer(t, config, env)

	t.Run("settings", func(t *testing.T) {
		service, o, err := v.change("two")
		if err != nil {
			t.Fatal(err)
		}
		if o.Profile != "two" || o.URL != server.URL || o.User != "" || o.Colour != "green" {
			t.Errorf("got the profile %q, URL %q, user %q, colour %q; want those of two",
				o.Profile, o.URL, o.User, o.Colour)
		}
		if !o.ReadOnly || !o.Protected || o.Unlock == nil {
			t.Errorf("got read-only %t, protected %t, unlock %t; want true",
				o.ReadOnly, o.Protected, o.Unlock != nil)
		}
		if _, err := service.Info(t.Context()); err != nil {
			t.Error(err)
		}
		if want := []string{""}; !slices.Equal(credentials, want) {
			t.Errorf("sent requests with the credentials %q, want %q", credentials, want)
		}
	})
	t.Run("unknown profile", func(t *testing.T) {
		if _, _, err := v.change("three"); err == nil {
			t.Error("got no error for the profile three, which does not exist")
		}
	})
	t.Run("list", func(t *testing.T) {
		got, err := v.profiles()
		if err != nil {
			t.Fatal(err)
		}
		want := []tui.Profile{
			{Name: "one", URL: "http://127.0.0.1:9"},
			{Name: "two", URL: server.URL, Colour: "green", Protected: true},
		}
		if !slices.Equal(got, want) {
			t.Errorf("got the profiles %+v, want %+v", got, want)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		_, o, err := newViewer(t, config, env, "--read-only").change("two")
		if err != nil || !o.ReadOnly || o.Unlock != nil {
			t.Errorf("with --read-only: got read-only %t, unlock %t, error %v; want true, false",
				o.ReadOnly, o.Unlock != nil, err)
		}
		_, o, err = newViewer(t, config, env, "--read-only=false").change("two")
		if err != nil || !o.ReadOnly || o.Unlock == nil {
			t.Errorf("with --read-only=false: got read-only %t, unlock %t, error %v; want true",
				o.ReadOnly, o.Unlock != nil, err)
		}
	})
	t.Run("after closing", func(t *testing.T) {
		closed := newViewer(t, config, env)
		closed.close()
		_, _, err := closed.change("two")
		if !errors.Is(err, errClosed) || len(closed.opened) > 0 {
			t.Errorf("got %d open clients and the error %v, want none and %v", len(closed.opened), err, errClosed)
		}
	})
}

// Over SSH the mouse is off by default.
func TestMouseDefault(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		args []string
		want bool
	}{
		{env: map[string]string{}, want: true},
		{env: map[string]string{}, args: []string{"--mouse=false"}},
		{env: map[string]string{"SSH_TTY": "/dev/pts/1"}},
		{
			env:  map[string]string{"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"},
			args: []string{"--mouse"},
			want: true,
		},
	} {
		v := newViewer(t, "", test.env, test.args...)
		if got := v.takesMouse(); got != test.want {
			t.Errorf("whctl tui %q with %q: takes the mouse: %t, want %t",
				test.args, test.env, got, test.want)
		}
	}
}

func TestStateDir(t *testing.T) {
	v := newViewer(t, "", map[string]string{"XDG_STATE_HOME": "/state"})
	got := stateDir(v.Env)
	if want := filepath.Join("/state", "whctl"); got != want {
		t.Errorf("with XDG_STATE_HOME=/state: got %s, want %s", got, want)
	}
}

// Flags take precedence over environment variables, these over the file. NO_COLOR
// takes precedence over a theme.
func TestAppearance(t *testing.T) {
	for _, test := range []struct {
		name   string
		config string
		env    map[string]string
		args   []string
		theme  string
		ascii  bool
		wrong  string
	}{
		{name: "defaults", theme: "auto"},
		{name: "file", config: "theme = 'light'\nsigns = 'limited'\n", theme: "light"},
		{name: "variable", config: "theme = 'light'\n", env: map[string]string{"WHCTL_THEME": "Dark"}, theme: "dark"},
		{
			name:  "flag",
			env:   map[string]string{"WHCTL_THEME": "dark", "WHCTL_ASCII": "1"},
			args:  []string{"--theme=light"},
			theme: "light",
			ascii: true,
		},
		{name: "ascii", args: []string{"--ascii"}, theme: "auto", ascii: true},
		{
			name:   "ascii variable",
			config: "signs = 'full'\n",
			env:    map[string]string{"WHCTL_ASCII": "1"},
			theme:  "auto",
			ascii:  true,
		},
		{name: "NO_COLOR", env: map[string]string{"NO_COLOR": "1"}, args: []string{"--theme=light"}, theme: "mono"},
		{
			name:  "unknown theme",
			args:  []string{"--theme=ligth"},
			wrong: `--theme must be one of auto, dark, light, mono; did you mean light?`,
		},
	} {
		env := map[string]string{"CLICOLOR_FORCE": "1"}
		maps.Copy(env, test.env)
		v := newViewer(t, test.config, env, test.args...)
		in, err := v.Settings(v.c)
		if err != nil {
			t.Fatal(test.name, err)
		}
		session := &command.Session{Connector: *v.Connector}
		got, err := v.appearance(in, session.InColour(v.c))
		if test.wrong != "" {
			if err == nil || err.Error() != test.wrong {
				t.Errorf("%s: got error %v, want %s", test.name, err, test.wrong)
			}
			continue
		}
		if err != nil || got.Theme != test.theme || got.ASCII != test.ascii {
			t.Errorf("%s: got %+v, error %v; want theme %s, ASCII %t",
				test.name, got, err, test.theme, test.ascii)
		}
	}
}
