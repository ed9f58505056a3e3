package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// A login over plain HTTP prints a warning, except to a loopback address.
func TestLoginWarnsOfPlainHTTP(t *testing.T) {
	for url, want := range map[string]bool{
		"http://no-such-host.invalid":       true,
		"http://no-such-host.invalid:5050/": true,
		"HTTP://no-such-host.invalid":       true,
		"https://no-such-host.invalid":      false,
		"http://127.0.0.1:1":                false,
		"http://localhost:1":                false,
		"http://[::1]:1":                    false,
	} {
		inv := invocation{env: map[string]string{
			profile.EnvURL:      url,
			profile.EnvUser:     "ann",
			profile.EnvPassword: "canary",
		}}
		got := inv.run(t, "login")
		if got.code != 3 || strings.Contains(got.stderr, "is not encrypted") != want {
			t.Errorf("whctl login to %s: got %v; want exit code 3, a warning: %t", url, got, want)
		}
		if strings.Contains(got.stderr, "canary") {
			t.Errorf("whctl login to %s: the password is printed: %q", url, got.stderr)
		}
	}
}

// withoutKeyring makes all calls to the keyring fail. Later tests do not get the desktop's keyring back.
func withoutKeyring() { keyring.MockInitWithError(errors.New("no bus")) }

// protect makes a file read-only, even for root: it becomes a link to a file with such a long name that no
// temporary file with a longer one can replace it.
func protect(t *testing.T, path string) {
	t.Helper()
	target := filepath.Join(t.TempDir(), strings.Repeat("x", 250))
	if err := os.Rename(path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip("symbolic links are not supported: " + err.Error())
	}
}

// TestDeletionOfLogin checks that a login that is reported as deleted is no longer stored, and that a
// failure deletes nothing.
func TestDeletionOfLogin(t *testing.T) {
	withoutKeyring()
	const (
		config = "[profiles.prod]\nurl = 'http://127.0.0.1:1'\n"
		logins = "[prod]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'keyring'\n"
	)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		command     string
		isProtected bool // the file with the logins
		ctx         context.Context
		wantCode    int
		want        []string // on standard error
		wantStored  bool
	}{
		"logout": {
			command: "logout",
			want: []string{
				`cannot delete the entry "prod ann@http://127.0.0.1:1" of whctl from the keyring: `,
				"stored login deleted; its session could not be ended and will expire: no keyring",
			},
		},
		"logout, protected": {
			command:     "logout",
			isProtected: true,
			wantCode:    1,
			want:        []string{"whctl: cannot delete the stored login: open "},
			wantStored:  true,
		},
		"logout, interrupted": {
			command:    "logout",
			ctx:        interrupted,
			wantCode:   130,
			want:       []string{"whctl: interrupted\n"},
			wantStored: true,
		},
		"profile delete": {
			command: "profile delete prod",
			want: []string{
				`cannot delete the entry "prod ann@http://127.0.0.1:1" of whctl from the keyring: `,
				"profile prod deleted\n",
			},
		},
		"profile delete, protected": {
			command:     "profile delete prod",
			isProtected: true,
			wantCode:    1,
			want:        []string{"whctl: cannot delete the stored login: open "},
			wantStored:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeConfig(t, config)
			path := filepath.Join(dir, "logins.toml")
			if err := os.WriteFile(path, []byte(logins), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.isProtected {
				protect(t, path)
			}
			inv := invocation{
				config: dir,
				ctx:    test.ctx,
				env:    map[string]string{profile.EnvURL: "", "WHCTL_PROFILE": "prod"},
			}
			got := inv.run(t, strings.Fields(test.command)...)
			if got.code != test.wantCode {
				t.Errorf("whctl %s: got %v; want exit code %d", test.command, got, test.wantCode)
			}
			for _, want := range test.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("whctl %s: got %v; want %q on stderr", test.command, got, want)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if isStored := strings.Contains(string(text), "ann"); isStored != test.wantStored {
				t.Errorf("whctl %s: the login is stored: %t, want %t", test.command, isStored, test.wantStored)
			}
			text, err = os.ReadFile(filepath.Join(dir, "config.toml"))
			if err != nil {
				t.Fatal(err)
			}
			wantProfile := test.command == "logout" || test.wantStored
			if hasProfile := len(text) > 0; hasProfile != wantProfile {
				t.Errorf("whctl %s: the profile exists: %t, want %t", test.command, hasProfile, wantProfile)
			}
		})
	}
}

