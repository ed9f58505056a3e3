package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// TestConfigurationInUTF16 checks that a file as Windows PowerShell writes it is named as such.
func TestConfigurationInUTF16(t *testing.T) {
	for name, text := range map[string]string{
		"with a byte order mark": "\xff\xfeu\x00r\x00l\x00",
		"big endian":             "\xfe\xff\x00u\x00r\x00l",
		"without a mark":         "u\x00r\x00l\x00",
	} {
		got := invocation{config: writeConfig(t, text)}.run(t, "info")
		namesEncoding := strings.Contains(got.stderr, "config.toml is in UTF-16; save it in UTF-8")
		if got.code != 2 || !namesEncoding {
			t.Errorf("%s: got %v; want exit code 2, an error that names UTF-16", name, got)
		}
	}
}

// TestLoginsReadableByOthers checks the warning and the line of doctor about secrets that other
// users can read.
func TestLoginsReadableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := writeConfig(t, "profile = 'prod'\n[profiles.prod]\nurl = 'http://127.0.0.1:1'\n")
	logins := filepath.Join(dir, "logins.toml")
	text := "[prod]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'file'\nsession = 's1'\n"
	if err := os.WriteFile(logins, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inv := invocation{config: dir, env: map[string]string{"WHCTL_URL": ""}}
	for mode, want := range map[os.FileMode]struct {
		warns  bool
		doctor string
	}{
		0o600: {doctor: "ok    logins         only you can read the secrets in " + logins},
		0o644: {
			warns:  true,
			doctor: "warn  logins         other users can read the secrets in " + logins + "  (chmod 600 " + logins + ")",
		},
	} {
		if err := os.Chmod(logins, mode); err != nil {
			t.Fatal(err)
		}
		got := inv.run(t, "info")
		warning := "warning: other users can read the secrets in " + logins + "; run chmod 600 "
		if strings.Contains(got.stderr, warning) != want.warns {
			t.Errorf("whctl info, mode %o: got %v; want the warning %q: %t", mode, got, warning, want.warns)
		}
		got = inv.run(t, "doctor", "--table")
		if !strings.Contains(got.stdout, want.doctor) {
			t.Errorf("whctl doctor, mode %o: got %v; want the line %q", mode, got, want.doctor)
		}
	}
}

// TestBodyThatIsNoJSONIsConfirmed checks that a terminal prompts before it sends such a body.
func TestBodyThatIsNoJSONIsConfirmed(t *testing.T) {
	for answer, wantSent := range map[string]bool{"y\n": true, "n\n": false} {
		keyboard, input, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer keyboard.Close()
		if _, err := io.WriteString(input, answer); err != nil {
			t.Fatal(err)
		}
		input.Close()
		isSent := false
		inv := invocation{
			prompter: cmdline.Prompter{Keyboard: keyboard, Watches: true},
			handler: func(w http.ResponseWriter, r *http.Request) {
				isSent = true
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"EventID":"e1","Messages":1}`)
			},
		}
		got := inv.run(t, "publish", "debtor.updated", "--body", `[{"A":1}`)
		const question = "the body starts with [ but is not JSON: unexpected end of JSON input " +
			"at line 1, column 8; send it as it is? [y/N] "
		if isSent != wantSent || !strings.Contains(got.stderr, question) {
			t.Errorf("answer %q: sent %t, got %v; want %t and the question %q",
				answer, isSent, got, wantSent, question)
		}
	}
}

// TestAddressWithoutScheme checks that an address of this machine needs no scheme.
func TestAddressWithoutScheme(t *testing.T) {
	inv := invocation{handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Version":"1"}`)
	}}
	address := strings.TrimPrefix(inv.serve(t), "http://")
	inv.env = map[string]string{"WHCTL_URL": address}
	got := inv.run(t, "info", "--json")
	if got.code != 0 || !strings.Contains(got.stdout, `"URL":"http://`+address) {
		t.Errorf("WHCTL_URL=%s: got %v; want exit code 0, the address with http", address, got)
	}
}
