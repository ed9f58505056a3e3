package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// newViewer returns a viewer with a configuration, environment variables and flags.
func newViewer(t *testing.T, config string, env map[string]string, args ...string) *viewer {
	t.Helper()
	env[profile.EnvConfig] = filepath.Join(writeConfig(t, config), "config.toml")
	k := &profile.Connector{Env: func(name string) string { return env[name] }, Stderr: io.Discard}
	k.Vault = profile.Vault{Env: k.Env, Timeout: testTimeout}
	flags := flag.NewFlagSet("tui", flag.ContinueOnError)
	for _, name := range []string{"read-only", "mouse", "ascii", "no-color"} {
		flags.Bool(name, false, "")
	}
	for _, name := range []string{"theme"} {
		flags.String(name, "", "")
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	c := cli.NewContext(cli.NewApp(), flags, nil)
	c.Context = t.Context()
	s := &viewer{Connector: k, c: c}
	t.Cleanup(s.close)
	return s
}

// Another profile is opened with its own settings. The key, address and user of the
// first profile are not sent to its service.
func TestSwitchProfile(t *testing.T) {
	var credentials []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credentials = append(credentials, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Version":"1"}`)
	}))
	defer other.Close()
	config := fmt.Sprintf("profile = 'one'\n[profiles.one]\nurl = 'http://127.0.0.1:9'\n[profiles.two]\nurl = '%s'\ncolour = 'green'\nprotected = true\n", other.URL)
	env := map[string]string{
		profile.EnvToken:    "key-of-one",
		profile.EnvURL:      "http://127.0.0.1:9",
		profile.EnvUser:     "ann",
		profile.EnvPassword: "of-ann",
		"WHCTL_READ_ONLY":   "false",
	}
	s := newViewer(t, config, env)
	service, o, err := s.change("two")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Info(t.Context()); err != nil || len(credentials) != 1 || credentials[0] != "" {
		t.Errorf("%v; credentials sent to the other service: %q", err, credentials)
	}
	if o.Profile != "two" || o.URL != other.URL || o.Colour != "green" || !o.ReadOnly || !o.Protected || o.User != "" || o.Unlock == nil {
		t.Errorf("options %+v", o)
	}
	if _, _, err := s.change("three"); err == nil {
		t.Error("opened an unknown profile")
	}
	list, err := s.profiles()
	if err != nil || len(list) != 2 || list[1].Name != "two" || !list[1].Protected || list[1].Colour != "green" {
		t.Errorf("profiles %+v, %v", list, err)
	}
	only := newViewer(t, config, env, "--read-only")
	if _, o, err := only.change("two"); err != nil || !o.ReadOnly || o.Unlock != nil {
		t.Errorf("--read-only has no effect on another profile: %+v, %v", o, err)
	}
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
		{env: map[string]string{"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, args: []string{"--mouse"}, want: true},
	} {
		s := newViewer(t, "", test.env, test.args...)
		if got := s.takesMouse(); got != test.want {
			t.Errorf("%v %v: %v", test.env, test.args, got)
		}
	}
}

func TestStateDir(t *testing.T) {
	s := newViewer(t, "", map[string]string{"XDG_STATE_HOME": "/state"})
	if got, want := stateDir(s.Env), filepath.Join("/state", "whctl"); got != want {
		t.Errorf("%s, want %s", got, want)
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
		s := newViewer(t, test.config, env, test.args...)
		in, err := s.Settings(s.c)
		if err != nil {
			t.Fatal(test.name, err)
		}
		session := &command.Session{Connector: *s.Connector}
		got, err := s.appearance(in, session.InColour(s.c))
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