// TestFailedLogin checks that a login that fails stores nothing and ends its session, or that its error
// names the place of the secret.
func TestFailedLogin(t *testing.T) {
	withoutKeyring()
	for name, test := range map[string]struct {
		args        string
		config      string
		isProtected bool // the configuration
		isCancelled bool // during the request for the session
		status      int  // of that request
		wantCode    int
		want        string // on standard error
		wantStored  bool
	}{
		"no keyring": {
			wantCode: 1,
			want:     "whctl: cannot store the login: no keyring in this session: ",
		},
		"failed request": {
			args:     "--insecure-storage",
			status:   http.StatusServiceUnavailable,
			wantCode: 1,
			want:     "whctl: ",
		},
		"interrupted request": {
			args:        "--insecure-storage",
			isCancelled: true,
			wantCode:    130,
			want:        "whctl: ",
		},
		"layout that cannot be changed": {
			args:     "--insecure-storage --profile prod",
			config:   "[profiles]\nprod.url = 'http://127.0.0.1:1'\n",
			wantCode: 1,
			want:     "whctl: cannot make this change in ",
		},
		"read-only configuration": {
			args:        "--insecure-storage",
			config:      "timeout = '9s'\n",
			isProtected: true,
			wantCode:    1,
			want:        "logins.toml, but the profile default cannot be saved: open ",
			wantStored:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeConfig(t, test.config)
			config := filepath.Join(dir, "config.toml")
			if test.isProtected {
				protect(t, config)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hasEnded := false // the session
			inv := invocation{
				config: dir,
				ctx:    ctx,
				env:    map[string]string{profile.EnvUser: "ann", profile.EnvPassword: "correct horse"},
				handler: func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					switch r.URL.Path {
					case "/auth/logout":
						hasEnded = true
					case "/Sessions/Current":
						if test.isCancelled {
							cancel()
							<-r.Context().Done()
						}
						if test.status != 0 {
							w.WriteHeader(test.status)
						}
					}
					io.WriteString(w, `{"UserName":"ann","Role":"reader","SessionId":"s1"}`)
				},
			}
			args := append([]string{"login"}, strings.Fields(test.args)...)
			got := inv.run(t, args...)
			if got.code != test.wantCode || !strings.Contains(got.stderr, test.want) {
				t.Errorf("whctl %q: got %v; want exit code %d and %q", args, got, test.wantCode, test.want)
			}
			if hasEnded == test.wantStored {
				t.Errorf("whctl %q: the session has ended: %t, want %t", args, hasEnded, !test.wantStored)
			}
			_, err := os.Stat(filepath.Join(dir, "logins.toml"))
			if isStored := err == nil; isStored != test.wantStored {
				t.Errorf("whctl %q: the login is stored: %t, want %t", args, isStored, test.wantStored)
			}
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != test.config {
				t.Errorf("whctl %q: the configuration is %q, want %q", args, text, test.config)
			}
		})
	}
}

// TestLoginWithBrokenFile checks that an error of logins.toml is not taken for a missing keyring.
func TestLoginWithBrokenFile(t *testing.T) {
	keyring.MockInit()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "logins.toml"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	inv := invocation{
		config: dir,
		env:    map[string]string{profile.EnvUser: "ann", profile.EnvPassword: "correct horse"},
		handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"UserName":"ann","Role":"reader","SessionId":"s1"}`)
		},
	}
	got := inv.run(t, "login")
	want := "is corrupt; delete it and run whctl login again\n"
	if got.code != 1 || !strings.HasSuffix(got.stderr, want) {
		t.Errorf("whctl login: got %v; want exit code 1 and %q", got, want)
	}
}

// TestLogoutDryRun checks that a dry run prints the request and deletes nothing.
func TestLogoutDryRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "logins.toml")
	logins := "[default]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'file'\nsession = 's1'\n"
	if err := os.WriteFile(path, []byte(logins), 0o600); err != nil {
		t.Fatal(err)
	}
	inv := invocation{config: dir, env: map[string]string{profile.EnvURL: "http://127.0.0.1:1"}}
	got := inv.run(t, "logout", "--dry-run")
	want := "POST http://127.0.0.1:1/auth/logout\n"
	if got.code != 0 || !strings.HasPrefix(got.stdout, want) || got.stderr != "" {
		t.Errorf("whctl logout --dry-run: got %v; want exit code 0 and %q", got, want)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != logins {
		t.Errorf("whctl logout --dry-run: the logins are %q, error %v; want %q", text, err, logins)
	}
}

// TestPasswordOfAnotherUser checks that a stored password is not sent for another user than its own.
func TestPasswordOfAnotherUser(t *testing.T) {
	keyboard, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	if _, err := io.WriteString(input, "bob\n"); err != nil {
		t.Fatal(err)
	}
	input.Close()
	inv := invocation{
		handler:  func(http.ResponseWriter, *http.Request) { t.Error("a request is sent") },
		config:   t.TempDir(),
		prompter: cmdline.Prompter{Keyboard: keyboard},
	}
	url := inv.serve(t)
	inv.env = map[string]string{profile.EnvURL: url}
	logins := "[default]\nurl = '" + url + "'\nuser = 'ann'\nstore = 'file'\npassword = 'canary'\n"
	if err := os.WriteFile(filepath.Join(inv.config, "logins.toml"), []byte(logins), 0o600); err != nil {
		t.Fatal(err)
	}
	got := inv.run(t, "login") // ends at the prompt for the password, which needs a terminal
	if want := "User name: "; got.code != 1 || !strings.HasPrefix(got.stderr, want) {
		t.Errorf("whctl login: got %v; want exit code 1 and the question %q", got, want)
	}
}
